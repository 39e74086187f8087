"""What one run of a recovery publishes."""

from typing import Any, cast
from uuid import UUID

from app.amqp.envelope import EnvelopeRenderer, MatchMessage
from app.amqp.frames import AmqpMessage
from app.amqp.publishers import FeedPublishers
from app.domain.recovery import RecoveryJob, RecoveryKind, RecoveryRequest, RecoveryState
from app.kit.metrics import recovery_unrendered
from app.recovery.runner import RecoveryPublisher


class RecordedChannel:
    def __init__(self) -> None:
        self.published: list[AmqpMessage] = []

    async def publish(self, message: AmqpMessage) -> None:
        self.published.append(message)


async def test_a_message_that_cannot_be_rendered_keeps_no_other_from_its_tenant() -> None:
    request = RecoveryRequest(kind=RecoveryKind.REST_FULL, after=0, request_id="1", node_id="9")
    job = RecoveryJob(5, UUID(int=1), request, token=1, state=RecoveryState.RUNNING, accepted_at=0)
    channel = RecordedChannel()
    renderer, feed = EnvelopeRenderer("oddsfeed", 2), FeedPublishers("oddsfeed")
    before = recovery_unrendered._value.get()
    await RecoveryPublisher(cast(Any, channel), job, renderer, feed).publish(
        [
            MatchMessage("fixture_change", 7, 0, 5, change_type=1),
            MatchMessage("fixture_change", 8, 0, 6, change_type=99),
            MatchMessage("fixture_change", 9, 0, 7, change_type=1),
        ]
    )
    assert [message.headers["x-seq"] for message in channel.published] == [5, 7]
    assert recovery_unrendered._value.get() == before + 1

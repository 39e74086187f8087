"""`alive` over a connection that ends, or whose broker does not confirm."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from app.amqp import alive as module
from app.amqp.alive import AlivePublisher, FeedStatus
from app.amqp.envelope import EnvelopeRenderer
from app.amqp.loss_notice import LossNotice
from app.amqp.publishers import FeedPublishers
from tests.unit.amqp.brokered import ALIVE, TAKEN, Broker, opened, went_on


class RecordedPublisher(SimpleNamespace):
    """What `alive` sees of a publisher that is well."""

    def __init__(self, channels: Any) -> None:
        super().__init__(notice=LossNotice(TAKEN, 10), healthy=True, slug="acme", state="not connected")
        self.attached, self.channels = asyncio.Event(), channels

    def pump(self) -> None: ...


async def beating(broker: Broker) -> tuple[AlivePublisher, RecordedPublisher]:
    publisher = RecordedPublisher(SimpleNamespace(alive=await opened(broker, ALIVE), queues=None))
    losses: Any = SimpleNamespace(count=0, pending=False, collect=lambda _: asyncio.sleep(0, False))
    status = FeedStatus(age=lambda: 0.0, dead_heartbeat=lambda: None)
    renderer = EnvelopeRenderer("e", 2)
    heart = AlivePublisher(publisher, losses, status, renderer, FeedPublishers("e"))  # type: ignore[arg-type]
    return heart, publisher


async def test_it_ends_when_it_is_cancelled_before_the_confirm() -> None:
    broker = Broker()
    heart, _ = await beating(broker)
    task = asyncio.create_task(heart.run())
    await went_on()
    assert len(broker.published[ALIVE]) == 1
    task.cancel()
    done, _ = await asyncio.wait({task}, timeout=5)
    assert done, "the cancellation is lost"
    broker.ack(ALIVE, 1)
    await went_on()
    assert len(broker.published[ALIVE]) == 1


async def test_a_connection_that_ends_ends_one_attempt_and_not_alive() -> None:
    broker = Broker()
    heart, publisher = await beating(broker)
    saying = asyncio.create_task(heart._beat())
    await went_on()
    broker.connection.abort("the broker restarts")
    assert await saying is False
    publisher.channels = None
    assert await heart._beat() is False


async def test_while_it_is_not_confirmed_nothing_more_is_published(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CONFIRM_SECONDS", 0.01)
    broker = Broker()
    heart, publisher = await beating(broker)
    publisher.notice.record_loss()
    assert await heart._beat() is False
    assert await heart._beat() is False
    assert len(broker.published[ALIVE]) == 1, "the notice, once"
    assert publisher.notice.losses_pending
    broker.ack(ALIVE, 1)
    again = asyncio.create_task(heart._beat())
    await went_on()
    assert not publisher.notice.losses_pending
    assert len(broker.published[ALIVE]) == 2, "and alive after it"
    broker.ack(ALIVE, 2)
    assert await again is True

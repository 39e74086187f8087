"""`alive` over a connection that ends, or whose broker does not confirm."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from app.amqp import alive as module
from app.amqp.alive import AlivePublisher, FeedStatus
from app.amqp.delivery_samples import DeliverySamples, TenantSamples
from app.amqp.envelope import EnvelopeRenderer
from app.amqp.loss_notice import LossNotice
from app.amqp.publishers import FeedPublishers
from tests.unit.amqp.brokered import ALIVE, TAKEN, Broker, opened, went_on


class RecordedPublisher(SimpleNamespace):
    """What `alive` sees of a publisher that is well."""

    def __init__(self, channels: Any) -> None:
        super().__init__(notice=LossNotice(TAKEN, 10), healthy=True, slug="acme", state="not connected")
        self.attached, self.channels = asyncio.Event(), channels
        self.samples = TenantSamples(DeliverySamples(), TAKEN.tenant_id, TAKEN.epoch)

    def pump(self) -> None: ...


class RestAnswers(SimpleNamespace):
    """REST as a test has it, by default there."""

    def __init__(self) -> None:
        super().__init__(answers=True, awaited=False, outages=0)


async def beating(
    broker: Broker, rest: RestAnswers | None = None
) -> tuple[AlivePublisher, RecordedPublisher]:
    publisher = RecordedPublisher(SimpleNamespace(alive=await opened(broker, ALIVE), queues=None))
    losses: Any = SimpleNamespace(count=0, pending=False, collect=lambda _: asyncio.sleep(0, False))
    status = FeedStatus(lambda: 0.0, lambda: None, rest or RestAnswers())
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
    monkeypatch.setattr(module, "_CONFIRM_SECONDS", 5.0)
    broker.ack(ALIVE, 1)
    again = asyncio.create_task(heart._beat())
    await went_on()
    assert not publisher.notice.losses_pending
    assert len(broker.published[ALIVE]) == 2, "and alive after it"
    broker.ack(ALIVE, 2)
    assert await again is True


async def confirmed_beat(broker: Broker, heart: AlivePublisher) -> tuple[bool, int]:
    """Whether a beat whose messages the broker confirms went well, and how many it published."""
    before = len(broker.published.get(ALIVE, ()))
    beat = asyncio.create_task(heart._beat())
    for tag in (before + 1, before + 2):
        await went_on()
        if len(broker.published.get(ALIVE, ())) >= tag:
            broker.ack(ALIVE, tag)
    return await beat, len(broker.published.get(ALIVE, ())) - before


async def test_it_is_withheld_while_nobody_answers_rest_but_a_notice_is_not() -> None:
    broker, rest = Broker(), RestAnswers()
    rest.answers = False
    heart, publisher = await beating(broker, rest)
    assert await confirmed_beat(broker, heart) == (True, 0)
    publisher.notice.record_loss()
    assert await confirmed_beat(broker, heart) == (True, 1)
    assert not publisher.notice.must_notify_first, "nothing else waits"


async def test_a_notice_waits_for_rest_for_a_moment() -> None:
    broker, rest = Broker(), RestAnswers()
    rest.answers, rest.awaited = False, True
    heart, publisher = await beating(broker, rest)
    publisher.notice.record_loss()
    assert await confirmed_beat(broker, heart) == (False, 0)
    assert publisher.notice.must_notify_first, "it comes first"


async def test_once_rest_is_back_clients_are_notified_once() -> None:
    broker, rest = Broker(), RestAnswers()
    heart, _ = await beating(broker, rest)
    rest.outages += 1
    assert await confirmed_beat(broker, heart) == (True, 2), "the notice, then alive"
    assert await confirmed_beat(broker, heart) == (True, 1)

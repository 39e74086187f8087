"""`alive` over a client library that loses cancellations, and cancels who waits for it."""

import asyncio
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from aiormq.base import FutureStore
from aiormq.tools import Countdown

from app.amqp.alive import AlivePublisher, FeedStatus
from app.amqp.envelope import EnvelopeRenderer
from app.amqp.loss_notice import LossNotice
from app.amqp.queue_losses import QueueLosses
from app.store.cursors import LeasedTenant

pytestmark = pytest.mark.anyio
TAKEN = LeasedTenant(UUID(int=1), "acme", 0, 1)


class RecordedPublisher(SimpleNamespace):
    """What `alive` sees of a publisher that is well."""

    def __init__(self) -> None:
        super().__init__(notice=LossNotice(TAKEN, 10), healthy=True, slug="acme", state="")
        self.reachable = asyncio.Event()

    def pump(self) -> None: ...


def beating(publisher: RecordedPublisher, losses: Any, vhost: Any) -> AlivePublisher:
    login: Any = SimpleNamespace(exchange="e", address=None)
    status = FeedStatus(age=lambda: 0.0, dead_heartbeat=lambda: None)
    renderer = EnvelopeRenderer("e", 2)
    heart = AlivePublisher(login, publisher, losses, status, renderer)  # type: ignore[arg-type]
    heart._vhost = vhost
    return heart


@pytest.mark.parametrize("turns", range(4))
async def test_it_ends_when_it_is_cancelled_as_an_answer_comes(
    turns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: asyncio.Queue[int] = asyncio.Queue()
    requested = asyncio.Event()

    async def take(_: object) -> int:
        requested.set()
        return await Countdown(5)(answers.get())  # as the client waits for an answer of the broker

    async def publish(*_: object, **__: object) -> None: ...

    async def stop() -> None: ...

    losses = QueueLosses(None, "acme", "e", 0, 10, stop)  # type: ignore[arg-type]
    monkeypatch.setattr(losses, "_remove", take)
    publisher = RecordedPublisher()
    vhost = SimpleNamespace(publish=publish, close=stop, broker=None)
    task = asyncio.create_task(beating(publisher, losses, vhost).run())
    async with asyncio.timeout(5):
        await requested.wait()
    answers.put_nowait(0)
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    done, _ = await asyncio.wait({task}, timeout=5)
    assert done, "the cancellation is lost"


async def test_a_connection_that_the_client_gives_up_ends_one_try_and_not_alive() -> None:
    waiting = FutureStore(asyncio.get_running_loop())
    requested = asyncio.Event()

    async def publish(*_: object, **__: object) -> None:
        requested.set()
        await waiting.create_future()  # a confirm that does not come

    async def stop() -> None: ...

    heart = beating(RecordedPublisher(), None, SimpleNamespace(publish=publish, close=stop, broker=None))
    saying = asyncio.create_task(heart._beat())
    async with asyncio.timeout(5):
        await requested.wait()
        await waiting.reject_all(asyncio.CancelledError())
        assert await saying is False

"""A heartbeat over a client library that loses cancellations, and cancels who waits for it."""

import asyncio
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from aiormq.base import FutureStore
from aiormq.tools import Countdown

from app.amqp.heartbeat import Heartbeat, Tidings
from app.amqp.loss_notice import Word
from app.amqp.queue_losses import Losses
from app.store.cursors import LeasedTenant

pytestmark = pytest.mark.anyio
TAKEN = LeasedTenant(UUID(int=1), "acme", 0, 1)


class Told(SimpleNamespace):
    """What a heartbeat sees of a delivery that is well."""

    def __init__(self) -> None:
        super().__init__(word=Word(TAKEN, 10), healthy=True, slug="acme", state="")
        self.reachable = asyncio.Event()

    def pump(self) -> None: ...


def beating(delivery: Told, losses: Any, broker: Any) -> Heartbeat:
    login: Any = SimpleNamespace(exchange="e", address=None)
    tidings = Tidings(age=lambda: 0.0, dead=lambda: None)
    heart = Heartbeat(login, delivery, losses, tidings, 2)  # type: ignore[arg-type]
    heart._broker = broker
    return heart


@pytest.mark.parametrize("turns", range(4))
async def test_it_ends_when_it_is_cancelled_as_an_answer_comes(
    turns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: asyncio.Queue[int] = asyncio.Queue()
    asked = asyncio.Event()

    async def take(_: object) -> int:
        asked.set()
        return await Countdown(5)(answers.get())  # as the client waits for an answer of the broker

    async def publish(*_: object, **__: object) -> None: ...

    async def stop() -> None: ...

    losses = Losses(None, "acme", "e", 0, 10, stop)  # type: ignore[arg-type]
    monkeypatch.setattr(losses, "_take", take)
    delivery = Told()
    connection = SimpleNamespace(close=stop)

    async def connect() -> object:
        return connection

    broker = SimpleNamespace(publish=publish, connect=connect, stop=stop)
    task = asyncio.create_task(beating(delivery, losses, broker).run())
    async with asyncio.timeout(5):
        await asked.wait()
    answers.put_nowait(0)
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    done, _ = await asyncio.wait({task}, timeout=5)
    assert done, "the cancellation is lost"


async def test_a_connection_that_the_client_gives_up_ends_one_try_and_not_the_heartbeat() -> None:
    waiting = FutureStore(asyncio.get_running_loop())
    asked = asyncio.Event()

    async def publish(*_: object, **__: object) -> None:
        asked.set()
        await waiting.create_future()  # a confirm that does not come

    async def stop() -> None: ...

    async def connect() -> object:
        return SimpleNamespace(close=stop)

    heart = beating(Told(), None, SimpleNamespace(publish=publish, connect=connect, stop=stop))
    saying = asyncio.create_task(heart._say())
    async with asyncio.timeout(5):
        await asked.wait()
        await waiting.reject_all(asyncio.CancelledError())
        assert await saying is False

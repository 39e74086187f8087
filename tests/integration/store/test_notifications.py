import asyncio
from collections.abc import AsyncIterator

import pytest

from app.store import notifications
from app.store.connections import Store
from tests.support.databases import end_sessions, sessions
from tests.support.eventually import eventually


class Listener:
    """A task that listens, and what it received."""

    def __init__(self, store: Store) -> None:
        self.received: asyncio.Queue[str] = asyncio.Queue()
        self.states: list[bool] = []
        self._task = asyncio.create_task(self._run(store))

    async def _run(self, store: Store) -> None:
        async for payload in notifications.listen(store, "news", self.states.append):
            self.received.put_nowait(payload)

    async def next(self) -> str:
        return await asyncio.wait_for(self.received.get(), 60)

    async def stop(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


@pytest.fixture
async def listener(store: Store) -> AsyncIterator[Listener]:
    listener = Listener(store)
    assert await listener.next() == ""
    yield listener
    await listener.stop()


async def send(store: Store, payload: str) -> None:
    async with store.transaction() as tx:
        await notifications.notify(tx, "news", payload)


async def test_notifications_are_received_in_order(store: Store, listener: Listener) -> None:
    for payload in ("1", "2", "3"):
        await send(store, payload)
    assert [await listener.next() for _ in range(3)] == ["1", "2", "3"]
    assert listener.states == [True]


async def test_what_is_rolled_back_is_not_notified(store: Store, listener: Listener) -> None:
    with pytest.raises(ZeroDivisionError):
        async with store.transaction() as tx:
            await notifications.notify(tx, "news", "never")
            raise ZeroDivisionError
    await send(store, "after")
    assert await listener.next() == "after"


async def test_a_lost_connection_is_reported_and_replaced(store: Store, listener: Listener) -> None:
    assert await end_sessions(store, "%LISTEN%") == 1
    assert await listener.next() == ""
    assert listener.states[0:2] == [True, False]
    assert listener.states[-1] is True
    await send(store, "again")
    assert await listener.next() == "again"


async def test_the_session_is_listed_by_its_channel_however_long_it_listens(
    store: Store, listener: Listener
) -> None:
    """Each second without a notification a statement shows whether the connection still works."""

    async def begun() -> object:
        async with store.autocommit() as tx:
            return await tx.value(
                "SELECT max(query_start) FROM pg_stat_activity "
                "WHERE datname = current_database() AND query ILIKE $1",
                "%LISTEN%news%",
            )

    first = await begun()
    assert first is not None
    assert await eventually(begun, lambda last: last != first) is not None


async def test_a_stopped_listener_leaves_no_connection(store: Store, listener: Listener) -> None:
    await listener.stop()
    assert listener.states[-1] is False
    await eventually(lambda: sessions(store, "%LISTEN%"), lambda left: not left)


async def test_a_listener_can_be_cancelled_as_it_receives() -> None:
    """On Python 3.11 `asyncio.wait_for` swallowed the cancellation then, and the listener never ended."""
    listener = notifications.NotifyListener(connection=None, channel="news")
    receiving = asyncio.create_task(listener.receive())
    await asyncio.sleep(0)
    listener.on_notification(None, 0, "channel", "payload")
    receiving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await receiving

"""PostgreSQL's LISTEN and NOTIFY, on a connection of its own.

A notification only says that something changed: the data is in the tables. Listeners must be correct without
it, only slower, because notifications sent while the connection was down are lost.

Every write of a match that a response shows (a new timestamp is one), of bookings or of reference data also
invalidates cached response bodies (`SHOWN`), in the same transaction. For a match the notification contains a
digest of its row in lists, so that a cached list stays valid while its matches change in fields that lists do
not show.
"""

import asyncio
import zlib
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from contextlib import asynccontextmanager
from typing import Self
from uuid import UUID

import asyncpg
import msgspec

from app.domain.match import Match
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.store.connections import Store
from app.store.statements import server
from app.store.transaction import Tx, translate_errors

GRANTS = "grants"  #: channel: a key or a tenant changed; the payload is its id
TENANTS = "tenants"  #: channel: a tenant or its bookings changed; the payload is the tenant's id
#: Channel of every version: what responses show has changed. The payload is a match's id and row digest, or
#: empty: anything may have changed.
SHOWN = "shown"

_PROBE_SECONDS = 1.0
_BACKOFF_SECONDS = (0.05, 0.1, 0.2, 0.5, 1.0)
log = get_logger(__name__)


async def notify(tx: Tx, channel: str, payload: str = "") -> None:
    """Notify the listeners of `channel`, if and when the transaction commits."""
    await tx.execute(server.NOTIFY, channel, payload)


class MatchInvalidation(msgspec.Struct, frozen=True):
    """A match has changed; `row` is a digest of its row in lists of matches, "" for a removed match."""

    match_id: UUID
    row: str

    @classmethod
    def parse(cls, payload: str) -> Self | None:
        """The match of a notification; None when everything is invalid."""
        match_id, _, row = payload.partition(" ")
        return cls(UUID(match_id), row) if match_id else None


def match_payload(match: Match) -> str:
    """The notification's payload when `match` is written."""
    play = match.map
    row = (
        *(match.number, match.home, match.away, match.event, match.best_of, match.status.value),
        *(match.scheduled_at, match.started_at is None, match.score_home, match.score_away),
        *(match.home_id, match.away_id, match.tournament_id, play.name if play else ""),
    )
    return f"{match.id} {zlib.crc32(repr(row).encode()):x}"


async def notify_timestamps(tx: Tx, matches: Iterable[Match]) -> None:
    """Notify that these matches have a new timestamp, and are otherwise as they were."""
    payloads = [match_payload(match) for match in matches]
    await tx.execute(server.NOTIFY_ALL, SHOWN, payloads)


async def notify_removed(tx: Tx, match_ids: Collection[UUID]) -> None:
    """Notify that these matches have been removed."""
    await tx.execute(server.NOTIFY_ALL, SHOWN, [f"{match_id} " for match_id in match_ids])


async def notify_shown(tx: Tx) -> None:
    """Notify that bookings or reference data have changed."""
    await notify(tx, SHOWN)


async def listen(
    store: Store, channel: str, on_state: Callable[[bool], None] = lambda _: None
) -> AsyncIterator[str]:
    """Yield the payload of every notification on `channel`, for ever, reconnecting when the connection
    breaks.

    After each (re)connection an empty payload is yielded: notifications may have been missed. `on_state` is
    called with True once notifications are received and with False as soon as they may not be. A connection
    that dies silently is detected within two seconds.
    """
    failures = 0
    while True:
        try:
            async with _listening(store, channel, on_state) as listener:
                failures = 0
                yield ""
                while True:
                    yield await listener.receive()
        except Unavailable as error:
            log.warning("not listening, trying again", channel=channel, error=error.detail)
            await asyncio.sleep(_BACKOFF_SECONDS[min(failures, len(_BACKOFF_SECONDS) - 1)])
            failures += 1


async def set_at_each(store: Store, channel: str, event: asyncio.Event) -> None:
    """Set the event at every notification on `channel`, for ever, as `listen` yields them."""
    async for _ in listen(store, channel):
        event.set()


class NotifyListener:
    """The notifications of one connection, until it is lost."""

    def __init__(self, connection: asyncpg.Connection, channel: str) -> None:
        self._connection = connection
        self._probe = server.listening(channel)
        self._payloads: asyncio.Queue[str | None] = asyncio.Queue()

    def on_notification(self, _connection: object, _pid: int, _channel: str, payload: object) -> None:
        self._payloads.put_nowait(str(payload))

    def on_lost(self, _connection: object) -> None:
        self._payloads.put_nowait(None)

    async def receive(self) -> str:
        """The next payload; raises `Unavailable` once the connection is lost."""
        while True:
            try:
                # Not `wait_for`: on Python 3.11 that loses a cancellation that meets a payload.
                async with asyncio.timeout(_PROBE_SECONDS):
                    payload = await self._payloads.get()
            except TimeoutError:
                await self._connection.execute(self._probe, timeout=_PROBE_SECONDS)
                continue
            if payload is None:
                raise Unavailable("The listening connection was lost.")
            return payload


@asynccontextmanager
async def _listening(
    store: Store, channel: str, on_state: Callable[[bool], None]
) -> AsyncIterator[NotifyListener]:
    async with translate_errors():
        connection = await store.dedicated()
        listener = NotifyListener(connection, channel)
        try:
            connection.add_termination_listener(lambda _: on_state(False))
            connection.add_termination_listener(listener.on_lost)
            await connection.add_listener(channel, listener.on_notification)
            on_state(True)
            yield listener
        finally:
            on_state(False)
            connection.terminate()

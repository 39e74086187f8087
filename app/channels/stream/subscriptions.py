"""The clients of a process's streams, over whatever transport: the pollers that they need, how many a tenant
may have, and the closing of those whose key has ended.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Protocol
from uuid import UUID

import msgspec

from app.access.grants import Grants, PresentedKey
from app.channels.stream.connection import CloseCode, StreamConnection
from app.channels.stream.poller import Poller, StreamConfig
from app.domain.tenant import Grant
from app.kit.background import wait_for_event
from app.kit.clock import Clock
from app.kit.errors import TooManyRequests, Unavailable
from app.kit.logging import get_logger
from app.kit.metrics import stream_connections
from app.store import matches
from app.store.connections import Store

REVOKED = "this key is not valid any more"
_CHECK_SECONDS = 0.25
_RETRY_AFTER = 30
#: How long the poller of all matches runs without clients: who requests page after page has none in between,
#: and to load the projection reads every live match.
_IDLE_SECONDS = 60.0
CHANGED = "This key has just been changed; connect again."
log = get_logger(__name__)


class StreamRequest(msgspec.Struct, frozen=True):
    """An authenticated request. `match_id` None: all matches; `since` None: with a snapshot."""

    presented: PresentedKey
    raw_key: str
    match_id: UUID | None
    since: int | None


class Client(Protocol):
    """Who is sent changes, or waits for some."""

    @property
    def presented(self) -> PresentedKey: ...

    def close(self, code: CloseCode, reason: str) -> None:
        """End it, because its key has ended."""


class RunningPoller(msgspec.Struct):
    """A poller, its task, and the number of clients that use it. `ending` ends it while it has none."""

    poller: Poller
    task: asyncio.Task[None]
    users: int = 0
    ending: asyncio.TimerHandle | None = None


class Subscriptions:
    """`run` must be running for the clients of ended keys to be closed."""

    def __init__(self, store: Store, grants: Grants, clock: Clock, config: StreamConfig) -> None:
        self.grants = grants
        self.config = config
        self._store = store
        self._clock = clock
        self._pollers: dict[UUID | None, RunningPoller] = {}
        self._clients: dict[Client, None] = {}
        self._of_tenant: Counter[UUID] = Counter()
        self._keys_changed = asyncio.Event()
        grants.on_change(self._keys_changed.set)

    async def stream(
        self,
        connection: StreamConnection,
        request: StreamRequest,
        accept: Callable[[], Awaitable[None]],
        until_left: Callable[[], Awaitable[None]],
    ) -> None:
        """Serve a connection to its end. `accept` begins the response, and `until_left` returns when the
        client has left, or was closed. What is raised before the response has begun refuses it."""
        accepted = False
        try:
            async with self.registered(connection, request.raw_key), self.polling(request.match_id) as poller:
                await accept()
                accepted = True
                with stream_connections.track_inprogress():
                    try:
                        await poller.join(connection, request.since)
                        await until_left()
                    finally:
                        poller.leave(connection)
        except Exception as error:
            if not accepted:
                raise
            log.error("a stream failed", exc_info=error)
            connection.close(CloseCode.FAULT, "the service failed; connect again")
        finally:
            connection.closed = True

    @asynccontextmanager
    async def registered(self, client: Client, raw_key: str) -> AsyncIterator[None]:
        """While the block runs, the client counts as a stream of its tenant, and is closed when its key ends.
        Raises `TooManyRequests`, and `Unavailable` for a key that has just been changed."""
        presented = client.presented
        with self._counted(presented.grant):
            self._clients[client] = None
            try:
                # Looked up again now that the client is registered: from here on no change of keys is missed.
                if await self.grants.grant_of(raw_key, presented.address) != presented.grant:
                    raise Unavailable(CHANGED, retry_after=1)
                yield
            finally:
                del self._clients[client]

    @asynccontextmanager
    async def polling(self, match_id: UUID | None) -> AsyncIterator[Poller]:
        """The poller of a match or of all, loaded and running while the block runs. Raises `Unavailable`."""
        running = self._acquire_poller(match_id)
        try:
            await running.poller.begin()
            yield running.poller
        finally:
            self._release_poller(match_id, running)

    async def find_match(self, grant: Grant, ref: str | None, parameter: tuple[str, str]) -> UUID | None:
        """The match that the parameter's value `ref` names, if this key may see it; else `NotFound`, as on
        REST. None for None."""
        if ref is None:
            return None
        async with self._store.autocommit() as tx:
            found = await matches.by_ref(tx, ref, finished_only=grant.finished_only, parameter=parameter)
            return found.id

    async def run(self) -> None:
        """Close the clients of keys that have ended, until cancelled."""
        self._keys_changed.set()  # changes before the start are looked up at once
        while True:
            # While NOTIFY does not work, the keys are looked up at an interval.
            await wait_for_event(self._keys_changed, None if self.grants.listening else _CHECK_SECONDS)
            self._keys_changed.clear()
            try:
                await self._close_withdrawn()
            except Unavailable as error:
                log.warning("the keys of open streams cannot be looked up", error=error.detail)
                await asyncio.sleep(_CHECK_SECONDS)
                self._keys_changed.set()

    async def close(self) -> None:
        """Stop every poller."""
        tasks = [running.task for running in self._pollers.values()]
        for running in list(self._pollers.values()):
            if running.ending:
                running.ending.cancel()
            running.task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self._pollers.clear()

    @contextmanager
    def _counted(self, grant: Grant) -> Iterator[None]:
        """Count a client of the tenant; raises `TooManyRequests` when it has too many."""
        tenant_id = grant.tenant.id
        if self._of_tenant[tenant_id] >= self.config.connections:
            what = f"A tenant may hold {self.config.connections} streams of one server: close one first."
            raise TooManyRequests(what, retry_after=_RETRY_AFTER)
        self._of_tenant[tenant_id] += 1
        try:
            yield
        finally:
            self._of_tenant[tenant_id] -= 1
            if not self._of_tenant[tenant_id]:
                del self._of_tenant[tenant_id]

    def _acquire_poller(self, match_id: UUID | None) -> RunningPoller:
        """The poller of a match or of all; it runs until every user has called `_release_poller`."""
        running = self._pollers.get(match_id)
        if running is None or running.task.done():
            poller = Poller(self._store, match_id, self.config, self._clock)
            running = self._pollers[match_id] = RunningPoller(poller, asyncio.create_task(poller.run()))
        if running.ending:
            running.ending.cancel()
            running.ending = None
        running.users += 1
        return running

    def _release_poller(self, match_id: UUID | None, running: RunningPoller) -> None:
        running.users -= 1
        if running.users:
            return
        if match_id is None:
            loop = asyncio.get_running_loop()
            running.ending = loop.call_later(_IDLE_SECONDS, self._end_poller, match_id, running)
        else:
            self._end_poller(match_id, running)

    def _end_poller(self, match_id: UUID | None, running: RunningPoller) -> None:
        running.task.cancel()
        if self._pollers.get(match_id) is running:
            del self._pollers[match_id]

    async def _close_withdrawn(self) -> None:
        if not self._clients:
            return
        withdrawn = set(await self.grants.no_longer_valid({one.presented for one in self._clients}))
        for client in [one for one in self._clients if one.presented in withdrawn]:
            client.close(CloseCode.POLICY, REVOKED)

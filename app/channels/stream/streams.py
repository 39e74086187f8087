"""Every stream of a process: who is let in, which poller tells them, and who must leave."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import msgspec
from litestar.exceptions import WebSocketDisconnect
from litestar.types import Receive, Scope, Send
from uvicorn.protocols.utils import ClientDisconnected

from app.access.grants import Grants, Presented
from app.access.rate_limit import Strangers
from app.channels.stream.closing import REVOKED, Code
from app.channels.stream.connection import Connection
from app.channels.stream.door import asked_since, check_origin, enter, shown_key
from app.channels.stream.lines import DIRECT, DirectWebSockets, ServerLine
from app.channels.stream.poller import Poller
from app.channels.stream.terms import Terms
from app.domain.tenant import Grant
from app.http import request_id
from app.http.upgrade import fault, refuse
from app.kit.clock import Clock
from app.kit.errors import Refusal, TooManyRequests, Unavailable
from app.kit.logging import bind, get_logger
from app.kit.metrics import stream_connections
from app.kit.patience import wait
from app.store import matches
from app.store.connections import Store

_ASK_AGAIN_SECONDS = 0.25
_RETRY_AFTER = 30
_CHANGED = "This key has just been changed; connect again."
log = get_logger(__name__)


class Asked(msgspec.Struct, frozen=True):
    """What a client that may come in wants."""

    presented: Presented
    raw_key: str
    match_id: UUID | None
    since: int | None


class Watched(msgspec.Struct):
    """A poller at work, and how many connections need it."""

    poller: Poller
    task: asyncio.Task[None]
    users: int = 0


class Streams:
    """`run` must be running for keys that are ended to end their connections."""

    def __init__(
        self, store: Store, grants: Grants, strangers: Strangers, clock: Clock, terms: Terms
    ) -> None:
        self._store = store
        self._grants = grants
        self._strangers = strangers
        self._clock = clock
        self._terms = terms
        self._pollers: dict[UUID | None, Watched] = {}
        self._open: dict[Connection, None] = {}
        self._of_tenant: Counter[UUID] = Counter()
        self._changed = asyncio.Event()
        grants.watch(self._changed.set)

    async def serve(self, scope: Scope, receive: Receive, send: Send, ref: str | None) -> None:
        """Refuse an upgrade, or accept it and stream until either side ends it. `ref` names a match."""
        with bind(request_id=request_id.of(scope)):
            try:
                await self._admit(scope, receive, send, ref)
            except Refusal as error:
                await refuse(scope, send, error)
            except (ClientDisconnected, WebSocketDisconnect):
                log.debug("a client left before it was let in")
            except Exception as error:
                log.error("an upgrade failed", exc_info=error)
                await refuse(scope, send, fault(scope))

    async def _admit(self, scope: Scope, receive: Receive, send: Send, ref: str | None) -> None:
        check_origin(scope, self._terms.origins)
        presented = await enter(scope, self._grants, self._strangers)
        since = asked_since(scope)
        match_id = None if ref is None else await self._match(presented.grant, ref)
        with self._counted(presented.grant), bind(tenant=presented.grant.tenant.slug):
            await self._hold(scope, receive, send, Asked(presented, shown_key(scope), match_id, since))

    async def run(self) -> None:
        """Close the connections of keys that have been ended, until cancelled."""
        self._changed.set()  # whatever happened before is looked at once
        while True:
            # While nobody tells of changes, it is asked for them.
            await wait(self._changed, None if self._grants.listening else _ASK_AGAIN_SECONDS)
            self._changed.clear()
            try:
                await self._close_withdrawn()
            except Unavailable as error:
                log.warning("the keys of open streams cannot be looked up", error=error.detail)
                await asyncio.sleep(_ASK_AGAIN_SECONDS)
                self._changed.set()

    async def close(self) -> None:
        """Stop every poller."""
        tasks = [watched.task for watched in self._pollers.values()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self._pollers.clear()

    async def _hold(self, scope: Scope, receive: Receive, send: Send, asked: Asked) -> None:
        """Keep a connection from the upgrade to its end."""
        lent: Any = (scope.get("extensions") or {}).get(DIRECT)
        line: DirectWebSockets | ServerLine = lent["line"] if lent else ServerLine(send)
        connection = Connection(asked.presented, line, self._terms.backlog)
        self._open[connection] = None
        watched = self._watched(asked.match_id)
        accepted = False
        try:
            # Again, now that it is among those who are told of changes: none can have been missed.
            if await self._grants.of(asked.raw_key, asked.presented.address) != asked.presented.grant:
                raise Unavailable(_CHANGED, retry_after=1)
            await watched.poller.begin()
            await receive()
            await send({"type": "websocket.accept", "subprotocol": None, "headers": []})
            accepted = True
            if connection.closed:  # the key was ended before there was a line to say so on
                line.finish(Code.POLICY, REVOKED)
            line.on_drained = connection.pump
            line.on_inbound = lambda: connection.heard(asyncio.get_running_loop().time())
            await watched.poller.join(connection, asked.since)
            await self._listen(receive, connection)
        except Exception as error:
            if not accepted:
                raise
            log.error("a stream failed", exc_info=error)
            connection.close(Code.FAULT, "the service failed; connect again")
        finally:
            del self._open[connection]
            connection.closed = True
            watched.poller.leave(connection)
            self._let_go(asked.match_id, watched)

    async def _listen(self, receive: Receive, connection: Connection) -> None:
        with stream_connections.track_inprogress():
            while (await receive())["type"] != "websocket.disconnect":
                connection.heard(asyncio.get_running_loop().time())

    async def _match(self, grant: Grant, ref: str) -> UUID:
        """The match that `ref` names, if this key may know of it; else `NotFound`, as on REST."""
        async with self._store.reading() as tx:
            return (await matches.by_ref(tx, ref, finished_only=grant.finished_only)).id

    @contextmanager
    def _counted(self, grant: Grant) -> Iterator[None]:
        """Count a connection as its tenant's; raises `TooManyRequests` when that has enough."""
        tenant_id = grant.tenant.id
        if self._of_tenant[tenant_id] >= self._terms.connections:
            what = f"A tenant may hold {self._terms.connections} streams of one server: close one first."
            raise TooManyRequests(what, retry_after=_RETRY_AFTER)
        self._of_tenant[tenant_id] += 1
        try:
            yield
        finally:
            self._of_tenant[tenant_id] -= 1
            if not self._of_tenant[tenant_id]:
                del self._of_tenant[tenant_id]

    def _watched(self, match_id: UUID | None) -> Watched:
        """The poller of a match or of all, which runs until `_let_go` by all who asked for it."""
        watched = self._pollers.get(match_id)
        if watched is None or watched.task.done():
            poller = Poller(self._store, match_id, self._terms, self._clock)
            watched = self._pollers[match_id] = Watched(poller, asyncio.create_task(poller.run()))
        watched.users += 1
        return watched

    def _let_go(self, match_id: UUID | None, watched: Watched) -> None:
        watched.users -= 1
        if not watched.users:
            watched.task.cancel()
            if self._pollers.get(match_id) is watched:
                del self._pollers[match_id]

    async def _close_withdrawn(self) -> None:
        if not self._open:
            return
        withdrawn = set(await self._grants.withdrawn({one.presented for one in self._open}))
        for connection in [one for one in self._open if one.presented in withdrawn]:
            connection.close(Code.POLICY, REVOKED)

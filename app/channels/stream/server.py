"""The addresses of the stream, and the server that accepts a process's stream connections, runs the pollers
they need, and closes those of ended keys.

Any key of the sport may connect; its scopes decide what it receives. An upgrade request must pass checks of
its origin, rate, key, sport and parameters. The key is the query parameter `api_key`; headers do not count,
because browsers cannot send them. Addresses with too many refused requests are rejected as on REST, and both
share one count.
"""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from uuid import UUID

import msgspec
from litestar import WebSocket, websocket
from litestar.di import NamedDependency
from litestar.exceptions import WebSocketDisconnect
from litestar.params import FromPath
from litestar.types import Receive, Scope, Send
from uvicorn.protocols.utils import ClientDisconnected

from app.access.grants import Grants, PresentedKey
from app.access.rate_limit import UnauthenticatedLimiter, authenticate_key
from app.channels.stream.connection import (
    EXTENSION,
    AsgiTransport,
    CloseCode,
    RawFrameProtocol,
    StreamConnection,
)
from app.channels.stream.poller import Poller, StreamConfig
from app.domain.tenant import Grant
from app.http.auth import authorize, client_address
from app.http.headers import request_id
from app.http.listeners import internal_error, refuse
from app.http.request_data import pairs_of, refuse_long, refuse_nul_in_path, unknown, with_nul
from app.kit.background import wait_for_event
from app.kit.clock import Clock
from app.kit.errors import (
    BadRequest,
    Field,
    Forbidden,
    Invalid,
    Refusal,
    TooManyRequests,
    Unauthenticated,
    Unavailable,
    with_others,
)
from app.kit.logging import bind, get_logger
from app.kit.metrics import stream_connections
from app.store import matches
from app.store.connections import Store

KEY, SINCE = "api_key", "since"
_MOST_DIGITS = 18
_CHECK_SECONDS = 0.25
_RETRY_AFTER = 30
_CHANGED = "This key has just been changed; connect again."
_REVOKED = "this key is not valid any more"
log = get_logger(__name__)
_OPT: dict[str, Any] = {"sport": "cs2"}
Socket = WebSocket[Any, Any, Any]


async def authenticate(scope: Scope, grants: Grants, limiter: UnauthenticatedLimiter) -> PresentedKey:
    """The client's key and what it grants; raises the refusal."""
    refuse_long(scope)
    address = client_address(scope)
    grant = await authenticate_key(grants, limiter, address, partial(api_key, scope))
    authorize(grant, scope["route_handler"].opt)
    refuse_nul_in_path(scope)
    return PresentedKey(grant, address)


def api_key(scope: Scope) -> str:
    """The key in the query; raises `Unauthenticated` for none, `BadRequest` for two."""
    keys = set(_parameter(scope, KEY)) - {""}
    if not keys:
        raise Unauthenticated("Send your API key as the query parameter api_key.")
    if len(keys) > 1:
        raise BadRequest("The query carries different keys as api_key: send one.")
    return keys.pop()


def resume_seq(scope: Scope) -> int | None:
    """The seq after which a client resumes (`since`), None when it starts afresh; raises `Invalid` naming
    everything that is wrong in the query."""
    pairs, values = pairs_of(scope), _parameter(scope, SINCE)
    found = [*with_nul(pairs), *unknown(pairs, (KEY, SINCE))]
    if wrong := with_others(found, _wrong_seq(values[-1]) if values else ()):
        raise Invalid(*wrong)
    return int(values[-1]) if values else None


def _wrong_seq(text: str) -> Iterator[Field]:
    if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS):
        what = "This must be the seq of a frame, a whole number."
        yield Field(("query", SINCE), what, "value_error", text)


def check_origin(scope: Scope, allowed: Collection[str]) -> None:
    """Raise `Forbidden` for a web page of an origin that is not allowed; programs send no origin."""
    origins = [value.decode("latin-1") for name, value in scope["headers"] if name.lower() == b"origin"]
    if "*" not in allowed and any(origin not in allowed for origin in origins):
        raise Forbidden("Web pages of this origin may not connect; ask your account manager to add it.")


def _parameter(scope: Scope, name: str) -> list[str]:
    return [value for key, value in pairs_of(scope) if key == name]


class StreamRequest(msgspec.Struct, frozen=True):
    """An authenticated upgrade request. `match_id` None: all matches; `since` None: with a snapshot."""

    presented: PresentedKey
    raw_key: str
    match_id: UUID | None
    since: int | None


class RunningPoller(msgspec.Struct):
    """A poller, its task, and the number of connections that use it."""

    poller: Poller
    task: asyncio.Task[None]
    users: int = 0


class StreamServer:
    """`run` must be running for the connections of ended keys to be closed."""

    def __init__(
        self,
        store: Store,
        grants: Grants,
        limiter: UnauthenticatedLimiter,
        clock: Clock,
        config: StreamConfig,
    ) -> None:
        self._store = store
        self._grants = grants
        self._limiter = limiter
        self._clock = clock
        self._config = config
        self._pollers: dict[UUID | None, RunningPoller] = {}
        self._connections: dict[StreamConnection, None] = {}
        self._of_tenant: Counter[UUID] = Counter()
        self._keys_changed = asyncio.Event()
        grants.on_change(self._keys_changed.set)

    async def serve(self, scope: Scope, receive: Receive, send: Send, ref: str | None) -> None:
        """Refuse an upgrade, or accept it and stream until either side ends it. `ref` names a match."""
        with bind(request_id=request_id(scope)):
            try:
                await self._admit(scope, receive, send, ref)
            except Refusal as error:
                await refuse(scope, send, error)
            except (ClientDisconnected, WebSocketDisconnect):
                log.debug("a client disconnected before its upgrade was accepted")
            except Exception as error:
                log.error("an upgrade failed", exc_info=error)
                await refuse(scope, send, internal_error(scope))

    async def _admit(self, scope: Scope, receive: Receive, send: Send, ref: str | None) -> None:
        check_origin(scope, self._config.origins)
        presented = await authenticate(scope, self._grants, self._limiter)
        since = resume_seq(scope)
        match_id = None if ref is None else await self._match(presented.grant, ref)
        with self._counted(presented.grant), bind(tenant=presented.grant.tenant.slug):
            request = StreamRequest(presented, api_key(scope), match_id, since)
            await self._stream(scope, receive, send, request)

    async def run(self) -> None:
        """Close the connections of keys that have ended, until cancelled."""
        self._keys_changed.set()  # changes before the start are looked up at once
        while True:
            # While NOTIFY does not work, the keys are looked up at an interval.
            await wait_for_event(self._keys_changed, None if self._grants.listening else _CHECK_SECONDS)
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
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self._pollers.clear()

    async def _stream(self, scope: Scope, receive: Receive, send: Send, request: StreamRequest) -> None:
        """Serve a connection from its upgrade to its end."""
        extension: Any = (scope.get("extensions") or {}).get(EXTENSION)
        transport: RawFrameProtocol | AsgiTransport = (
            extension["protocol"] if extension else AsgiTransport(send)
        )
        connection = StreamConnection(request.presented, transport, self._config.backlog)
        self._connections[connection] = None
        running = self._acquire_poller(request.match_id)
        accepted = False
        try:
            # Looked up again now that the connection is registered: from here on no change of keys is missed.
            if (
                await self._grants.grant_of(request.raw_key, request.presented.address)
                != request.presented.grant
            ):
                raise Unavailable(_CHANGED, retry_after=1)
            await running.poller.begin()
            await receive()
            await send({"type": "websocket.accept", "subprotocol": None, "headers": []})
            accepted = True
            if connection.closed:  # the key ended before a close frame could be sent
                transport.finish(CloseCode.POLICY, _REVOKED)
            transport.on_drained = connection.flush
            transport.on_inbound = lambda: connection.count_inbound(asyncio.get_running_loop().time())
            await running.poller.join(connection, request.since)
            await self._read_until_disconnect(receive, connection)
        except Exception as error:
            if not accepted:
                raise
            log.error("a stream failed", exc_info=error)
            connection.close(CloseCode.FAULT, "the service failed; connect again")
        finally:
            del self._connections[connection]
            connection.closed = True
            running.poller.leave(connection)
            self._release_poller(request.match_id, running)

    async def _read_until_disconnect(self, receive: Receive, connection: StreamConnection) -> None:
        with stream_connections.track_inprogress():
            while (await receive())["type"] != "websocket.disconnect":
                connection.count_inbound(asyncio.get_running_loop().time())

    async def _match(self, grant: Grant, ref: str) -> UUID:
        """The match that `ref` names, if this key may see it; else `NotFound`, as on REST."""
        async with self._store.autocommit() as tx:
            return (await matches.by_ref(tx, ref, finished_only=grant.finished_only)).id

    @contextmanager
    def _counted(self, grant: Grant) -> Iterator[None]:
        """Count a connection of the tenant; raises `TooManyRequests` when it has too many."""
        tenant_id = grant.tenant.id
        if self._of_tenant[tenant_id] >= self._config.connections:
            what = f"A tenant may hold {self._config.connections} streams of one server: close one first."
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
            poller = Poller(self._store, match_id, self._config, self._clock)
            running = self._pollers[match_id] = RunningPoller(poller, asyncio.create_task(poller.run()))
        running.users += 1
        return running

    def _release_poller(self, match_id: UUID | None, running: RunningPoller) -> None:
        running.users -= 1
        if not running.users:
            running.task.cancel()
            if self._pollers.get(match_id) is running:
                del self._pollers[match_id]

    async def _close_withdrawn(self) -> None:
        if not self._connections:
            return
        withdrawn = set(await self._grants.no_longer_valid({one.presented for one in self._connections}))
        for connection in [one for one in self._connections if one.presented in withdrawn]:
            connection.close(CloseCode.POLICY, _REVOKED)


@websocket("/cs2/v1/stream", opt=_OPT)
async def every_match(socket: Socket, stream_server: NamedDependency[StreamServer]) -> None:
    """All matches."""
    await stream_server.serve(socket.scope, socket.receive, socket.send, None)


@websocket("/cs2/v1/stream/{match_id:str}", opt=_OPT)
async def one_match(
    socket: Socket, stream_server: NamedDependency[StreamServer], match_id: FromPath[str]
) -> None:
    """One match, by its UUID or as ``od:match:<n>``."""
    await stream_server.serve(socket.scope, socket.receive, socket.send, match_id)


ROUTES = (every_match, one_match)

"""The server below the application: its HTTP/1.1, a listener with TLS, the announcement that it listens.

uvicorn's HTTP/1.1 with refusals as JSON `{detail}`, and limits on connections, sizes and times. A malformed
request does not reach the application, nor does a head that is too large or too slow, nor a connection above
the limit of its address. It is answered here, and the connection closed. If a request is answered before its
large body has arrived, the rest is received slowly, for a short time.

uvicorn has TLS for all of a server's listeners, or for none; `Server` has it for one of them.
"""

import asyncio
import os
import socket
import ssl
from asyncio import BaseTransport, TimerHandle, Transport
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from http import HTTPStatus
from ipaddress import IPv4Network, IPv6Network, ip_address
from secrets import token_hex
from typing import Any, cast
from uuid import uuid4

import msgspec
import uvicorn
from litestar.types import Scope
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from app.access.rate_limit import address_block
from app.http.health import INGEST_QUEUES, Health
from app.http.representation import header_fields
from app.kit.background import retry_while_unavailable
from app.store import heartbeats
from app.store.connections import Store

_HEAD_BYTES = 65_536  #: of a request's line and headers together
_FIELDS = 200  #: header fields of a request
_SMALL = 65_536  #: bytes of an unread body that are received at full speed
#: How long the rest of an unread body is received, and the pause after each piece (256 KiB at most). Many
#: clients read the response only after they have sent everything; closing at once would lose it.
_LINGER_SECONDS, _PAUSE_SECONDS = 2.0, 0.05
_UNREADABLE = "This is no HTTP request that can be read: something in it is malformed or too large."
_LARGE = (
    f"The request's line and headers may have {_HEAD_BYTES} bytes and {_FIELDS} fields at most: send less."
)
_EVENT_STREAM = b"text/event-stream"
EXTENSION = "matchfeed.connection"  #: the ASGI extension under which a connection offers itself
_BEAT_SECONDS = 1.0
_SLOW = "The request took too long to arrive; send it again, faster."
_MANY = "Too many connections of this address are open: close some, or use them again."


class ConnectionLimits:
    """Limits on the connections of one server. A request's head must arrive within `head_seconds` of the
    connection's opening or its own first byte, and its body within `body_seconds` more. An address may have
    `per_address` connections that are no streams; `proxies` are not limited.

    Deadlines are checked by one timer per connection, which costs a request nothing and may fire up to
    `head_seconds` late.
    """

    def __init__(
        self,
        head_seconds: float = 10.0,
        body_seconds: float = 60.0,
        per_address: int = 512,
        proxies: Sequence[IPv4Network | IPv6Network] = (),
    ) -> None:
        self.head_seconds, self.body_seconds = head_seconds, body_seconds
        self._per_address, self._proxies = per_address, proxies
        self._open: Counter[str] = Counter()

    def opened(self, address: str) -> bool:
        """Count a connection, and return whether it may stay open."""
        self._open[address_block(address)] += 1
        return self._open[address_block(address)] <= self._per_address or self._is_proxy(address)

    def closed(self, address: str) -> None:
        self._open[address_block(address)] -= 1
        if not self._open[address_block(address)]:
            del self._open[address_block(address)]

    def _is_proxy(self, address: str) -> bool:
        return bool(address) and any(ip_address(address) in network for network in self._proxies)


class HttpProtocol(HttpToolsProtocol):
    """One connection. For `uvicorn.Config(http=partial(HttpProtocol, limits=…))`."""

    def __init__(self, *args: Any, limits: ConnectionLimits, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._limits = limits
        self._counted = ""  #: the address under which this connection is counted
        self._timer: TimerHandle | None = None
        #: When the current head or body must have arrived, by the loop's clock; None if none is awaited.
        self._deadline: float | None = None
        self._pending = 0  #: bytes received of an incomplete head
        self._head = 0  #: bytes parsed of the current head
        self._unread: object = None  #: the answered request whose unread body is being received
        #: Ends the response that is being sent, when the server stops; a handler sets it for so long.
        self.on_shutdown: Callable[[], None] | None = None

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(cast(Transport, transport))
        self._counted = self.client[0] if self.client else ""
        if not self._limits.opened(self._counted):
            self._refuse(HTTPStatus.TOO_MANY_REQUESTS, _MANY, b"retry-after: 1")
            return
        self._set_deadline(self._limits.head_seconds)
        self._check_deadline()

    def shutdown(self) -> None:
        """The server stops. A stream of events would not end by itself; its client connects again."""
        super().shutdown()
        if self.on_shutdown:
            self.on_shutdown()
        elif self.cycle and (b"accept", _EVENT_STREAM) in self.headers:
            self.transport.close()

    def become_stream(self) -> None:
        """The response is going to last: the connection does not count for its address any more."""
        self._release()

    async def respond(self, scope: Scope, status: int, fields: bytes, content: bytes) -> bool:
        """Send a whole response to a GET with one write to the socket: `fields` are its headers, as they are
        written. Returns False, with nothing sent, if the client has sent its next request already: uvicorn
        must keep the order."""
        cycle: Any = self.cycle
        if cycle.scope is not scope:
            return False
        common = _common_fields(tuple(self.server_state.default_headers))
        end = b"\r\n" if cycle.keep_alive else b"connection: close\r\n\r\n"
        whole = b"".join((STATUS_LINE[status], common, fields, end, content))
        # To uvicorn it is the body of a response whose head has been written.
        cycle.response_started, cycle.waiting_for_100_continue = True, False
        cycle.expected_content_length = len(whole)
        await cycle.send({"type": "http.response.body", "body": whole, "more_body": False})
        return True

    def abort(self) -> None:
        """Close the connection, though its client does not read what was sent."""
        self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._release()
        if self.scope:
            cast(Any, self.scope).pop("extensions", None)  # which refer to this connection
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        self._release()
        super().handle_websocket_upgrade()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._unread:
            self._resume_later()
        if "path" in (cast(Any, self.scope) or {}):  # set when the head is complete
            self._pending = 0
            return
        self._pending += len(data)
        if self._pending > _HEAD_BYTES and not self.transport.is_closing():
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, _LARGE)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head = 0
        self._set_deadline(self._limits.head_seconds)

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        self._count_head(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value)
        self._count_head(len(name) + len(value))

    def on_headers_complete(self) -> None:
        self._set_deadline(self._limits.body_seconds)
        cast(Any, self.scope)["extensions"] = {EXTENSION: {"connection": self}}
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._deadline = self._unread = None
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.cycle.more_body and _is_large(self.headers) and not self.transport.is_closing():
            self._deadline, self._unread = None, self.cycle
            self.loop.call_later(_LINGER_SECONDS, self._close_unread, self.cycle)
            self._resume_later()

    def _resume_later(self) -> None:
        self.flow.pause_reading()
        self.loop.call_later(_PAUSE_SECONDS, self._resume)

    def _resume(self) -> None:
        if not self.transport.is_closing():
            self.flow.resume_reading()

    def _close_unread(self, unread: object) -> None:
        """Close the connection, unless the body is complete."""
        if self._unread is unread:
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Called by the server; its `msg` is meant for its log."""
        if self._too_large():
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, _LARGE)
        else:
            self._refuse(HTTPStatus.BAD_REQUEST, _UNREADABLE)

    def _count_head(self, size: int) -> None:
        """Count bytes of the head; raises `ValueError` when it is too large. The parser stops at it, and the
        server calls `send_400_response`."""
        self._head += size
        if self._too_large():
            raise ValueError(_LARGE)

    def _too_large(self) -> bool:
        return self._head > _HEAD_BYTES or len(self.headers or ()) > _FIELDS

    def _set_deadline(self, seconds: float) -> None:
        self._deadline = self.loop.time() + seconds

    def _check_deadline(self) -> None:
        """Close the connection if the deadline has passed, else check again later."""
        left = self._limits.head_seconds
        if self._deadline is not None:
            left = self._deadline - self.loop.time()
        if left > 0:
            self._timer = self.loop.call_later(min(left, self._limits.head_seconds), self._check_deadline)
        elif self.cycle and self.cycle.response_started and not self.cycle.response_complete:
            self.transport.close()
        else:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, _SLOW)

    def _release(self) -> None:
        """Stop counting and timing this connection: it is lost, or has become a stream."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if self._counted:
            self._limits.closed(self._counted)
            self._counted = ""

    def _refuse(self, status: HTTPStatus, detail: str, *headers: bytes) -> None:
        body = msgspec.json.encode({"detail": detail})
        head = [b"HTTP/1.1 %d %s" % (status, status.phrase.encode())]
        head += [name + b": " + value for name, value in self.server_state.default_headers]
        head += [
            b"content-type: application/json",
            b"content-length: %d" % len(body),
            b"cache-control: no-store",
            b"x-request-id: " + token_hex(16).encode(),
            b"connection: close",
            *headers,
        ]
        self.transport.write(b"\r\n".join([*head, b"", body]))
        self.transport.close()


def connection_of(scope: Scope) -> HttpProtocol | None:
    """The connection of a request, under this server."""
    extensions: Any = scope.get("extensions") or {}
    found: HttpProtocol | None = extensions.get(EXTENSION, {}).get("connection")
    return found


@lru_cache(maxsize=8)
def _common_fields(headers: tuple[tuple[bytes, bytes], ...]) -> bytes:
    """The headers of all responses of this second, as they are written."""
    return header_fields(headers)


def _is_large(headers: Sequence[tuple[bytes, bytes]]) -> bool:
    """Whether the headers announce a large body, or one of unknown size."""
    values = dict(headers)
    return b"transfer-encoding" in values or int(values.get(b"content-length", b"0")) > _SMALL


class Listening:
    """Announces for the feed process (`channels.feed.process_watch`) that this process listens. `accepting`:
    whether it accepts connections; the server sets it."""

    def __init__(self) -> None:
        self.accepting = False
        self._name = f"{socket.gethostname()}/{os.getpid()}/{uuid4().hex[:8]}"

    async def announce(self, store: Store, health: Health) -> None:
        """Announce each second that this process listens, and whether it reached the broker when that was
        checked last; and once when it no longer listens. Never ends."""
        announced = False
        while True:
            if self.accepting or announced:
                announced = self.accepting
                work = partial(self._record, store, health)
                await retry_while_unavailable("announcing this process", work)
            await asyncio.sleep(_BEAT_SECONDS if announced else _BEAT_SECONDS / 10)

    async def _record(self, store: Store, health: Health) -> None:
        reached = health.was_ok(INGEST_QUEUES)
        async with store.transaction() as tx:
            await heartbeats.record_web(tx, self._name, listens=self.accepting, reaches_broker=reached)


class TlsListener:
    """A socket on which clients use TLS, with its certificate. A handshake must be over within
    `handshake_seconds`."""

    def __init__(self, listener: socket.socket, context: ssl.SSLContext, handshake_seconds: float) -> None:
        self.listener, self.context, self.handshake_seconds = listener, context, handshake_seconds


class Server(uvicorn.Server):
    """A server with a TLS listener beside the plain ones that are passed to `run`. It sets
    `listening.accepting` while it accepts connections."""

    def __init__(self, config: uvicorn.Config, tls: TlsListener | None, listening: Listening) -> None:
        super().__init__(config)
        self._tls, self._listening = tls, listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self._tls:
            protocol = partial(
                cast(Any, self.config.http_protocol_class),
                config=self.config,
                server_state=self.server_state,
                app_state=self.lifespan.state,
            )
            server = await asyncio.get_running_loop().create_server(
                protocol,
                sock=self._tls.listener,
                ssl=self._tls.context,
                ssl_handshake_timeout=self._tls.handshake_seconds,
                backlog=self.config.backlog,
            )
            self.servers.append(server)
        self._listening.accepting = self.started

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._listening.accepting = False
        await super().shutdown(sockets)


def server_context(certificate_file: str, private_key_file: str) -> ssl.SSLContext:
    """The context of a server for TLS 1.2 or later; raises `OSError` (`ssl.SSLError` is one) for files that
    do not fit."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate_file, private_key_file)
    return context

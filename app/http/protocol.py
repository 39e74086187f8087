"""The server's HTTP/1.1, with refusals in the form that all of ours have, and bounds on what it waits for.

What cannot be read as a request reaches no application, nor does a head that is too large or too slow, nor
a connection too many of one address. It is answered here, and the connection closed. Of a large body that
nobody reads, because its request was answered without it, the rest is received slowly, for a short time.
"""

from asyncio import BaseTransport, TimerHandle, Transport
from collections import Counter
from collections.abc import Sequence
from http import HTTPStatus
from ipaddress import IPv4Network, IPv6Network, ip_address
from secrets import token_hex
from typing import Any, cast

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from app.access.rate_limit import address_block

_HEAD_BYTES = 65_536  #: of a request's line and headers together
_FIELDS = 200  #: header fields of a request
_SMALL = 65_536  #: bytes of a body that are received even if nobody reads them
#: How long more of a body is received that nobody reads, and the pause after each piece (256 KiB at most).
#: Many clients read no answer before they have sent all; closed at once, the connection would lose it.
_LINGER_SECONDS, _PAUSE_SECONDS = 2.0, 0.05
_UNREADABLE = "This is no HTTP request that can be read: something in it is malformed or too large."
_LARGE = (
    f"The request's line and headers may have {_HEAD_BYTES} bytes and {_FIELDS} fields at most: send less."
)
_SLOW = "The request took too long to arrive; send it again, faster."
_MANY = "Too many connections of this address are open: close some, or use them again."


class ConnectionLimits:
    """What the connections of one server may take. A request's head has `head_seconds` to arrive, from the
    opening of the connection or its own first byte, and its body `body_seconds` more. An address has
    `per_address` connections that are no streams; `proxies` may have as many as they like.

    Looking whether time is up costs no request anything: it is seen up to `head_seconds` late.
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
        """Count a connection; whether it may stay open."""
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
        self._counted = ""  #: the address that this connection counts for
        self._timer: TimerHandle | None = None
        #: Until when what is under way must have arrived, by the loop's clock; None: nothing is waited for.
        self._deadline: float | None = None
        self._pending = 0  #: bytes of a head that has not ended yet
        self._head = 0  #: bytes of the head that is being read
        self._unread: object = None  #: the request, answered by now, whose body is received for nobody

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(cast(Transport, transport))
        self._counted = self.client[0] if self.client else ""
        if not self._limits.opened(self._counted):
            self._refuse(HTTPStatus.TOO_MANY_REQUESTS, _MANY, b"retry-after: 1")
            return
        self._wait(self._limits.head_seconds)
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        self._leave()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        self._leave()
        super().handle_websocket_upgrade()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._unread:
            self._receive_later()
        if "path" in (cast(Any, self.scope) or {}):  # put there when the head has ended
            self._pending = 0
            return
        self._pending += len(data)
        if self._pending > _HEAD_BYTES and not self.transport.is_closing():
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, _LARGE)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head = 0
        self._wait(self._limits.head_seconds)

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        self._count_head(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value)
        self._count_head(len(name) + len(value))

    def on_headers_complete(self) -> None:
        self._wait(self._limits.body_seconds)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._deadline = self._unread = None
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.cycle.more_body and _is_large(self.headers) and not self.transport.is_closing():
            self._deadline, self._unread = None, self.cycle
            self.loop.call_later(_LINGER_SECONDS, self._give_up, self.cycle)
            self._receive_later()

    def _receive_later(self) -> None:
        self.flow.pause_reading()
        self.loop.call_later(_PAUSE_SECONDS, self._receive)

    def _receive(self) -> None:
        if not self.transport.is_closing():
            self.flow.resume_reading()

    def _give_up(self, unread: object) -> None:
        """Close, unless the body has come to its end."""
        if self._unread is unread:
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """The server calls this with words of its own, which are for its log."""
        if self._too_large():
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, _LARGE)
        else:
            self._refuse(HTTPStatus.BAD_REQUEST, _UNREADABLE)

    def _count_head(self, size: int) -> None:
        """The parser stops at an exception, and the server sends a 400 instead."""
        self._head += size
        if self._too_large():
            raise ValueError(_LARGE)

    def _too_large(self) -> bool:
        return self._head > _HEAD_BYTES or len(self.headers or ()) > _FIELDS

    def _wait(self, seconds: float) -> None:
        self._deadline = self.loop.time() + seconds

    def _look(self) -> None:
        """End the connection when time is up, else look again."""
        left = self._limits.head_seconds
        if self._deadline is not None:
            left = self._deadline - self.loop.time()
        if left > 0:
            self._timer = self.loop.call_later(min(left, self._limits.head_seconds), self._look)
        elif self.cycle and self.cycle.response_started and not self.cycle.response_complete:
            self.transport.close()
        else:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, _SLOW)

    def _leave(self) -> None:
        """This is no connection of ours any more: it is lost, or a stream's."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if self._counted:
            self._limits.closed(self._counted)
            self._counted = ""

    def _refuse(self, status: HTTPStatus, words: str, *headers: bytes) -> None:
        body = msgspec.json.encode({"detail": words})
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


def _is_large(headers: Sequence[tuple[bytes, bytes]]) -> bool:
    """Whether a head announces a body that is large, or one whose size it does not say."""
    said = dict(headers)
    return b"transfer-encoding" in said or int(said.get(b"content-length", b"0")) > _SMALL

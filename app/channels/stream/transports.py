"""How frames reach a client: written straight to the socket by our uvicorn protocol, or sent through ASGI.

`RawFrameProtocol` is uvicorn's WebSocket protocol (`Config(ws=RawFrameProtocol)`) that also accepts encoded
frames, so that frames which are the same for many clients are encoded once. It offers itself to the
application as an ASGI extension; under any other server `AsgiTransport` sends the frames one by one.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from litestar.exceptions import WebSocketException
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import State

from app.channels.stream.connection import CloseCode

EXTENSION = "matchfeed.direct"  #: the ASGI extension under which the protocol offers itself
_LINGER_SECONDS = 5.0
_MAX_INBOUND = 4096  #: bytes of a client's message; its content is ignored
_STOPPING = "going away"
#: By a frame's second byte: size of its header, and of the length in it.
_LENGTHS = {126: (4, 2), 127: (10, 8)}


def _ignore() -> None:
    """The callback before a connection sets its own."""


def frame_texts(wire: bytes) -> Iterator[str]:
    """The texts of encoded frames, for a server that encodes frames itself."""
    at = 0
    while at < len(wire):
        length_byte = wire[at + 1]
        head, width = _LENGTHS.get(length_byte, (2, 0))
        length = int.from_bytes(wire[at + 2 : at + 2 + width], "big") if width else length_byte
        yield wire[at + head : at + head + length].decode()
        at += head + length


class RawFrameProtocol(WebSocketsSansIOProtocol):
    """A connection that accepts encoded frames. A client that does not read cannot keep it open: the socket
    is aborted some seconds after the close frame."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn.max_message_size = _MAX_INBOUND
        self.on_drained: Callable[[], None] = _ignore
        self.on_inbound: Callable[[], None] = _ignore

    @property
    def congested(self) -> bool:
        """Whether the socket accepts no more for now."""
        return not self.writable.is_set()

    @property
    def _open(self) -> bool:
        return not (self.close_sent or self.disconnected) and self.conn.state is State.OPEN

    def write(self, wire: bytes) -> None:
        if self._open:
            self.transport.write(wire)

    def finish(self, code: int, reason: str) -> None:
        """Send a close frame, and abort the connection if it is not answered."""
        if not self._open:
            return
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self._send_close(code, reason)
        self.close_sent = True
        if self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()
        self.close_timer = self.loop.call_later(_LINGER_SECONDS, self.transport.abort)

    def shutdown(self) -> None:
        """Close, because the process stops."""
        if not self.handshake_complete or not self._open:
            super().shutdown()
            return
        self.stop_keepalive()
        self.queue.put_nowait({"type": "websocket.disconnect", "code": CloseCode.GOING_AWAY})
        self._send_close(CloseCode.GOING_AWAY, _STOPPING)
        self.transport.close()
        self.loop.call_later(_LINGER_SECONDS / 2, self.transport.abort)

    def handle_connect(self, event: Any) -> None:
        super().handle_connect(event)
        if hasattr(self, "scope"):
            self.scope["extensions"][EXTENSION] = {"protocol": self}

    async def send(self, message: Any) -> None:
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body"):
            self.handshake_complete = True  # refused with an HTTP response, which completes it too

    def resume_writing(self) -> None:
        super().resume_writing()
        self.on_drained()

    def handle_ping(self) -> None:
        super().handle_ping()
        self.on_inbound()

    def handle_cont(self, event: Any) -> None:
        super().handle_cont(event)
        self.on_inbound()

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.loop.call_later(1.0, self.transport.abort)

    def _send_close(self, code: int, reason: str) -> None:
        self.conn.send_close(code, reason)
        self.transport.write(b"".join(self.conn.data_to_send()))


class AsgiTransport:
    """Sends through any ASGI server: a task sends what was written, and waits where the server does."""

    def __init__(self, send: Callable[[Any], Any]) -> None:
        self.on_drained: Callable[[], None] = _ignore
        self.on_inbound: Callable[[], None] = _ignore
        self._send = send
        self._queue: deque[dict[str, Any]] = deque()
        self._task: asyncio.Task[None] | None = None
        self._finished = False

    @property
    def congested(self) -> bool:
        return bool(self._queue)

    def write(self, wire: bytes) -> None:
        self._put(*({"type": "websocket.send", "text": text} for text in frame_texts(wire)))

    def finish(self, code: int, reason: str) -> None:
        if not self._finished:
            self._finished = True
            self._queue.append({"type": "websocket.close", "code": int(code), "reason": reason})
            self._start_sending()

    def _put(self, *messages: dict[str, Any]) -> None:
        if not self._finished:
            self._queue.extend(messages)
            self._start_sending()

    def _start_sending(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._drain())

    async def _drain(self) -> None:
        while self._queue:
            try:
                await self._send(self._queue[0])
            except (OSError, RuntimeError, WebSocketException):  # disconnected; `receive` reports it
                self._finished = True
                self._queue.clear()
                return
            self._queue.popleft()
            if not self._queue:
                self.on_drained()  # which may write more

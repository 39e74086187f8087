"""Ways to a client: straight to the socket under our own server protocol, or by whatever server this is.

`DirectWebSockets` is uvicorn's WebSocket protocol (`Config(ws=DirectWebSockets)`), which also lends itself to
the application as a line: frames that are the same for many are put together once and written as they are.
Elsewhere `ServerLine` sends them one by one.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from litestar.exceptions import WebSocketException
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import State

from app.channels.stream.closing import STOPPING, Code

DIRECT = "matchfeed.direct"  #: the ASGI extension under which the protocol lends itself
_LINGER_SECONDS = 5.0
_LONGEST = 4096  #: bytes; clients have nothing to say
_LENGTHS = {
    126: (4, 2),
    127: (10, 8),
}  #: by a frame's second byte: size of its header, and of the length in it


def _nothing() -> None:
    """Nobody listens yet."""


def texts(wire: bytes) -> Iterator[str]:
    """The texts of finished frames, as a server wants them that frames by itself."""
    at = 0
    while at < len(wire):
        said = wire[at + 1]
        head, width = _LENGTHS.get(said, (2, 0))
        length = int.from_bytes(wire[at + 2 : at + 2 + width], "big") if width else said
        yield wire[at + head : at + head + length].decode()
        at += head + length


class DirectWebSockets(WebSocketsSansIOProtocol):
    """A connection that takes finished frames. A client that does not read cannot keep it open: the
    socket is cut some seconds after the close frame."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn.max_message_size = _LONGEST
        self.on_drained: Callable[[], None] = _nothing
        self.on_inbound: Callable[[], None] = _nothing

    @property
    def congested(self) -> bool:
        """Whether the socket takes no more for now."""
        return not self.writable.is_set()

    @property
    def _open(self) -> bool:
        return not (self.close_sent or self.disconnected) and self.conn.state is State.OPEN

    def write(self, wire: bytes) -> None:
        if self._open:
            self.transport.write(wire)

    def finish(self, code: int, reason: str) -> None:
        """Send a close frame, and cut the line if that is not answered."""
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
        """The process stops."""
        if not self.handshake_complete or not self._open:
            super().shutdown()
            return
        self.stop_keepalive()
        self.queue.put_nowait({"type": "websocket.disconnect", "code": Code.GOING_AWAY})
        self._send_close(Code.GOING_AWAY, STOPPING)
        self.transport.close()
        self.loop.call_later(_LINGER_SECONDS / 2, self.transport.abort)

    def handle_connect(self, event: Any) -> None:
        super().handle_connect(event)
        if hasattr(self, "scope"):
            self.scope["extensions"][DIRECT] = {"line": self}

    async def send(self, message: Any) -> None:
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body"):
            self.handshake_complete = True  # it was refused, which is an end as good as any

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


class ServerLine:
    """The way through any ASGI server: a task sends what was written, and waits where the server does."""

    def __init__(self, send: Callable[[Any], Any]) -> None:
        self.on_drained: Callable[[], None] = _nothing
        self.on_inbound: Callable[[], None] = _nothing
        self._send = send
        self._queue: deque[dict[str, Any]] = deque()
        self._task: asyncio.Task[None] | None = None
        self._finished = False

    @property
    def congested(self) -> bool:
        return bool(self._queue)

    def write(self, wire: bytes) -> None:
        self._put(*({"type": "websocket.send", "text": text} for text in texts(wire)))

    def finish(self, code: int, reason: str) -> None:
        if not self._finished:
            self._finished = True
            self._queue.append({"type": "websocket.close", "code": int(code), "reason": reason})
            self._go()

    def _put(self, *messages: dict[str, Any]) -> None:
        if not self._finished:
            self._queue.extend(messages)
            self._go()

    def _go(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._drain())

    async def _drain(self) -> None:
        while self._queue:
            try:
                await self._send(self._queue[0])
            except (OSError, RuntimeError, WebSocketException):  # it has gone; whoever receives is told
                self._finished = True
                self._queue.clear()
                return
            self._queue.popleft()
            if not self._queue:
                self.on_drained()  # which may write more

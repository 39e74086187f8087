"""One client's connection: its queue of frames, the limits beyond which it is closed, and how frames reach
the client: written straight to the socket by our uvicorn protocol, or sent through ASGI (`event_stream` has
the transport of server-sent events).

`RawFrameProtocol` is uvicorn's WebSocket protocol (`Config(ws=RawFrameProtocol)`) that also accepts encoded
frames, so that frames which are the same for many clients are encoded once. It offers itself to the
application as an ASGI extension; under any other server `AsgiTransport` sends the frames one by one.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from enum import IntEnum
from itertools import islice
from typing import Any, Protocol

from litestar.exceptions import WebSocketException
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import State

from app.access.grants import PresentedKey
from app.channels.stream.frames import Entitlements, Frame, FrameBatch, entitlements_of
from app.domain.frame_types import ALIVE
from app.kit.metrics import stream_closed

EXTENSION = "matchfeed.direct"  #: the ASGI extension under which the protocol offers itself
_LINGER_SECONDS = 5.0
_MAX_INBOUND = 4096  #: bytes of a client's message; its content is ignored
STOPPING = "going away"
#: By a frame's second byte: size of its header, and of the length in it.
_LENGTHS = {126: (4, 2), 127: (10, 8)}
_CHUNK = 65_536  #: bytes written at once
_INBOUND, _INBOUND_SECONDS = 20, 10.0
_FLOOD = "too many messages: this stream only sends"
_NOT_UTF_8 = "a text that is not UTF-8"
_SLOW = "too slow: the queue of unread frames is full"


class CloseCode(IntEnum):
    """Documented in `docs/stream.md`; 1001 to 1011 as in RFC 6455."""

    GOING_AWAY = 1001  #: this process stops: connect again at once, with `since`
    INVALID_DATA = 1007  #: the client sent a text that is not UTF-8
    POLICY = 1008  #: the key is not valid any more, or the client sends too much
    TOO_BIG = 1009  #: the client sent a message beyond the limit
    FAULT = 1011  #: an internal error, or no pong: connect again
    TOO_SLOW = 4008  #: the client reads too slowly: connect again with `since`, and read faster


class Transport(Protocol):
    """Sends frames to one client. While `congested` it accepts no more; when that ends it calls
    `on_drained`."""

    @property
    def congested(self) -> bool: ...

    def write(self, wire: bytes) -> None:
        """Send encoded frames; never blocks."""

    def finish(self, code: int, reason: str) -> None:
        """Send a close frame and close."""


class StreamConnection:
    """An accepted client. Frames that its transport cannot accept yet are queued: at most `limit` beyond
    those sent on connecting, and of a state only the newest. `position` is the seq up to which the client has
    everything, or will have with what is queued."""

    def __init__(self, presented: PresentedKey, transport: Transport, limit: int) -> None:
        self.presented = presented
        self.entitlements: Entitlements = entitlements_of(presented.grant)
        self.position = 0
        self.closed = False
        self._transport = transport
        self._limit = limit
        self._initial: deque[bytes] = deque()
        self._queue: dict[object, Frame] = {}
        self._inbound: deque[float] = deque(maxlen=_INBOUND)

    @property
    def queued(self) -> int:
        """The number of queued frames."""
        return len(self._queue)

    def send_initial(self, chunks: Iterable[bytes], position: int) -> None:
        """Send what a client receives on connecting, up to `position`; it does not count for the limit."""
        self._initial.extend(chunks)
        self.position = position
        self.flush()

    def send_batch(self, batch: FrameBatch, position: int) -> None:
        """Send frames, or queue those that the transport cannot accept yet, or close when too many wait."""
        if self.closed or not batch.frames:
            self.position = max(self.position, position)
            return
        new = batch.frames[0].seq > self.position
        if new and not (self._queue or self._initial or self._transport.congested):
            self._transport.write(batch.joined)
        else:
            self._enqueue(frame for frame in batch.frames if frame.seq > self.position)
            self.flush()
        self.position = max(self.position, position)
        if len(self._queue) > self._limit:
            self.close(CloseCode.TOO_SLOW, _SLOW)

    def send_frame(self, frame: Frame) -> None:
        """Send a frame that carries no change."""
        if not self.closed:
            self._enqueue((frame,))
            self.flush()

    def flush(self) -> None:
        """Write what is queued, as far as the transport accepts it."""
        while (self._initial or self._queue) and not (self._transport.congested or self.closed):
            self._transport.write(self._next_chunk())

    def count_inbound(self, now: float) -> None:
        """Count a message of the client at `now` (seconds), whose content is ignored; close on too many."""
        if len(self._inbound) == _INBOUND and now - self._inbound[0] < _INBOUND_SECONDS:
            self.close(CloseCode.POLICY, _FLOOD)
        self._inbound.append(now)

    def close(self, code: CloseCode, reason: str) -> None:
        """End the connection; what is queued is dropped."""
        if not self.closed:
            self.closed = True
            self._initial.clear()
            self._queue.clear()
            stream_closed.labels(str(int(code))).inc()
            self._transport.finish(code, reason)

    def _enqueue(self, frames: Iterable[Frame]) -> None:
        for frame in frames:
            name = frame.conflation_key or frame.seq
            # The newer state goes to the end of the queue, and so does `alive`, whose seq covers the older.
            replaced = self._queue.pop(name, None)
            self._queue[name] = frame
            if replaced and ALIVE in self._queue:
                self._queue[ALIVE] = self._queue.pop(ALIVE)

    def _next_chunk(self) -> bytes:
        parts: list[bytes] = []
        size = 0
        while self._initial and size < _CHUNK:
            parts.append(self._initial.popleft())
            size += len(parts[-1])
        for name in list(islice(self._queue, 256)):
            if size >= _CHUNK or self._initial:
                break
            parts.append(self._queue.pop(name).wire)
            size += len(parts[-1])
        return b"".join(parts)


def _ignore() -> None:
    """The callback before a connection sets its own."""


def frame_texts(wire: bytes) -> Iterator[str]:
    """The texts of encoded frames, for a server that encodes frames itself."""
    return (payload.decode() for payload in frame_payloads(wire))


def frame_payloads(wire: bytes) -> Iterator[bytes]:
    """The JSON of encoded frames."""
    at = 0
    while at < len(wire):
        length_byte = wire[at + 1]
        head, width = _LENGTHS.get(length_byte, (2, 0))
        length = int.from_bytes(wire[at + 2 : at + 2 + width], "big") if width else length_byte
        yield wire[at + head : at + head + length]
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
        self._send_close(CloseCode.GOING_AWAY, STOPPING)
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

    def send_receive_event_to_app(self) -> None:
        """What a client sends is ignored, but a text must be UTF-8 (RFC 6455, 8.1). The server would write a
        traceback for another."""
        if self.curr_msg_data_type == "text":
            try:
                b"".join(self.frames).decode()
            except UnicodeDecodeError:
                self.frames = []
                self.finish(CloseCode.INVALID_DATA, _NOT_UTF_8)
                return
        super().send_receive_event_to_app()

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
    """Sends through any ASGI server: a task sends what was written, and waits where the server does. This one
    sends WebSocket messages."""

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
        self._finish({"type": "websocket.close", "code": int(code), "reason": reason})

    def _finish(self, last: dict[str, Any]) -> None:
        if not self._finished:
            self._finished = True
            self._queue.append(last)
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

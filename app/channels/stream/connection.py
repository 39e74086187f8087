"""One client's connection: its queue of frames, and the limits beyond which it is closed."""

from collections import deque
from collections.abc import Iterable
from enum import IntEnum
from itertools import islice
from typing import Protocol

from app.access.grants import PresentedKey
from app.channels.stream.entitlements import Entitlements, entitlements_of
from app.channels.stream.frames import Frame, FrameBatch
from app.domain.frame_types import ALIVE
from app.kit.metrics import stream_closed

_CHUNK = 65_536  #: bytes written at once
_INBOUND, _INBOUND_SECONDS = 20, 10.0
_FLOOD = "too many messages: this stream only sends"
_SLOW = "too slow: the queue of unread frames is full"


class CloseCode(IntEnum):
    """Documented in `docs/stream.md`; 1001 to 1011 as in RFC 6455."""

    GOING_AWAY = 1001  #: this process stops: connect again at once, with `since`
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

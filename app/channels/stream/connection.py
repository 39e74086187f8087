"""One client's end of the stream: what waits for it, and when that is too much."""

from collections import deque
from collections.abc import Iterable
from itertools import islice
from typing import Protocol

from app.access.grants import Presented
from app.channels.stream.closing import FLOOD, SLOW, Code
from app.channels.stream.frames import Batch, Frame
from app.channels.stream.profile import Profile, profile
from app.domain.frames import ALIVE
from app.kit.metrics import stream_closed

_PIECE = 65_536  #: bytes handed over at once
_INBOUND, _INBOUND_SECONDS = 20, 10.0


class Line(Protocol):
    """The way to a client. `congested`: it takes nothing more now; `on_drained` is called when it does."""

    @property
    def congested(self) -> bool: ...

    def write(self, wire: bytes) -> None:
        """Hand frames over; never blocks."""

    def finish(self, code: int, reason: str) -> None:
        """Say why, and close."""


class Connection:
    """A client that was let in. Frames it cannot take yet wait here, at most `limit` of them beyond what it
    is sent on connecting: of a state only the newest waits. `position` is the seq up to which it has been
    told, or will be by what waits."""

    def __init__(self, presented: Presented, line: Line, limit: int) -> None:
        self.presented = presented
        self.profile: Profile = profile(presented.grant)
        self.position = 0
        self.closed = False
        self._line = line
        self._limit = limit
        self._opening: deque[bytes] = deque()
        self._waiting: dict[object, Frame] = {}
        self._inbound: deque[float] = deque(maxlen=_INBOUND)

    @property
    def waiting(self) -> int:
        """How many frames wait."""
        return len(self._waiting)

    def open(self, pieces: Iterable[bytes], position: int) -> None:
        """What it is sent on connecting, up to `position`; however much that is, it counts for nothing."""
        self._opening.extend(pieces)
        self.position = position
        self.pump()

    def tell(self, told: Batch, position: int) -> None:
        """Send frames, or keep those that it cannot take yet, or close it when there are too many."""
        if self.closed or not told.frames:
            self.position = max(self.position, position)
            return
        new = told.frames[0].seq > self.position
        if new and not (self._waiting or self._opening or self._line.congested):
            self._line.write(told.joined)
        else:
            self._keep(frame for frame in told.frames if frame.seq > self.position)
            self.pump()
        self.position = max(self.position, position)
        if len(self._waiting) > self._limit:
            self.close(Code.TOO_SLOW, SLOW)

    def say(self, frame: Frame) -> None:
        """Send a frame that tells no change."""
        if not self.closed:
            self._keep((frame,))
            self.pump()

    def pump(self) -> None:
        """Hand over what waits, as far as the line takes it."""
        while (self._opening or self._waiting) and not (self._line.congested or self.closed):
            self._line.write(self._piece())

    def heard(self, now: float) -> None:
        """The client sent something at `now` (seconds); nothing of it is listened to."""
        if len(self._inbound) == _INBOUND and now - self._inbound[0] < _INBOUND_SECONDS:
            self.close(Code.POLICY, FLOOD)
        self._inbound.append(now)

    def close(self, code: Code, reason: str) -> None:
        """End it; what waits is not sent any more."""
        if not self.closed:
            self.closed = True
            self._opening.clear()
            self._waiting.clear()
            stream_closed.labels(str(int(code))).inc()
            self._line.finish(code, reason)

    def _keep(self, frames: Iterable[Frame]) -> None:
        for frame in frames:
            name = frame.entity or frame.seq
            # The newer one waits behind what came between; so does the `alive` that vouches for the older.
            overtaken = self._waiting.pop(name, None)
            self._waiting[name] = frame
            if overtaken and ALIVE in self._waiting:
                self._waiting[ALIVE] = self._waiting.pop(ALIVE)

    def _piece(self) -> bytes:
        taken: list[bytes] = []
        size = 0
        while self._opening and size < _PIECE:
            taken.append(self._opening.popleft())
            size += len(taken[-1])
        for name in list(islice(self._waiting, 256)):
            if size >= _PIECE or self._opening:
                break
            taken.append(self._waiting.pop(name).wire)
            size += len(taken[-1])
        return b"".join(taken)

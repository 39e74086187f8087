"""What the demonstration's bookmaker sees, as a file that boards read: `var/demo/bookmaker.json`."""

import time
from pathlib import Path

import msgspec

from scripts.local_services import files

#: Upper edges of the histogram's bars, in ms; what is above the last is in one more bar.
EDGES = (5, 10, 15, 20, 30, 50, 100, 250, 1000)
ENVELOPES, STORY = 40, 200


def now() -> int:
    """Unix ms."""
    return time.time_ns() // 1_000_000


class ReceivedEnvelope(msgspec.Struct, frozen=True):
    """An envelope as it came. Times in Unix ms; `latency` is from the log line's arrival with us to its
    arrival in the queue, None where no log line caused it (and for recoveries)."""

    at: int
    type: str
    key: str
    match: str = ""
    seq: int = 0
    markets: int = 0
    suspended: int = 0
    replayed: bool = False
    again: bool = False
    latency: int | None = None


class Latency(msgspec.Struct):
    """A running histogram: `bars` count what was up to each of `edges` ms, and at last what was slower."""

    edges: tuple[int, ...] = EDGES
    bars: list[int] = msgspec.field(default_factory=lambda: [0] * (len(EDGES) + 1))
    count: int = 0
    median: int = 0
    slowest: int = 0
    last: int = 0


class Recovery(msgspec.Struct, frozen=True):
    """The newest one; `state` as the service reports it, or refused."""

    request_id: str
    state: str
    asked_at: int
    steps: int = 0
    steps_done: int = 0
    envelopes: int = 0
    finished_at: int | None = None


class Check(msgspec.Struct, frozen=True):
    """The last comparison of the book with what the service has on offer."""

    at: int
    count: int
    markets: int
    matches: int
    kinds: dict[str, int]


class Line(msgspec.Struct, frozen=True):
    """One line of the story; `kind` is one of alive, silent, gap, recovery, suspended, again, back, equal,
    differs, connection."""

    id: int
    at: int
    kind: str
    text: str


class Report(msgspec.Struct):
    """`state`: away (no connection), recovering, silent or following."""

    tenant: str
    state: str = "away"
    at: int = 0
    active: int = 0
    suspended: int = 0
    alive_at: int = 0
    subscribed: bool = True
    envelopes: list[ReceivedEnvelope] = []
    latency: Latency = msgspec.field(default_factory=Latency)
    recovery: Recovery | None = None
    check: Check | None = None
    story: list[Line] = []


def write(file: Path, report: Report) -> None:
    files.replace(file, msgspec.json.encode(report))


def read(file: Path) -> Report | None:
    """None while there is none."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=Report)
    except (FileNotFoundError, msgspec.DecodeError):
        return None

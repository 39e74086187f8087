"""What the demonstration's bookmaker sees, as a file that boards read: `var/demo/bookmaker.json`. And whether
its book differs from what the service has on offer: what is still on its way is no difference.
"""

import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from scripts.local_services import files

#: Upper edges of the histogram's bars, in ms; what is above the last is in one more bar.
EDGES = (5, 10, 15, 20, 30, 50, 100, 250, 1000)
ENVELOPES, STORY = 40, 200
Difference = tuple[str, int, str, str]  #: match, market, specifiers and kind, as the self-check returns them


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


class Look(msgspec.Struct, frozen=True):
    """One answer of the self-check at `at` (Unix ms). `found` has each difference and whether the service had
    published about its match what the book had not received, None where it could not know; `seqs` is the last
    `x-seq` received of each match when the self-check was requested."""

    at: int
    markets: int
    matches: int
    found: dict[Difference, bool | None]
    seqs: Mapping[str, int]


def look(data: Any, seqs: Mapping[str, int], at: int) -> Look:
    """The `data` of an answer to a digest that was made when `seqs` had been received."""
    found = {
        (each["match"], each["id"], each["specifiers"], each["kind"]): each.get("behind")
        for each in data["differences"]
    }
    return Look(at, data["markets"], data["matches"], found, dict(seqs))


def verdict(first: Look, second: Look) -> Check | None:
    """The result of two looks, a second apart; None when it is open yet, for there are differences but none
    that is confirmed.

    One is confirmed that both have and that no message on its way explains: the book was not behind at the
    second look, or nothing about the match has been received between the two although something was
    published.
    """
    confirmed = [each for each in second.found if each in first.found and _is_confirmed(each, first, second)]
    if second.found and not confirmed:
        return None
    kinds = Counter(kind for *_, kind in confirmed)
    return Check(second.at, len(confirmed), second.markets, second.matches, dict(kinds))


def _is_confirmed(difference: Difference, first: Look, second: Look) -> bool:
    match, *_ = difference
    return second.found[difference] is False or first.seqs.get(match) == second.seqs.get(match)

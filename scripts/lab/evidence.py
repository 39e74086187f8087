"""What a run leaves behind, as data: the auditor needs nothing else; and what it finds.

Matches are named `od:match:<n>`. `at` and `stamp` are Unix ms, `moment` is Unix seconds of the recorder's
clock.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any
from xml.etree import ElementTree as ET

import msgspec

Market = tuple[int, str]  #: type and specifiers
Quote = tuple[int, str]  #: status as in the feed (1, -1) and odds, "" while suspended
_RESULT = {"1": "won", "0": "lost"}
_OPEN = ("1", "-1")


class Row(msgspec.Struct, frozen=True):
    """A row of the change log."""

    seq: int
    match: str
    entity: str
    frame: str
    message: str
    at: int
    envelope: int
    previous: int


class Entry(msgspec.Struct, frozen=True):
    """An entry of the ledger: its market (a void window is part of the specifiers), and what it says (`won`,
    `lost`, `void`, `pending`)."""

    id: int
    match: str
    market: Market
    state: str


class Envelope(msgspec.Struct, frozen=True):
    """A message of the change log, as it is for one tenant; `number` is its `x-seq`."""

    number: int
    previous: int
    match: str
    name: str
    at: int
    body: bytes


class Delivery(msgspec.Struct, frozen=True):
    """A message that a tenant received. `number` and `previous` are 0 where it has none, `request` is the
    recovery that replayed it. `states` are the results and open markets in it, `subscribed` is that of
    `alive`."""

    moment: float
    connection: int
    name: str
    match: str
    at: int
    number: int
    previous: int
    request: str
    body: bytes
    states: tuple[tuple[Market, str], ...] = ()
    subscribed: str = ""
    message_id: str = ""

    @property
    def live(self) -> bool:
        return bool(self.number) and not self.request


class Recovery(msgspec.Struct):
    """A recovery that a tenant requested, and why: `connected`, `notice` (`alive` with `subscribed="0"`),
    `gap` (`x-prev-seq`), `silence`, or `wish` (nothing made it)."""

    request: str
    requested: float
    reasons: tuple[str, ...]
    status: int = 0
    completed: float | None = None


class Frame(msgspec.Struct, frozen=True):
    """A frame of the stream; `id` is that of the settlement in it, else 0."""

    moment: float
    connection: int
    kind: str
    match: str
    seq: int
    snapshot: bool
    id: int = 0


class Shown(msgspec.Struct, frozen=True):
    """What a channel shows of a match: the open markets by name, and the status and scores of the match."""

    markets: dict[str, Any]
    match: dict[str, Any]


class Tenant(msgspec.Struct, kw_only=True):
    """`envelopes` is what the change log has for it. `entries` are the ids of the ledger's entries that it
    may see, `settlements` those that REST shows. `uncertain` are matches that were taken out of its
    offer or put into it: when exactly that took effect between two messages is not defined."""

    slug: str
    envelopes: tuple[Envelope, ...] = ()
    deliveries: tuple[Delivery, ...] = ()
    recoveries: tuple[Recovery, ...] = ()
    away: tuple[tuple[float, float], ...] = ()
    uncertain: frozenset[str] = frozenset()
    book: dict[str, dict[str, Quote]] = {}
    offer: dict[str, dict[str, Quote]] = {}
    differences: int | None = 0
    entries: frozenset[int] = frozenset()
    settlements: frozenset[int] = frozenset()
    frames: tuple[Frame, ...] = ()
    streamed: dict[str, Shown] = {}
    rest: dict[str, Shown] = {}


class Evidence(msgspec.Struct, kw_only=True):
    """`marks` are the changes with which a fail-over closed the log before it; `wrong_settlements` is what
    the audit of the ledger says; `failures` are responses with status 500 and processes that ended by
    themselves."""

    rows: tuple[Row, ...] = ()
    marks: tuple[int, ...] = ()
    entries: tuple[Entry, ...] = ()
    wrong_settlements: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    tenants: tuple[Tenant, ...] = ()


def numbers(headers: Mapping[str, Any]) -> tuple[int, int]:
    """`x-seq` and `x-prev-seq` of a message, 0 where it has none."""
    number, previous = (int(str(headers.get(name) or 0)) for name in ("x-seq", "x-prev-seq"))
    return number, previous


def read(
    body: bytes, headers: Mapping[str, Any], moment: float, connection: int, message_id: str = ""
) -> Delivery:
    """A message, received at `moment` over the connection with this number."""
    root = ET.fromstring(body)
    number, previous = numbers(headers)
    return Delivery(
        moment=moment,
        connection=connection,
        name=root.tag,
        match=root.get("event_id", ""),
        at=int(root.get("timestamp", "0")),
        number=number,
        previous=previous,
        request=root.get("request_id", ""),
        body=body,
        states=tuple(_states(root)),
        subscribed=root.get("subscribed", ""),
        message_id=message_id,
    )


def _states(root: ET.Element) -> Iterator[tuple[Market, str]]:
    """What a message says of results: an open market has none."""
    for market in root.iter("market"):
        if root.tag == "odds_change":
            if market.get("status") in _OPEN:
                yield _named(root, market), "pending"
        elif root.tag == "bet_settlement":
            yield _named(root, market), _RESULT[market[0].get("result", "")]
        else:
            yield _named(root, market), "void" if root.tag == "bet_cancel" else "pending"


def _named(root: ET.Element, market: ET.Element) -> Market:
    start, end = root.get("start_time"), root.get("end_time")
    return int(market.get("id", "0")), windowed(market.get("specifiers", ""), start, end)


def windowed(specifiers: str, start: object, end: object) -> str:
    """The specifiers, with the window where only the bets in it are void."""
    return specifiers if end is None else f"{specifiers} {start}-{end}"


class Kind(StrEnum):
    """`lost`: published, and neither received nor recovered. `invented`: received, and not published so.
    `order`: first received after something newer. `ledger`, `log`: wrong in themselves. `book`: what a client
    has differs from what REST shows. `failure`: an internal error."""

    LOST = "lost"
    INVENTED = "invented"
    ORDER = "order"
    LEDGER = "ledger"
    LOG = "log"
    BOOK = "book"
    FAILURE = "failure"


class Finding(msgspec.Struct, frozen=True):
    """`subject` is the tenant, or the part of the service."""

    kind: Kind
    subject: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.subject}: {self.text}"

"""The tables of the page of all live matches (matches in play, open alerts, commands that wait for consent):
their rows, and their reader, which reads only those matches that have changed since it read last.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Literal
from uuid import UUID

import msgspec

from app.commands.alert_handling import ENDED_BY_HAND
from app.domain.ids import match_urn
from app.domain.market import MarketStatus
from app.domain.match import CurrentRound, Match, Side
from app.kit.clock import Clock
from app.sites.console.row_feed import Tables
from app.store import alerts, consent_requests, listings, matches
from app.store.alerts import Alert
from app.store.connections import Store
from app.store.consent_requests import ConsentRequest
from app.store.listings import MarketCount, MatchName
from app.store.transaction import Tx
from app.trading.round_view import round_clock

MATCHES, ALERTS, CONSENTS = "matches", "alerts", "consents"  #: the tables
#: A source that has sent nothing for so long is shown with the time of its last lines.
QUIET_MILLIS = 15_000
_REASONS = 3
Phase = Literal["", "warmup", "break", "paused", "over", "freeze", "live", "planted"]


class Attention(IntEnum):
    """How much a match needs somebody: the order of the rows."""

    ALERT = 0
    SUSPENDED = 1
    NONE = 2


class LiveRow(msgspec.Struct, frozen=True, kw_only=True):
    """What is shown of a match. `clock_ends_at` (Unix ms): when the clock of the `phase` ends, None where
    none runs. `quiet_since`: when its source sent last, if that is long ago. `reasons`: why open markets are
    suspended, the most frequent ones, each with how many. `alerts`: the kinds of its open alerts."""

    number: int
    home: str
    away: str
    event: str
    best_of: int
    maps_won: tuple[int, int]
    map_number: int = 0
    map_name: str = ""
    rounds: tuple[int, int] = (0, 0)
    home_side: Side | None = None
    round_number: int = 0
    alive: tuple[int, int] | None = None
    phase: Phase = ""
    clock_ends_at: int | None = None
    quiet_since: int | None = None
    suspended: str = ""
    active: int = 0
    off: int = 0
    reasons: tuple[tuple[str, int], ...] = ()
    alerts: tuple[str, ...] = ()

    @property
    def urn(self) -> str:
        return match_urn(self.number)

    @property
    def attention(self) -> Attention:
        if self.alerts:
            return Attention.ALERT
        return Attention.SUSPENDED if self.suspended else Attention.NONE


def live_row(match: Match, counts: Sequence[MarketCount], opened: Iterable[Alert], now: int) -> LiveRow:
    """The row of a match as it is at `now` (Unix ms)."""
    play, current = match.map, match.current
    phase, ends_at = _phase(match, current, now)
    suspended = [each for each in counts if each.status is MarketStatus.SUSPENDED]
    quiet = now - match.last_arrived_at >= QUIET_MILLIS
    return LiveRow(
        number=match.number,
        home=match.home,
        away=match.away,
        event=match.event,
        best_of=match.best_of,
        maps_won=(match.score_home, match.score_away),
        map_number=play.number if play else 0,
        map_name=play.name if play else "",
        rounds=(play.home_score, play.away_score) if play else (0, 0),
        home_side=play.home_side if play else None,
        round_number=current.number if play and current else 0,
        alive=(current.alive_home, current.alive_away) if play and current else None,
        phase=phase,
        clock_ends_at=ends_at,
        quiet_since=match.last_arrived_at if quiet else None,
        suspended=match.suspended,
        active=sum(each.markets for each in counts if each.status is MarketStatus.ACTIVE),
        off=sum(each.markets for each in suspended),
        reasons=tuple((each.reason, each.markets) for each in suspended[:_REASONS]),
        alerts=tuple(sorted({each.kind.value for each in opened})),
    )


def _phase(match: Match, current: CurrentRound | None, now: int) -> tuple[Phase, int | None]:
    if match.warmup:
        return "warmup", None
    if match.map is None or current is None:
        return "" if match.map else "break", None
    if match.pause:
        return "paused", None
    if current.phase == "over":
        return "over", None
    clock = round_clock(match, current)
    ends_at = None if clock.since is None else clock.since + round(clock.seconds * 1000)
    return clock.phase, ends_at if ends_at is not None and ends_at > now else None


class AlertRow(msgspec.Struct, frozen=True):
    """An alert, and its match, if it is about one."""

    alert: Alert
    about: MatchName | None

    @property
    def urn(self) -> str:
        return match_urn(self.about.number) if self.about else ""

    @property
    def by_hand(self) -> bool:
        """Whether operators may end it."""
        return self.alert.kind in ENDED_BY_HAND


def alert_rows(found: Iterable[Alert], names: Mapping[UUID, MatchName]) -> list[AlertRow]:
    """The rows of these alerts; `names` are those of their matches."""
    return [AlertRow(each, names.get(each.match_id) if each.match_id else None) for each in found]


class ConsentRow(msgspec.Struct, frozen=True):
    """A command that waits for consent, and its match."""

    request: ConsentRequest
    about: MatchName

    @property
    def urn(self) -> str:
        return match_urn(self.about.number)


class _Known(msgspec.Struct, frozen=True):
    """A match as it was read, and its row's version then."""

    version: str
    match: Match
    counts: list[MarketCount]


class LiveReader:
    """`read` returns the tables `matches`, `alerts` and `consents`; a fixed number of queries, however many
    there are."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._known: dict[UUID, _Known] = {}

    async def read(self) -> Tables:
        """The rows as they are now, those that need somebody first. Raises `Unavailable`."""
        async with self._store.snapshot() as tx:
            await self._update(tx)
            opened = await alerts.listing(tx, ended=False)
            waiting = await consent_requests.waiting(tx, self._clock())
            subjects = {each.match_id for each in opened if each.match_id}
            names = await self._names(tx, subjects | {each.match_id for each in waiting})
        now, about = self._clock(), _by_match(opened)
        rows = [
            live_row(each.match, each.counts, about.get(match_id, ()), now)
            for match_id, each in self._known.items()
        ]
        rows.sort(key=lambda row: (row.attention, row.number))
        return {
            MATCHES: {str(row.number): row for row in rows},
            ALERTS: {str(row.alert.id): row for row in alert_rows(opened, names)},
            CONSENTS: {str(each.id): ConsentRow(each, names[each.match_id]) for each in waiting},
        }

    async def _update(self, tx: Tx) -> None:
        present = await listings.live_versions(tx)
        changed = [
            match_id
            for match_id, version in present.items()
            if match_id not in self._known or self._known[match_id].version != version
        ]
        known = {match_id: each for match_id, each in self._known.items() if match_id in present}
        if changed:
            counts = await listings.market_counts(tx, changed)
            for match in await matches.by_ids(tx, changed):
                known[match.id] = _Known(present[match.id], match, counts[match.id])
        self._known = known

    async def _names(self, tx: Tx, about: set[UUID]) -> dict[UUID, MatchName]:
        """The names of these matches, whether or not they are in play."""
        names = await listings.names_by_id(tx, about - self._known.keys())
        here = about & self._known.keys()
        return names | {match_id: _name(self._known[match_id].match) for match_id in here}


def _name(match: Match) -> MatchName:
    return MatchName(match.number, match.home, match.away)


def _by_match(opened: Iterable[Alert]) -> dict[UUID, list[Alert]]:
    found: dict[UUID, list[Alert]] = defaultdict(list)
    for alert in opened:
        if alert.match_id:
            found[alert.match_id].append(alert)
    return found

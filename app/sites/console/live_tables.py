"""The tables of the page of all live matches (matches in play, open alerts, commands that wait for consent):
their rows, and their reader, which reads only those matches that have changed since it read last.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from enum import IntEnum
from typing import Literal, NamedTuple
from uuid import UUID

import msgspec

from app.commands.alert_handling import ENDED_BY_HAND
from app.domain.ids import match_urn
from app.domain.market import MATCH_WINNER, Market, MarketStatus
from app.domain.match import CurrentRound, Match, Side
from app.domain.references import ReferenceState
from app.domain.suspension_reasons import OF_OPERATORS, OF_PLAY, code_of
from app.kit.clock import Clock
from app.kit.grouping import grouped
from app.sites.console.row_feed import Tables
from app.store import alerts, consent_requests, listings, markets, matches, sessions
from app.store.alerts import Alert
from app.store.connections import Store
from app.store.consent_requests import ConsentRequest
from app.store.listings import MarketCount, MatchName
from app.store.transaction import Tx
from app.trading.round_view import round_clock

MATCHES, ALERTS, CONSENTS = "matches", "alerts", "consents"  #: the tables
#: A source that has sent nothing for so long is shown with the time of its last lines.
QUIET_MILLIS = 5_000
#: Who had a match's page open so long ago still watches it.
WATCHED_MILLIS = 20_000
#: Home's chance to win at the ends of so many rounds is drawn, of those that this process has seen.
LINE_ROUNDS = 16
_WINNER = {"team=home": 0, "team=away": 1}
_SILENT = "silent_source"
Phase = Literal["", "warmup", "break", "paused", "over", "freeze", "live", "planted"]


class Mark(IntEnum):
    """How a match stands, and how much it needs somebody: the order of the rows. `SILENT`: suspended because
    its source is. `SUSPENDED`: all of it or markets, for a reason that is neither play nor an operator's
    command on a market. `GAME`: all else that is not on offer."""

    ALERT = 0
    SUSPENDED = 1
    SILENT = 2
    GAME = 3
    FINE = 4


class Winner(NamedTuple):
    """The market of a team to win the match: its odds, and whether it is on offer."""

    odds: Decimal
    on_offer: bool


class LiveRow(msgspec.Struct, frozen=True, kw_only=True):
    """What is shown of a match. `clock_ends_at` (Unix ms): when the clock of the `phase`, of so many
    `clock_millis`, ends; None where none runs. `quiet_since`: when its source sent last, if that is some
    seconds ago; `silent`: it is suspended for that. `unexplained`: why markets are suspended that neither
    play nor an operator explains. `winners`: home's and away's market to win the match, while it is open.
    `chances`: home's chance to win the match, in whole percent, at the ends of the last rounds. `divergence`:
    the logit of reference prices minus ours, where they count. `alerts`: the kinds of its open alerts.
    `watchers`: the names of those who have its page open."""

    number: int
    home: str
    away: str
    best_of: int
    started_at: int = 0
    maps_won: tuple[int, int]
    map_number: int = 0
    map_name: str = ""
    rounds: tuple[int, int] = (0, 0)
    home_side: Side | None = None
    round_number: int = 0
    alive: tuple[int, int] | None = None
    phase: Phase = ""
    clock_ends_at: int | None = None
    clock_millis: int = 0
    silent: bool = False
    unexplained: str = ""
    quiet_since: int | None = None
    suspended: str = ""
    active: int = 0
    off: int = 0
    winners: tuple[Winner | None, Winner | None] = (None, None)
    chances: tuple[int, ...] = ()
    references: ReferenceState = "none"
    divergence: float = 0.0
    alerts: tuple[str, ...] = ()
    watchers: tuple[str, ...] = ()

    @property
    def urn(self) -> str:
        return match_urn(self.number)

    @property
    def mark(self) -> Mark:
        if self.alerts:
            return Mark.ALERT
        if self.silent:
            return Mark.SILENT
        if self.suspended or self.unexplained:
            return Mark.SUSPENDED
        return Mark.GAME if self.off or not self.active else Mark.FINE

    @property
    def alive_by_side(self) -> tuple[tuple[str, int], ...]:
        """The side of home and of away, "" while unknown, each with its players alive."""
        other = {"CT": "T", "T": "CT", None: ""}[self.home_side]
        return tuple(zip((self.home_side or "", other), self.alive or (), strict=False))


def live_row(
    match: Match,
    counts: Sequence[MarketCount],
    winners: Iterable[Market],
    opened: Iterable[Alert],
    now: int,
    *,
    chances: tuple[int, ...] = (),
    watchers: tuple[str, ...] = (),
) -> LiveRow:
    """The row of a match as it is at `now` (Unix ms); `winners` has its open markets to win the match."""
    play, current = match.map, match.current
    phase, ends_at, millis = _phase(match, current, now)
    silence = now - match.last_arrived_at
    return LiveRow(
        number=match.number,
        home=match.home,
        away=match.away,
        best_of=match.best_of,
        started_at=match.started_at or 0,
        maps_won=(match.score_home, match.score_away),
        map_number=play.number if play else 0,
        map_name=play.name if play else "",
        rounds=(play.home_score, play.away_score) if play else (0, 0),
        home_side=play.home_side if play else None,
        round_number=current.number if play and current else 0,
        alive=(current.alive_home, current.alive_away) if play and current else None,
        phase=phase,
        clock_ends_at=ends_at,
        clock_millis=millis,
        silent=code_of(match.suspended) == _SILENT,
        unexplained=next((each.reason for each in counts if _is_unexplained(each)), ""),
        quiet_since=match.last_arrived_at if silence >= QUIET_MILLIS else None,
        suspended=match.suspended,
        active=sum(each.markets for each in counts if each.status is MarketStatus.ACTIVE),
        off=sum(each.markets for each in counts if each.status is MarketStatus.SUSPENDED),
        winners=_winners(winners),
        chances=chances,
        references=match.references.state,
        divergence=match.references.divergence,
        alerts=tuple(sorted({each.kind.value for each in opened})),
        watchers=watchers,
    )


def _is_unexplained(counted: MarketCount) -> bool:
    """Whether these markets are suspended for a reason that is neither play nor an operator's command."""
    code = code_of(counted.reason)
    explained = not counted.reason or code in OF_PLAY or code in OF_OPERATORS
    return counted.status is MarketStatus.SUSPENDED and not explained


def _winners(found: Iterable[Market]) -> tuple[Winner | None, Winner | None]:
    both: list[Winner | None] = [None, None]
    for market in found:
        both[_WINNER[market.specifiers]] = Winner(market.odds, market.status is MarketStatus.ACTIVE)
    return both[0], both[1]


def _phase(match: Match, current: CurrentRound | None, now: int) -> tuple[Phase, int | None, int]:
    """The phase, when its clock ends (None where none runs), and how long it runs in all (ms)."""
    if match.warmup:
        return "warmup", None, 0
    if match.map is None or current is None:
        return "" if match.map else "break", None, 0
    if match.pause:
        return "paused", None, 0
    if current.phase == "over":
        return "over", None, 0
    clock = round_clock(match, current)
    millis = round(clock.seconds * 1000)
    ends_at = None if clock.since is None else clock.since + millis
    return clock.phase, ends_at if ends_at is not None and ends_at > now else None, millis


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
    """A match as it was read, and its row's version then; `chances` by the number of rounds that its maps in
    play had."""

    version: str
    match: Match
    counts: list[MarketCount]
    winners: list[Market]
    chances: dict[tuple[int, int], int]


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
            watching = await sessions.watching(tx, self._clock() - WATCHED_MILLIS)
            subjects = {each.match_id for each in opened if each.match_id}
            names = await self._names(tx, subjects | {each.match_id for each in waiting})
        now, about = self._clock(), grouped((each.match_id, each) for each in opened)
        rows = [
            live_row(
                each.match,
                each.counts,
                each.winners,
                about.get(match_id, ()),
                now,
                chances=tuple(each.chances.values())[-LINE_ROUNDS:],
                watchers=watching.get(match_id, ()),
            )
            for match_id, each in self._known.items()
        ]
        rows.sort(key=lambda row: (row.mark, row.started_at, row.number))
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
            winners = await markets.open_of_matches_and_type(tx, changed, MATCH_WINNER)
            for match in await matches.by_ids(tx, changed):
                of_match, old = winners.get(match.id, []), known.get(match.id)
                chances = _chances(old.chances if old else {}, match, of_match)
                known[match.id] = _Known(present[match.id], match, counts[match.id], of_match, chances)
        self._known = known

    async def _names(self, tx: Tx, about: set[UUID]) -> dict[UUID, MatchName]:
        """The names of these matches, whether or not they are in play."""
        names = await listings.names_by_id(tx, about - self._known.keys())
        here = about & self._known.keys()
        return names | {match_id: _name(self._known[match_id].match) for match_id in here}


def _chances(
    known: dict[tuple[int, int], int], match: Match, winners: Iterable[Market]
) -> dict[tuple[int, int], int]:
    """`known`, with the present chance of home as that after the rounds that were played so far, unless one
    is known: the cell then changes once a round."""
    home = next((each.probability for each in winners if _WINNER[each.specifiers] == 0), None)
    if home is None:
        return known
    play = match.map
    place = (play.number, play.home_score + play.away_score) if play else (len(match.maps) + 1, 0)
    if place in known:
        return known
    return dict(list(known.items())[-LINE_ROUNDS:]) | {place: round(home * 100)}


def _name(match: Match) -> MatchName:
    return MatchName(match.number, match.home, match.away)

"""What happened in a match, newest first: rounds, kills, the bomb, results of markets (those of one moment
are one row), suspensions of the map's winner and why, commands, and what moved home's chance of the map.

A fact and the price that it made are written in one transaction, so that their rows of the change log have
nearly one timestamp: that is how a move of the price is known to be of a fact. A move without one is of a
command of that moment, or else of what changes all the time (clock, health, equipment): all such moves up to
the next fact are one row.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple
from uuid import UUID

import msgspec
from msgspec.structs import replace

from app.domain.changes import RoundLive
from app.domain.entrants import Player
from app.domain.ids import match_urn
from app.domain.market import MATCH_WINNER, Market, MarketKey, market_name
from app.domain.match import Match, Round, TimelineEvent
from app.domain.settlement import LedgerEntry
from app.domain.suspension_reasons import OF_PLAY, market_reason_code
from app.kit.grouping import grouped
from app.kit.heavy_work import run_in_thread
from app.sites.console.match_chart import winner_of_map
from app.sites.console.site import CONSOLE, market_path
from app.sites.pages.market_names import account_of_player, players_of
from app.sites.pages.settlements import kind_of
from app.store import match_changes, operator_commands
from app.store.match_changes import LoggedChange
from app.store.operator_commands import ExecutedCommand
from app.store.transaction import Row, Tx

HAPPENED = "happened"  #: the table
ROWS = 60  #: of the table, the newest
_READ = 1_500  #: changes that one read has at most: some more rounds than the rows show
_HELD = 4 * ROWS  #: rows that are held, for a round that begins again takes some away
_MANY = 100  #: changes that are decoded outside the event loop
_TOGETHER_MILLIS = 10  #: between two changes of one transaction, at most
_OF_COMMAND_MILLIS = 100  #: between a command and what it changed, at most
_LEAST_MOVE = 0.0005  #: of a chance, that is shown beside a fact
_LEAST_DRIFT = 0.01  #: of a chance, that is a row of its own
_MATCH_WINNER: MarketKey = (MATCH_WINNER, "team=home")


class Suspension(msgspec.Struct, frozen=True):
    """Why a market was not on offer, and until when (Unix ms; None: it is not); whether play explains it."""

    reason: str
    explained: bool
    until: int | None = None


class Results(msgspec.Struct, frozen=True):
    """Entries of the ledger of one moment that do the same (`kind`), and how many have each result. `market`:
    that of a single entry, with the player whom it is about."""

    kind: str
    count: int
    last_id: int
    results: tuple[tuple[str, int], ...]
    reason: str
    market: MarketKey | None
    player: Player | None = None


class Drift(msgspec.Struct, frozen=True):
    """Moves of the price without a fact; `round`: in which round of play, 0 outside of play."""

    round: int


class CommandName(msgspec.Struct, frozen=True):
    """A command of an operator; `undone`: another one took it back."""

    executed: ExecutedCommand
    undone: bool


What = TimelineEvent | Round | CommandName | Results | Suspension | Drift


class HappenedRow(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened at `at` (Unix ms). `cause`: what results rest on; those of a kill, or of the
    bomb, are in its own row (`settled`). `chance`: home's of the map, or of the match while none is played,
    before and after; None where this did not move it. `path`: where the
    evidence is, "" without any; `market`: the page of the market whose chance that is."""

    key: str
    at: int
    home: str
    away: str
    what: What
    cause: What | None = None
    settled: Results | None = None
    chance: tuple[float, float] | None = None
    path: str = ""
    market: str = ""


class _Placed(NamedTuple):
    """A row, and its place in the order of the list."""

    place: tuple[int, int]
    row: HappenedRow


class HappenedReader:
    """Reads the list of one match: once from the change log, then what is newer."""

    def __init__(self, match_id: UUID) -> None:
        self._match_id = match_id
        self._list: HappenedList | None = None
        self._history = self._seq = 0
        self._revision = -1

    async def read(self, tx: Tx, match: Match) -> dict[str, HappenedRow]:
        """The rows by key, newest first. One statement, and further ones where operators gave commands, or a
        player's market alone has a result."""
        known = self._list if self._history == tx.history else None
        rows = await self._changes(tx, match, self._seq if known else 0)
        if known and len(rows) == _READ:  # there may be more in between
            known, rows = None, await self._changes(tx, match, 0)
        commands: Sequence[ExecutedCommand] = ()
        if known is None or self._revision != match.revision:
            commands = await operator_commands.listing(tx, match.id, limit=ROWS)
        decode = match_changes.decoded
        changes = await run_in_thread(decode, rows) if len(rows) > _MANY else decode(rows)
        happened = known or HappenedList(match)
        happened.add(changes, commands)
        await happened.name_players(tx)
        seq = max([self._seq if known else 0, match.last_seq, *(row["seq"] for row in rows[:1])])
        self._list, self._history, self._seq, self._revision = happened, tx.history, seq, match.revision
        return {row.key: row for row in happened.rows(match)}

    async def _changes(self, tx: Tx, match: Match, after: int) -> list[Row]:
        numbers = range(1, max(match.best_of, len(match.maps)) + 1)
        names = [market_name(*key) for key in (_MATCH_WINNER, *map(winner_of_map, numbers))]
        return await match_changes.of_match(tx, match.id, names, after, limit=_READ, every_entry=True)


class HappenedList:
    """The list, to which `add` adds what is newer."""

    def __init__(self, match: Match) -> None:
        self._number, self._names = match.number, (match.home, match.away)
        self._placed: dict[str, _Placed] = {}
        self._winners: dict[MarketKey, Market] = {}
        self._commands: list[tuple[int, str]] = []
        self._round = 0  # that is played, 0 outside of play
        self._drift = ""  # the row of the moves since the last fact
        self._suspension = ""  # the row of the present one
        self._players: dict[int, Player | None] = {}  # by account; reference data need not know them

    def add(self, changes: Sequence[LoggedChange], commands: Iterable[ExecutedCommand]) -> None:
        """Add changes, which are newer than those before, and the newest commands, known ones too."""
        self._commands = []
        for each in commands:
            key = f"c{each.revision}"
            self._commands.append((each.at, key))
            self._put(key, (each.at, 0), each.at, CommandName(each, each.undone_by is not None))
        for moment in _moments(changes):
            self._add_moment(moment)
        newest = sorted(self._placed.values(), key=lambda one: one.place, reverse=True)[:_HELD]
        self._placed = {one.row.key: one for one in newest}

    async def name_players(self, tx: Tx) -> None:
        """Read the players whom results of a single market are about, unless they are known."""
        for key, placed in self._placed.items():
            field = "settled" if placed.row.settled else "what"
            what = getattr(placed.row, field)
            if not isinstance(what, Results) or what.market is None or what.player is not None:
                continue
            account = account_of_player(what.market)
            if account is None:
                continue
            if account not in self._players:
                self._players[account] = (await players_of(tx, [what.market])).get(account)
            if player := self._players[account]:
                row = replace(placed.row, **{field: replace(what, player=player)})
                self._placed[key] = _Placed(placed.place, row)

    def rows(self, match: Match) -> list[HappenedRow]:
        """The newest rows, newest first, with the teams as they are called now."""
        names = {"home": match.home, "away": match.away}
        newest = sorted(self._placed.values(), key=lambda one: one.place, reverse=True)
        shown = [one.row for one in newest if _is_shown(one.row)][:ROWS]
        return [
            row if row.home == match.home and row.away == match.away else replace(row, **names)
            for row in shown
        ]

    def _add_moment(self, moment: Sequence[LoggedChange]) -> None:
        cause = ""
        for change in moment:
            if isinstance(change.what, RoundLive | Round | TimelineEvent):
                cause = self._add_fact(change, change.what) or cause
        if not cause:
            at = moment[0].at
            given = (key for begun, key in self._commands if 0 <= at - begun <= _OF_COMMAND_MILLIS)
            cause = next(given, "")
        self._add_results([(each, each.what) for each in moment if isinstance(each.what, LedgerEntry)], cause)
        for change in moment:
            if isinstance(change.what, Market):
                self._add_price(change, change.what, cause)

    def _add_fact(self, change: LoggedChange, what: RoundLive | Round | TimelineEvent) -> str:
        """The key of the fact's row; "" without one."""
        if isinstance(what, RoundLive):
            # A round that begins once more was broken off: what happened in it does not count.
            self._remove(lambda event: event.map == what.map and event.round >= what.round)
            self._round, self._drift = what.round, ""
            return ""
        key = f"e{what.id}" if isinstance(what, TimelineEvent) else f"r{what.id}"
        if isinstance(what, Round):
            self._round = 0
        if what.void:
            self._placed.pop(key, None)
            if isinstance(what, Round):
                self._remove(lambda event: (event.map, event.round) == (what.map, what.number))
            return ""
        at = what.at if isinstance(what, TimelineEvent) else what.ended_at
        self._put(key, (change.at, change.seq), at, what)
        return key

    def _remove(self, gone: Callable[[TimelineEvent], bool]) -> None:
        self._placed = {
            key: one
            for key, one in self._placed.items()
            if not (isinstance(one.row.what, TimelineEvent) and gone(one.row.what))
        }

    def _add_results(self, entries: Iterable[tuple[LoggedChange, LedgerEntry]], cause: str) -> None:
        """A row for all entries that do the same."""
        groups = grouped((kind_of(entry), (change, entry)) for change, entry in entries)
        for kind, group in groups.items():
            (first, _), (last, entry) = group[0], group[-1]
            counts = Counter(each.result.value for _, each in group if each.result)
            alone = entry.key if len(group) == 1 else None
            what = Results(
                kind, len(group), entry.id, tuple(sorted(counts.items(), reverse=True)), entry.reason, alone
            )
            path = f"{CONSOLE.path}/settlements/{entry.id}"
            if alone is None:
                path = f"{CONSOLE.path}/settlements?match={match_urn(self._number)}&before={entry.id + 1}"
            rests_on = self._placed[cause].row.what if cause in self._placed else None
            if kind == "settled" and isinstance(rests_on, TimelineEvent):
                self._update(cause, settled=what, path=path)
                continue
            self._put(f"s{first.seq}", (last.at, last.seq), last.at, what, path=path)
            self._update(f"s{first.seq}", cause=rests_on)

    def _add_price(self, change: LoggedChange, market: Market, cause: str) -> None:
        before = self._winners.get(market.key)
        self._winners[market.key] = market
        if market.key != self._leading():
            return
        self._add_suspension(change, market)
        if before is None or not (before.open and market.open):
            return
        if abs(market.probability - before.probability) < _LEAST_MOVE:
            return
        key = cause or self._drift
        if key not in self._placed:
            key = f"t{change.seq}"
            self._put(key, (change.at, change.seq), change.at, Drift(self._round))
            self._drift = key
        placed = self._placed[key]
        begun = placed.row.chance[0] if placed.row.chance else before.probability
        path = market_path(self._number, market.key)
        at = change.at if isinstance(placed.row.what, Drift) else placed.row.at
        self._update(key, at=at, chance=(begun, market.probability), market=path)

    def _leading(self) -> MarketKey:
        """The winner of the first map whose market is open, or of the match."""
        maps = sorted(key for key, one in self._winners.items() if one.open and key != _MATCH_WINNER)
        return maps[0] if maps else _MATCH_WINNER

    def _add_suspension(self, change: LoggedChange, market: Market) -> None:
        code = market_reason_code(market)
        last = self._placed.get(self._suspension)
        present = last.row.what if last else None
        if isinstance(present, Suspension):
            if code and present.reason == market.reason:
                return
            self._update(self._suspension, what=replace(present, until=change.at))
            self._suspension = ""
        if code:
            self._suspension = f"p{change.seq}"
            what = Suspension(market.reason, code in OF_PLAY)
            path = market_path(self._number, market.key)
            self._put(self._suspension, (change.at, change.seq), change.at, what, path=path)

    def _put(self, key: str, place: tuple[int, int], at: int, what: What, *, path: str = "") -> None:
        """Add a row, or replace what it says: an event may be reported once more, with more data."""
        if known := self._placed.get(key):
            self._placed[key] = _Placed(known.place, replace(known.row, what=what))
            return
        self._drift = ""
        home, away = self._names
        self._placed[key] = _Placed(
            place, HappenedRow(key=key, at=at, home=home, away=away, what=what, path=path)
        )

    def _update(self, key: str, **fields: object) -> None:
        placed = self._placed[key]
        self._placed[key] = _Placed(placed.place, replace(placed.row, **fields))


def _moments(changes: Iterable[LoggedChange]) -> list[list[LoggedChange]]:
    """The changes of each transaction, in order."""
    moments: list[list[LoggedChange]] = []
    for change in changes:
        if moments and change.at - moments[-1][-1].at <= _TOGETHER_MILLIS:
            moments[-1].append(change)
        else:
            moments.append([change])
    return moments


def _is_shown(row: HappenedRow) -> bool:
    if not isinstance(row.what, Drift):
        return True
    return row.chance is not None and abs(row.chance[1] - row.chance[0]) >= _LEAST_DRIFT

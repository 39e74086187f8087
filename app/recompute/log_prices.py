"""The rounds, prices and results of the log of any server: what the service would publish if the
server sent it these lines, one second after the other, with nothing lost and nobody trading.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

import msgspec

from app.commands.match_reaction import MatchUpdate
from app.domain import catalogue, fixture
from app.domain.changes import RoundLive
from app.domain.entrants import account_of
from app.domain.facts import MapEnded, SideNamed
from app.domain.ids import entrant_number
from app.domain.market import ACTIVE, Market, MarketKey, Result, market_name, specifier_values
from app.domain.match import Match, Round, Side, Status, Team, WinReason
from app.domain.settlement import LedgerEntry, LedgerStatus
from app.ingest import cs2log
from app.ingest.cs2log.reader import split_timestamp
from app.kit.errors import BadRequest
from app.recompute.match_run import MatchRun
from app.trading.pricing import PricingConfig

#: Points that a team has by default: both the same, so that prices rest on what is played alone.
EVEN_STRENGTH = 1500.0
_ID = UUID(int=1)
_MAX_DISORDER_MILLIS, _BETWEEN_RUNS_MILLIS = 2_000, 1_000
_EXAMPLE = "L 01/19/2026 - 18:59:42: World triggered"


class PriceRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Who plays and how prices are made. `home` and `away` are the teams' names as the log has them, "" for
    those that it names; strengths in points of the public ranking."""

    home: str = ""
    away: str = ""
    home_strength: float = EVEN_STRENGTH
    away_strength: float = EVEN_STRENGTH
    best_of: int = 1
    pricing: PricingConfig = PricingConfig()


class PricedMarket(msgspec.Struct, frozen=True):
    """A market on offer: its key as text, the same in words, decimal odds with margin, and the chance without
    it."""

    market: str
    name: str
    odds: Decimal
    probability: float


class PricedRound(msgspec.Struct, frozen=True, kw_only=True):
    """A round with the prices at the end of its freeze time. Times in Unix ms, as if the log's clock were
    UTC; `home_score` and `away_score` are rounds won before it. `winner` and `reason` are None where the
    round did not count, or its end is not in the log. `suspended` is why nothing was on offer, or ""."""

    map: int
    map_name: str
    round: int
    at: int
    home_score: int
    away_score: int
    home_side: Side | None
    prices: tuple[PricedMarket, ...]
    suspended: str = ""
    winner: Team | None = None
    reason: WinReason | None = None


class MarketResult(msgspec.Struct, frozen=True, kw_only=True):
    """What the ledger says of a market in the end; `rests_on` are ids of rounds and events."""

    market: str
    name: str
    status: LedgerStatus
    result: Result | None
    reason: str
    rests_on: tuple[int, ...]


class MapScore(msgspec.Struct, frozen=True):
    name: str
    home_score: int
    away_score: int
    winner: Team | None


class LogPrices(msgspec.Struct, frozen=True, kw_only=True):
    """All that is computed from a log. `assumptions` are sentences about what the log does not say;
    `unread_lines` look like play and were not understood; `rollbacks`: how many results were taken back."""

    home: str
    away: str
    status: Status
    winner: Team | None
    maps: tuple[MapScore, ...]
    assumptions: tuple[str, ...]
    lines: int
    unread_lines: tuple[str, ...]
    rollbacks: int
    rounds: tuple[PricedRound, ...]
    results: tuple[MarketResult, ...]


def price_log(log: bytes, request: PriceRequest) -> LogPrices:
    """Compute everything from a log; raises `BadRequest`, which says what to do, for teams that cannot
    be, for what is no log, and for a log without a round."""
    bodies = list(_moments(log))
    if not bodies:
        raise BadRequest(
            f"No line begins with a time as Counter-Strike 2 servers write it ({_EXAMPLE} …): give the file"
            " that a server writes with `log on`, or what it posts with `logaddress_add_http`."
        )
    pricing = _Pricing(log, bodies[0][0], request)
    for at, body in bodies:
        pricing.advance(at)
        pricing.note(pricing.run.lines(body, at))
    pricing.advance(None)
    return pricing.found()


def _moments(log: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines of each moment of the log, with its time, which never falls: where the log's clock goes back,
    it was set, or another run of the server begins, which then follows a second later. Lines without a time
    belong to the moment before them."""
    at, shift, lines = 0, 0, list[bytes]()
    for line in log.splitlines(keepends=True):
        found = split_timestamp(line.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").rstrip("\r\n"))
        if found is not None:
            if found[0] + shift < at - _MAX_DISORDER_MILLIS:
                shift = at + _BETWEEN_RUNS_MILLIS - found[0]
            if found[0] + shift > at:
                if at:
                    yield at, b"".join(lines)
                    lines = []
                at = found[0] + shift
        lines.append(line)
    if at:
        yield at, b"".join(lines)


class _Frozen(NamedTuple):
    """The match at a moment of a freeze time (`at`), and the markets on offer then."""

    match: Match
    at: int
    offered: list[Market]


class _Pricing:
    """The computation: a run, and what is noted of each of its transactions."""

    def __init__(self, log: bytes, begin: int, request: PriceRequest) -> None:
        match, self._assumptions = _match_of(log, begin, request)
        self.run = MatchRun(match, request.pricing)
        self.run.open(begin)
        self._frozen: dict[tuple[int, int], _Frozen] = {}
        self._players: dict[int, str] = {}

    def advance(self, until: int | None) -> None:
        """Let time pass up to the next line; after the last one only until the map has ended by the rules."""
        while (due := self.run.due_at) is not None and (until is None or due < until):
            if until is None and self.run.reprice_at is not None:
                break
            self.note(self.run.on_clock(due))

    def note(self, update: MatchUpdate) -> None:
        """Note the names of players, and the prices of a round while it waits to go live."""
        match, current = self.run.match, self.run.match.current
        self._players |= {one.account: one.name for one in match.loadouts}
        if current is None or match.over:
            return
        key = current.map, current.number
        if current.phase == "freeze" or (key not in self._frozen and _went_live(update, key)):
            offered = [one for one in self.run.book.values() if one.status is ACTIVE]
            self._frozen[key] = _Frozen(match, update.now, offered)

    def _priced(self, frozen: _Frozen, played: Round | None) -> PricedRound:
        match, play, current = frozen.match, frozen.match.map, frozen.match.current
        assert play is not None and current is not None
        return PricedRound(
            map=play.number,
            map_name=play.name,
            round=current.number,
            at=frozen.at,
            home_score=play.home_score,
            away_score=play.away_score,
            home_side=play.home_side,
            prices=tuple(
                PricedMarket(market_name(*one.key), self._words(one.key), one.odds, one.probability)
                for one in sorted(frozen.offered, key=lambda market: market.key)
            ),
            suspended="" if frozen.offered else match.suspended or match.pause or "not on offer",
            winner=played.winner if played else None,
            reason=played.win_reason if played else None,
        )

    def _words(self, key: MarketKey) -> str:
        values = specifier_values(key[1])
        words = {"home": self.run.match.home, "away": self.run.match.away}
        named = {"team": words[values["team"]]} if values.get("team") in words else {}
        for name in ("player", "opponent"):
            account = account_of(entrant_number(values.get(name, ""), "player") or 0)
            if account in self._players:
                named[name] = self._players[account]
        return catalogue.name_of(key, "en", named)

    def found(self) -> LogPrices:
        match = self.run.match
        counted = {(one.map, one.number): one for play in match.maps for one in play.counted}
        if not counted and not self._frozen:
            raise BadRequest(_without_rounds(match, self.run.known_lines))
        played = [play for play in match.maps if play.status != "upcoming"]
        return LogPrices(
            home=match.home,
            away=match.away,
            status=match.status,
            winner=match.winner,
            maps=tuple(MapScore(one.name, one.home_score, one.away_score, one.winner) for one in played),
            assumptions=(*self._assumptions, *_about_end(match)),
            lines=self.run.known_lines,
            unread_lines=tuple(self.run.unread),
            rollbacks=sum(one.new_status is LedgerStatus.PENDING for one in self.run.ledger),
            rounds=tuple(self._priced(self._frozen[key], counted.get(key)) for key in sorted(self._frozen)),
            results=tuple(map(self._result, _standing(self.run.ledger))),
        )

    def _result(self, entry: LedgerEntry) -> MarketResult:
        return MarketResult(
            market=market_name(*entry.key),
            name=self._words(entry.key),
            status=entry.new_status,
            result=entry.result,
            reason=entry.reason,
            rests_on=entry.rests_on,
        )


def _match_of(log: bytes, begin: int, request: PriceRequest) -> tuple[Match, list[str]]:
    """The match before play, and what is assumed of it."""
    facts = cs2log.read(log, begin).facts
    names = _teams([fact.team for fact in facts if isinstance(fact, SideNamed) and fact.team])
    home, away, assumptions = request.home, request.away, list[str]()
    if bool(home) != bool(away):
        raise BadRequest("Give both teams by name, or none.", code="half_a_pair")
    if not home:
        home, away = names or ("Team A", "Team B")
    if " ".join(home.casefold().split()) == " ".join(away.casefold().split()):
        raise BadRequest(f"Both teams are called {home!r}: give two names.", code="same_team")
    match = Match(
        id=_ID,
        number=1,
        home=home,
        away=away,
        event="",
        best_of=request.best_of,
        scheduled_at=begin,
        home_strength=request.home_strength,
        away_strength=request.away_strength,
    )
    if not names:
        match, _ = fixture.set_sides(match, "home", begin)
        assumptions.append(f"The log names no teams: {home} is the one that begins on the CT side.")
    strengths = f"{request.home_strength:g} and {request.away_strength:g} points"
    assumptions.append(f"{home} and {away} are rated {strengths}, and nothing is known of their players.")
    ended = sum(isinstance(fact, MapEnded) for fact in facts)
    more = f", and the log ends {ended} maps" if ended > request.best_of else ""
    assumptions.append(f"The match is a best of {request.best_of}{more}.")
    pricing = request.pricing
    assumptions.append(f"The margin is {pricing.margin:.1%}; there are no reference prices and no commands.")
    return match, assumptions


def _teams(names: Sequence[str]) -> tuple[str, str] | None:
    """The two teams that the log names most often, in the order in which it does first; None for fewer."""
    often = [name for name, _ in Counter(names).most_common(2)]
    if len(often) < 2:
        return None
    first, second = sorted(often, key=list(names).index)
    return first, second


def _went_live(update: MatchUpdate, key: tuple[int, int]) -> bool:
    return any(isinstance(one, RoundLive) and (one.map, one.round) == key for one in update.changes)


def _standing(ledger: Sequence[LedgerEntry]) -> list[LedgerEntry]:
    """The last entry of each market that has a result, in the order of the ledger."""
    last = {entry.key: entry for entry in ledger}
    return [entry for entry in last.values() if entry.new_status is not LedgerStatus.PENDING]


def _about_end(match: Match) -> list[str]:
    if match.over:
        return []
    why = f": {match.suspended}" if match.suspended else ""
    return [f"The log ends before the match does{why}; markets without a result are still open."]


def _without_rounds(match: Match, lines: int) -> str:
    why = f" ({match.suspended})" if match.suspended else ""
    return (
        f"The log has {lines} lines that are understood and no round that counts{why}: give a log that"
        " contains a map from its start (`Match_Start`) on."
    )

"""The chart of a match, and of any of its markets: our chance and what was on sale through time, why offers
were suspended, what the reference prices said before play, and what happened meanwhile.

A page that moves has everything up to some place in the change log, and requests what is newer: a response
names the place up to which it reaches (`since`). Where that is a place of another market, or of another
history of the database, the response has the whole chart.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec
from litestar import Response
from litestar.params import FromPath, FromQuery

from app.domain.changes import RoundLive
from app.domain.market import (
    MAP_WINNER,
    MATCH_WINNER,
    Market,
    MarketKey,
    MarketStatus,
    market_name,
    specifier_values,
)
from app.domain.match import MapPlay, Match, Round, Side, Team, TimelineEvent
from app.domain.settlement import LedgerEntry
from app.domain.suspension_reasons import OF_PLAY, in_words, market_reason_code
from app.http.handlers import get
from app.kit.heavy_work import run_in_thread
from app.sites.console.fact_texts import command_in_words, event_in_words, round_in_words
from app.sites.console.market_page import market_of
from app.sites.console.site import Console, ConsoleDependencies
from app.sites.pages.market_history import POINTS
from app.sites.pages.market_names import names_of
from app.sites.pages.rendering import HEADERS, texts_for
from app.sites.pages.sessions import SignedInRequest
from app.sites.pages.settlements import kind_of
from app.sites.pages.texts import Texts
from app.store import match_changes, matches, operator_commands
from app.store.match_changes import LoggedChange
from app.store.operator_commands import ExecutedCommand
from app.store.transaction import Row, Tx
from app.trading.map_scores import match_finals

_COMMANDS = 200  #: commands of operators that are shown at most, the newest
_STEPS = 40  #: of a bisection: far below what a plot can show


class Point(msgspec.Struct, frozen=True, array_like=True):
    """From `at` (Unix ms) on: home's chance, or the market's, by our model (None while the market has a
    result); the odds on sale (None while none are); why none are; and whether play explains that."""

    at: int
    chance: float | None
    odds: float | None
    reason: str = ""
    explained: bool = True


class ChartFact(msgspec.Struct, frozen=True, array_like=True):
    """Something that happened at `at` (Unix ms). `kind`: of the event; `begin` and `round` for a round's
    beginning and end, `void` for a round that does not count any more, `command` for one of an operator, else
    what an entry of the ledger does. `team` and `side` are those of the player, or of the round's
    winner. A fact with the id of an earlier one replaces it."""

    id: str
    at: int
    kind: str
    text: str = ""
    map: int = 0
    round: int = 0
    team: Team | None = None
    side: Side | None = None


class Chart(msgspec.Struct, frozen=True, kw_only=True):
    """What is newer than a place in the change log; `since` is the place up to which this reaches. `whole`:
    it is everything, and replaces what was there. `label`: what the chance is of. `facts` are in the order of
    the change log, then commands. `reference`: the same chance before play by reference prices. `complete`:
    nothing that the change log has was left out."""

    since: str
    whole: bool
    now: int
    label: str
    points: list[Point]
    facts: list[ChartFact]
    reference: float | None
    complete: bool


class Place(NamedTuple):
    """A place in the change log of a match, and what was read up to it: the history of the database, the
    match's revision, and the market that the chart is of."""

    history: int
    seq: int
    revision: int
    market: str

    @property
    def text(self) -> str:
        return f"{self.history}.{self.seq}.{self.revision}.{self.market}"


def place_in(text: str) -> Place | None:
    """The place that a browser sends back; None for any other text."""
    parts = text.split(".", 3)
    if len(parts) != 4 or not all(one.isascii() and one.isdecimal() and len(one) < 19 for one in parts[:3]):
        return None
    history, seq, revision = map(int, parts[:3])
    return Place(history, seq, revision, parts[3])


@get("/matches/{ref:str}/chart.json", opt={"query": ("since",)})
async def match_chart(
    request: SignedInRequest, console: Console, ref: FromPath[str], since: FromQuery[str] = ""
) -> Response[Any]:
    """Home's chance of the map in play, or of the match while none is."""
    async with console.store.snapshot() as tx:
        match = await matches.by_ref(tx, ref)
        return await _chart(tx, request, console, match, chart_market(match), since, clipped=True)


@get("/matches/{ref:str}/markets/{name:str}/chart.json", opt={"query": ("since",)})
async def market_chart(
    request: SignedInRequest,
    console: Console,
    ref: FromPath[str],
    name: FromPath[str],
    since: FromQuery[str] = "",
) -> Response[Any]:
    """The chance and the price of a market."""
    async with console.store.snapshot() as tx:
        match, market = await market_of(tx, ref, name)
        return await _chart(tx, request, console, match, market.key, since, clipped=False)


def chart_market(match: Match) -> MarketKey:
    """Home to win the map in play, or the last one of a match that is over; to win the match before play and
    between maps."""
    last = match.maps[-1] if match.over and match.maps else None
    play = match.map or last
    return winner_of_map(play.number) if play else (MATCH_WINNER, "team=home")


def winner_of_map(number: int) -> MarketKey:
    return MAP_WINNER, f"map={number}|team=home"


def reference_of(match: Match, key: MarketKey) -> float | None:
    """The chance before play that a winner's market has by the reference prices, which are of the match: of a
    map, the chance with which maps that are all alike give that of the match. None for other markets."""
    home, type_id, values = match.references.home, key[0], specifier_values(key[1])
    if home is None or type_id not in (MATCH_WINNER, MAP_WINNER):
        return None
    chance = home if type_id == MATCH_WINNER else _of_map(match.best_of, home)
    return round(chance if values.get("team") == "home" else 1 - chance, 4)


def _of_map(best_of: int, chance: float) -> float:
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        ends = match_finals(0, 0, best_of, (middle,) * best_of)
        won = sum(part * (1.0 if home > away else 0.5) for (home, away), part in ends.items() if home >= away)
        low, high = (middle, high) if won < chance else (low, middle)
    return (low + high) / 2


async def _chart(
    tx: Tx,
    request: SignedInRequest,
    console: ConsoleDependencies,
    match: Match,
    key: MarketKey,
    since: str,
    *,
    clipped: bool,
) -> Response[Any]:
    """The response; `clipped`: what was before the market's map began is left out."""
    texts, name, place = texts_for(request), market_name(*key), place_in(since)
    if place and (place.history, place.market) != (tx.history, name):
        place = None
    after = place.seq if place else 0
    rows = await match_changes.of_match(tx, match.id, [name], after, limit=POINTS + 1, every_entry=False)
    commands: list[ExecutedCommand] = []
    if place is None or place.revision != match.revision:
        listed = await operator_commands.listing(tx, match.id, limit=_COMMANDS)
        commands = [each for each in listed if place is None or each.revision > place.revision]
    label = (await names_of(tx, texts, [key])).name(key, match.home, match.away)
    points, facts = await run_in_thread(_read, rows[:POINTS], texts, match, key)
    begins = _begins(match, key) if clipped and place is None else 0
    points, facts = _from(points, begins), [fact for fact in facts if fact.at >= begins]
    first = points[0].at if points and place is None else 0
    given = [
        ChartFact(f"c{each.revision}", each.at, "command", command_in_words(texts, each))
        for each in commands
        if each.at >= first
    ]
    seq = max([after, match.last_seq, *(row["seq"] for row in rows[:1])])
    chart = Chart(
        since=Place(tx.history, seq, match.revision, name).text,
        whole=place is None or len(rows) > POINTS,
        now=console.clock(),
        label=label,
        points=points,
        facts=[*facts, *given],
        reference=reference_of(match, key),
        complete=len(rows) <= POINTS,
    )
    return Response(chart, media_type="application/json", headers=dict(HEADERS))


def _begins(match: Match, key: MarketKey) -> int:
    """When the map of a market began, as far as it is known: what was before is another match for its chart.
    0 for markets of no map."""
    number = specifier_values(key[1]).get("map", "")
    play = next((each for each in match.maps if str(each.number) == number), None)
    return _began(match, play) if play else 0


def _began(match: Match, play: MapPlay) -> int:
    if play.rounds:
        return play.rounds[0].started_at
    current = match.current
    return (current.opened_at if current and current.map == play.number else 0) or play.started_at or 0


def _from(points: list[Point], begins: int) -> list[Point]:
    """The points from `begins` on, of which the first has what was so then."""
    before = [point for point in points if point.at < begins][-1:]
    return [msgspec.structs.replace(point, at=begins) for point in before] + points[
        sum(point.at < begins for point in points) :
    ]


def _read(
    rows: Sequence[Row], texts: Texts, match: Match, key: MarketKey
) -> tuple[list[Point], list[ChartFact]]:
    changes = match_changes.decoded(rows)
    of_map = specifier_values(key[1]).get("map", "")
    found = (fact_of(texts, match, each) for each in changes)
    facts = [fact for fact in found if fact and (not of_map or fact.map in (0, int(of_map)))]
    return _points(changes, texts), facts


def _points(changes: Iterable[LoggedChange], texts: Texts) -> list[Point]:
    points: list[Point] = []
    for change in changes:
        if isinstance(change.what, Market):
            point = _point(change.at, change.what, texts)
            if not points or msgspec.structs.replace(points[-1], at=point.at) != point:
                points.append(point)
    return points


def _point(at: int, market: Market, texts: Texts) -> Point:
    on_sale = float(market.odds) if market.status is MarketStatus.ACTIVE else None
    chance = round(market.probability, 4) if market.open else None
    if code := market_reason_code(market):
        return Point(at, chance, None, in_words(market.reason, texts.locale) or code, code in OF_PLAY)
    return Point(at, chance, on_sale)


def fact_of(texts: Texts, match: Match, change: LoggedChange) -> ChartFact | None:
    """The change as a fact; None for one of a market."""
    names = match.home, match.away
    match change.what:
        case TimelineEvent() as event:
            return ChartFact(
                f"e{event.id}",
                event.at,
                event.type,
                event_in_words(texts, event, *names),
                event.map,
                event.round,
                event.actor_team,
                event.side,
            )
        case RoundLive() as begun:
            return ChartFact(f"b{change.seq}", change.at, "begin", "", begun.map, begun.round)
        case Round() as played:
            return ChartFact(
                f"r{played.id}",
                played.ended_at,
                "void" if played.void else "round",
                round_in_words(texts, played, *names),
                played.map,
                played.number,
                played.winner,
                played.winning_side,
            )
        case LedgerEntry() as entry:
            return ChartFact(f"l{entry.id}", change.at, kind_of(entry), _outcome(texts, entry))
    return None


def _outcome(texts: Texts, entry: LedgerEntry) -> str:
    kind = kind_of(entry)
    what = texts(f"settlements.kinds.{kind}")
    if kind == "settled" and entry.result:
        what += f": {texts(f'settlements.results.{entry.result.value}')}"
    return f"{what}. {entry.reason}" if entry.reason else what

"""Which markets may be on offer in one phase of a match: types, specifiers, groups, in order.

A plan depends on the phase alone, so it is made when a round begins and serves every line of that round: what
is left to do for a line is to look up chances and the book. `offer_plan` caches those of the matches in play.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from app.domain.market import ACTIVE, CLOSED, HELD, OPEN, SUSPENDED, Book, Market, MarketKey
from app.domain.match import Match
from app.domain.suspension_reasons import OFF_OFFER
from app.domain.trading_controls import LINE_WITHDRAWN
from app.trading.forecast import Forecast
from app.trading.lines import LineSequence
from app.trading.match_facts import collect_facts
from app.trading.match_phase import MatchPhase
from app.trading.registry import RULES
from app.trading.rules import Ladder, Rule, Specifiers, choose, nearest, places_near, reach, stays

_NO_LINES: frozenset[float] = frozenset()
_WITHDRAWN = (OFF_OFFER, LINE_WITHDRAWN)  #: why a line is no longer on offer although its match is


#: What a market is about: a round, a player, or else a map or the match.
Scope = Literal["round", "map", "player"]


class PlannedMarket(NamedTuple):
    """A market that may be on offer, with the rule that prices it."""

    key: MarketKey
    rule: Rule
    specifiers: Specifiers

    @property
    def scope(self) -> Scope:
        return "round" if self.specifiers.round else "player" if self.specifiers.player else "map"


class PlannedGroup(NamedTuple):
    """Markets of which exactly one wins. `keys` are those of the `markets`, `scopes` what these are about.
    `pair`: two, of which the second wins where the first does not. `of_round`: they are about one round.
    `ladder`: what it shares with the groups that differ by their line alone; "" without a line."""

    name: str
    markets: tuple[PlannedMarket, ...]
    keys: tuple[MarketKey, ...]
    scopes: tuple[Scope, ...]
    pair: bool = False
    of_round: bool = False
    ladder: str = ""

    def prices(self, forecast: Forecast) -> Sequence[float]:
        """The probability of each market."""
        if self.pair:
            _, rule, specifiers = self.markets[0]
            chance = rule.price(forecast, specifiers)
            return chance, 1 - chance
        return [rule.price(forecast, specifiers) for _, rule, specifiers in self.markets]


PricedGroup = tuple[PlannedGroup, Sequence[float]]  #: a group, and the probability of each of its markets


class LineGroups(dict[float, PlannedGroup]):
    """The groups that differ by their line alone, by line, each made when it is first read; `bases` are the
    members of each, without the line."""

    def __init__(self, bases: tuple[PlannedMarket, ...]) -> None:
        self.bases = bases

    def __missing__(self, line: float) -> PlannedGroup:
        markets = tuple(
            planned_market(base.rule, base.rule.ladder.place(base.specifiers, line))
            for base in self.bases
            if base.rule.ladder
        )
        base = self.bases[0]
        group = planned_group(markets[0].rule.group(markets[0].specifiers), markets)
        found = self[line] = group._replace(ladder=base.rule.group(base.specifiers))
        return found


class PlannedLadder(NamedTuple):
    """Groups of which those are on offer whose lines are nearest to evens. Lines move between rounds: in a
    `live` one none comes on."""

    ladder: Ladder
    groups: LineGroups
    size: int
    live: bool

    def on_offer(self, forecast: Forecast, book: Book) -> list[PricedGroup]:
        """The groups that are on offer now, given those that were until now."""
        free, standing, groups, farthest = [], set(), self.groups, 1.0
        lines = self.ladder.lines(forecast, groups.bases[0].specifiers)
        added = withdrawn = _NO_LINES
        if forecast.match.controls.lines:
            added, withdrawn = self._set_by_traders(forecast, lines, book)
        elif self.live:
            return self._standing(lines, book)
        for one in nearest(lines, self.size + len(withdrawn)):
            line, chance = one
            if abs(chance - 0.5) > farthest:
                break
            if line in withdrawn:
                continue
            stands = _group_stands(groups[line], book)
            if stands:
                standing.add(line)
            if stands or not (self.live or stands is None):
                free.append(one)
                if len(free) == self.size and not self.live:  # no line beyond its reach can be chosen
                    farthest = reach(chance)
        chosen = choose(free, standing, 0 if self.live else self.size)
        if added:
            offered = [groups[line] for line in sorted({*chosen, *added})]
            return [(group, group.prices(forecast)) for group in offered]
        over = dict(free)
        return [(groups[line], (over[line], 1 - over[line])) for line in chosen]

    def _standing(self, lines: LineSequence, book: Book) -> list[PricedGroup]:
        """The groups that are on offer and near enough to evens to stay."""
        found: list[PricedGroup] = []
        groups, between, tails = self.groups, lines.between, lines.tails
        for place in places_near(lines, self.size):
            group = groups[between[place]]
            if group.keys[0] in book and _group_stands(group, book):
                chance = tails[place + 1]
                if stays(chance):
                    found.append((group, (chance, 1 - chance)))
        return found

    def _set_by_traders(
        self, forecast: Forecast, lines: LineSequence, book: Book
    ) -> tuple[frozenset[float], frozenset[float]]:
        """The lines that traders have added and may be on offer, and those that they have withdrawn."""
        added = {one.group: one.added for one in forecast.match.controls.lines}
        named = {line: group for line in lines.lines if (group := self.groups[line]).name in added}
        return (
            frozenset(
                line
                for line, group in named.items()
                if added[group.name] and _group_stands(group, book) is not None
            ),
            frozenset(line for line, group in named.items() if not added[group.name]),
        )


def _group_stands(group: PlannedGroup, book: Book) -> bool | None:
    """Whether the group has been on offer until now, or is suspended with the whole match and returns with
    it. None when it cannot be on offer. Its markets open together."""
    keys, stands = group.keys, False
    if keys[0] not in book:
        return False
    for key in keys:
        market = book.get(key)
        if market is None:
            continue
        status = market.status
        if status is ACTIVE and market.settled_by != HELD:  # most of them
            stands = True
        elif status is SUSPENDED and market.settled_by != HELD:
            stands = stands or market.reason not in _WITHDRAWN
        elif is_unavailable(market):
            return None
    return stands


OfferPlan = tuple[PlannedGroup | PlannedLadder, ...]


def offer_plan(phase: MatchPhase) -> OfferPlan:
    """The plan of this phase, made once for all reactions in it."""
    return _plan(tuple(RULES), phase)


def groups_on_offer(forecast: Forecast, book: Book) -> Iterator[PricedGroup]:
    """The groups that are on offer now, in order, without those of their markets that cannot be."""
    known_market = book.get
    for entry in offer_plan(forecast.phase):
        if isinstance(entry, PlannedLadder):
            yield from entry.on_offer(forecast, book)
            continue
        group: PlannedGroup | None = entry
        for key in entry.keys:
            known = known_market(key)
            if known is not None and (known.status is not ACTIVE or known.settled_by):
                group = _available(entry, book)
                break
        if group:
            yield group, group.prices(forecast)


def _available(group: PlannedGroup, book: Book) -> PlannedGroup | None:
    """The group without those of its markets that cannot come on offer; None if that is all of them."""
    left = [one for one in group.markets if (known := book.get(one.key)) is None or not is_unavailable(known)]
    if len(left) == len(group.markets):
        return group
    return planned_group(group.name, tuple(left))._replace(pair=False) if left else None


def possible_markets(rule: Rule, forecast: Forecast) -> Iterable[Specifiers]:
    """The type's markets that could be on offer now: of a type with lines every one that is not decided."""
    for specifiers in rule.opens(forecast.phase):
        if rule.ladder is None:
            yield specifiers
        else:
            for line, _ in rule.ladder.lines(forecast, specifiers):
                yield rule.ladder.place(specifiers, line)


@lru_cache(maxsize=512)
def _plan(types: tuple[int, ...], phase: MatchPhase) -> OfferPlan:
    groups: dict[str, list[PlannedMarket]] = {}
    for rule in (RULES[number] for number in types):
        for specifiers in rule.opens(phase):
            groups.setdefault(rule.group(specifiers), []).append(planned_market(rule, specifiers))
    ahead = {play.number for play in phase.ahead}
    return tuple(_entry(name, tuple(markets), ahead, phase.live) for name, markets in groups.items())


def _entry(
    name: str, markets: tuple[PlannedMarket, ...], ahead: set[int], live: bool
) -> PlannedGroup | PlannedLadder:
    first = markets[0]
    if first.rule.ladder is None:
        return planned_group(name, markets)
    size = first.rule.ladder.ahead if first.specifiers.map in ahead else first.rule.ladder.size
    bases = tuple((market.rule.id, market.specifiers) for market in markets)
    return PlannedLadder(first.rule.ladder, _line_groups(bases), size, live)


@lru_cache(maxsize=4096)
def _line_groups(bases: tuple[tuple[int, Specifiers], ...]) -> LineGroups:
    """The groups, made once for all phases in which these lines are on offer."""
    return LineGroups(tuple(planned_market(RULES[number], specifiers) for number, specifiers in bases))


def planned_market(rule: Rule, specifiers: Specifiers) -> PlannedMarket:
    return PlannedMarket((rule.id, specifiers.text), rule, specifiers)


def planned_group(name: str, markets: tuple[PlannedMarket, ...]) -> PlannedGroup:
    rule = markets[0].rule
    pair = len(markets) == 2 and (rule.pairs or rule.ladder is not None)
    keys = tuple([market.key for market in markets])
    scopes = tuple(dict.fromkeys([market.scope for market in markets]))
    return PlannedGroup(name, markets, keys, scopes, pair, scopes[0] == "round")


def is_unavailable(market: Market) -> bool:
    """Whether a market cannot come on offer: it is decided, or an operator holds it."""
    return market.status in CLOSED or (market.settled_by == HELD and market.status in OPEN)


def is_possible_line(match: Match, rule: Rule, specifiers: Specifiers, now: int) -> bool:
    """Whether these are the specifiers of a line that is not decided, of a map or round that may be on offer
    at `now` (Unix ms)."""
    forecast = Forecast(collect_facts(match, ()), now)
    return any(specifiers == possible for possible in possible_markets(rule, forecast))

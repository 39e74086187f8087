"""A match as the product sees it second by second, and the bets of somebody who sees it earlier.

The log's lines arrive in one batch a second, as a game server sends them. They go through the product's own
code: `cs2log`, `fold`, `react`, which is also called when time alone may move a price, as it returned before.
What somebody knows who sees play N seconds earlier is what the product knows N seconds later, its clock
included; so one run of the product serves every N.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby
from random import Random
from typing import Literal

import msgspec
from msgspec.structs import replace

from app.domain import changes as c
from app.domain.facts import DefuseBegun, Fact
from app.domain.market import Book, Market, MarketKey, MarketStatus, Result
from app.domain.match import Match, TimelineEvent
from app.domain.transitions import fold
from app.ingest import cs2log, log_facts
from app.trading.conditional_forecast import with_skill
from app.trading.engine import react
from app.trading.forecast import Forecast
from app.trading.match_facts import facts_from_events
from app.trading.pricing import PricingConfig
from app.trading.registry import RULES
from app.trading.rules import Specifiers, parse_specifiers
from app.trading.settling import settlement_of

#: Seconds that a bet waits until it is accepted, and by how many seconds the bettor may be ahead.
PRICING = PricingConfig()
DELAY, LEADS = PRICING.bet_delay_seconds, tuple(range(9))
ROUND_SECONDS, FUSE_SECONDS, LAST_SECONDS = 115, 40, 15
#: What has just happened when a bet is placed; `moment` is any second of a round.
Occasion = Literal["kill", "plant", "defuse begun", "result", "clock", "fuse", "moment"]
_OCCASIONS: dict[str, Occasion] = {"kill": "kill", "bomb_planted": "plant", "bomb_defused": "result"}
#: How many of the seconds without an event are looked at.
_OTHER_MOMENTS = 0.04
_SLACK = 1e-9


class Batch(msgspec.Struct, frozen=True):
    """The lines that arrive at `second`, counted from the log's first."""

    second: int
    text: str


class Second(msgspec.Struct, frozen=True):
    """The product's state after one second of a watched round: `known` of the match's events have happened.
    `occasions` are those of this second's batch."""

    now: int
    match: Match
    known: int
    book: Book
    occasions: frozenset[Occasion]


class Bet(msgspec.Struct, frozen=True):
    """One unit on a market by somebody `lead` seconds ahead, who knows of `occasion`. `expected`: what it
    returns beyond its stake by our own model when it is accepted."""

    lead: int
    key: MarketKey
    odds: float
    occasion: Occasion
    expected: float


class Tally(msgspec.Struct):
    """Bets of one match, what they returned beyond their stakes, and what they should have, by our own model
    when they were accepted."""

    bets: int = 0
    returned: float = 0.0
    expected: float = 0.0

    def add(self, returned: float, expected: float) -> None:
        self.bets += 1
        self.returned += returned
        self.expected += expected


#: By market type, lead and occasion.
Tallies = dict[tuple[int, int, Occasion], Tally]


def batches(timed: Iterable[tuple[float, str]]) -> Iterator[Batch]:
    """Lines with their seconds, one batch for each second that has some."""
    for second, lines in groupby(timed, key=lambda line: int(line[0])):
        yield Batch(second + 1, "".join(f"{text}\n" for _, text in lines))


class Observation:
    """One match, of which a share of the rounds is watched from freeze to freeze."""

    def __init__(self, match: Match, begin: int, share: float, rng: Random) -> None:
        self.match, self.begin, self.share, self.rng = match, begin, share, rng
        self.events: list[TimelineEvent] = []
        self.bets: list[Bet] = []
        self.watched: list[Second] = []
        self.rounds = 0
        self._watching = False
        self._book: Book = {}
        self._last_batch = 0
        self._due_at = math.inf  #: when time alone may next move a price

    def run(self, arriving: Iterable[Batch]) -> Tallies:
        """What the bets returned, by the product's own settlements."""
        self.watch(arriving)
        return self._settle()

    def watch(self, arriving: Iterable[Batch]) -> None:
        """Play the match, and place bets as rounds end."""
        second = None
        for batch in arriving:
            if second is not None and self._watching:
                for silent in range(second + 1, batch.second):
                    self._pass_second(silent, "")
            self._pass_second(batch.second, batch.text)
            second = batch.second
        self._place_bets()

    def _pass_second(self, second: int, text: str) -> None:
        now = self.begin + second * 1000
        facts = log_facts.fit_between(cs2log.read(text, now).facts, self._last_batch, now)
        self.match, changes = fold(self.match, facts)
        if text:
            self._last_batch = now
            self.match = replace(self.match, last_arrived_at=now)
        self.events += [change.event for change in changes if isinstance(change, c.EventAdded)]
        if any(isinstance(change, c.RoundOpened) for change in changes):
            self._choose()
        if not self._watching:
            return
        if text or now >= self._due_at:
            reaction = react(self.match, changes, self._book, now=now, may_price=True, pricing=PRICING)
            self._due_at = reaction.reprice_at or math.inf
            if reaction.markets:
                self._book = self._book | {market.key: market for market in reaction.markets}
        occasions = frozenset(_occasions(facts, changes))
        self.watched.append(Second(now, self.match, len(self.events), self._book, occasions))

    def _choose(self) -> None:
        """At a freeze: whether to watch the round that it begins."""
        self._place_bets()
        self.watched, self._book = [], {}
        self._watching = self.rng.random() < self.share
        self.rounds += self._watching

    def _place_bets(self) -> None:
        """The bets that the watched round would have seen."""
        for index, second in enumerate(self.watched):
            occasion = self._occasion(second)
            if occasion is not None:
                self._bet_on(index, second, occasion)

    def _occasion(self, second: Second) -> Occasion | None:
        for occasion in ("result", "kill", "plant", "defuse begun"):
            if occasion in second.occasions:
                return occasion
        current = second.match.current
        if current is None or current.phase != "live" or current.started_at is None:
            return "moment" if self.rng.random() < _OTHER_MOMENTS / 4 else None
        plant = next((event.at for event in current.events if event.type == "bomb_planted"), None)
        left = (
            ROUND_SECONDS - (second.now - current.started_at) / 1000
            if plant is None
            else FUSE_SECONDS - (second.now - plant) / 1000
        )
        if left < LAST_SECONDS:
            return "clock" if plant is None else "fuse"
        return "moment" if self.rng.random() < _OTHER_MOMENTS else None

    def _bet_on(self, index: int, second: Second, occasion: Occasion) -> None:
        """All bets of value on what is known in this second, by every lead."""
        placed = [
            (lead, key, market)
            for lead in LEADS
            if index - lead >= 0 and index - lead + DELAY < len(self.watched)
            for key, market in self.watched[index - lead].book.items()
            if stands(market, self.watched[index - lead + DELAY].book.get(key))
        ]
        chances = self._chances(second, {key for _, key, _ in placed}) if placed else {}
        for lead, of_lead in groupby(placed, key=lambda bet: bet[0]):
            odds = {key: float(market.odds) for _, key, market in of_lead}
            wanted = [key for key, paid in odds.items() if paid * chances[key] > 1 + _SLACK]
            accepted = self._chances(self.watched[index - lead + DELAY], wanted) if wanted else {}
            for key, chance in accepted.items():
                self.bets.append(Bet(lead, key, odds[key], occasion, odds[key] * chance - 1))

    def _chances(
        self, second: Second, keys: Iterable[MarketKey], level: float | None = None
    ) -> dict[MarketKey, float]:
        """What the product's model says of these markets, in a state of the match; with `level` under that
        skill."""
        facts = facts_from_events(second.match, self.events[: second.known])
        forecast = Forecast(facts, second.now)
        forecast = forecast if level is None else with_skill(forecast, level)
        chances = {}
        for key in keys:
            rule, specifiers = RULES[key[0]], _specifiers(key[1])
            found = settlement_of(rule, facts, specifiers)
            if found is None:
                chances[key] = rule.price(forecast, specifiers)
            else:
                chances[key] = float(found.result is Result.WON)
        return chances

    def _settle(self) -> Tallies:
        facts = facts_from_events(self.match, self.events)
        results: dict[MarketKey, Result | None] = {}
        tallies: Tallies = defaultdict(Tally)
        for bet in self.bets:
            if bet.key not in results:
                found = settlement_of(RULES[bet.key[0]], facts, _specifiers(bet.key[1]))
                results[bet.key] = found.result if found else None
            result = results[bet.key]
            if result is Result.WON or result is Result.LOST:
                returned = bet.odds - 1 if result is Result.WON else -1.0
                tallies[bet.key[0], bet.lead, bet.occasion].add(returned, bet.expected)
        return dict(tallies)


def _occasions(facts: Iterable[Fact], changes: Iterable[c.MatchChange]) -> Iterator[Occasion]:
    if any(isinstance(fact, DefuseBegun) for fact in facts):
        yield "defuse begun"
    for change in changes:
        if isinstance(change, c.RoundFinished):
            yield "result"
        elif isinstance(change, c.EventAdded) and change.event.type in _OCCASIONS:
            yield _OCCASIONS[change.event.type]


def stands(market: Market, later: Market | None) -> bool:
    """A bet placed at the first is accepted at the second: on offer, at the same price."""
    return (
        market.status is MarketStatus.ACTIVE
        and later is not None
        and later.status is MarketStatus.ACTIVE
        and later.odds == market.odds
    )


@lru_cache(maxsize=4096)
def _specifiers(text: str) -> Specifiers:
    return parse_specifiers(text)

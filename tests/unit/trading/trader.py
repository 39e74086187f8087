"""The engine at work in tests: folds facts, lets the engine react, stores what the database would, and
checks after each reaction what must always hold."""

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from itertools import groupby
from typing import Self
from uuid import UUID

from msgspec.structs import replace

from app.domain import changes as c
from app.domain.facts import Fact
from app.domain.market import OPEN, Book, Market, MarketKey, MarketStatus, with_offer_end
from app.domain.match import Match, Round, TimelineEvent
from app.domain.settlement import LedgerEntry, LedgerStatus
from app.ingest.cs2log import read
from app.sandbox.simulator.match_simulation import MatchPlan, new_truth, play
from app.sandbox.simulator.truth import SeriesTruth
from app.trading.engine import Reaction, react
from app.trading.match_facts import Past, collect_facts
from app.trading.pricing import PricingConfig
from app.trading.registry import RULES
from app.trading.rules import parse_specifiers
from app.trading.settlement_check import check_settlements
from app.trading.settling import settlement_of, waits_for_events
from tests.unit.domain.play import fold_arrived

PRICING = PricingConfig()
#: What the ledger last says of a market in each status.
STATES = {
    MarketStatus.SETTLED: LedgerStatus.SETTLED,
    MarketStatus.CANCELLED: LedgerStatus.VOIDED,
    MarketStatus.ACTIVE: LedgerStatus.PENDING,
    MarketStatus.SUSPENDED: LedgerStatus.PENDING,
}


class Trader:
    """One match with its book, ledger, rounds and events, as they would be stored."""

    def __init__(self, match: Match, *, checking: bool = True) -> None:
        self.match = match
        self.book: Book = {}
        self.ledger: list[LedgerEntry] = []
        self.last: dict[MarketKey, LedgerEntry] = {}  #: each market's last entry, of the first `looked_at`
        self.looked_at = 0
        self.rounds: dict[int, Round] = {}
        self.events: dict[int, TimelineEvent] = {}
        self.offered: dict[tuple[int, str], int] = {}  #: until when each market last took bets
        self.checking = checking
        self.now = 0
        self.margin_of: Callable[[Sequence[Market]], float] = lambda group: PRICING.margin

    @classmethod
    def opened(cls, match: Match, *, checking: bool = True) -> Self:
        """With what is on offer before anything happens."""
        trader = cls(match, checking=checking)
        trader.react()
        return trader

    def copy(self) -> Self:
        """Another one who stands where this one does; what happens to it does not happen to this one."""
        other = copy(self)
        other.book, other.ledger, other.last = dict(self.book), list(self.ledger), dict(self.last)
        other.rounds, other.events, other.offered = dict(self.rounds), dict(self.events), dict(self.offered)
        return other

    def apply(self, facts: Iterable[Fact], *, may_price: bool = True) -> Reaction:
        self.match, changes = fold_arrived(self.match, facts)
        return self.react(changes, may_price=may_price)

    def react(self, changes: Sequence[c.MatchChange] = (), *, may_price: bool = True) -> Reaction:
        amended = any(isinstance(change, c.RoundsReinstated | c.RoundAmended) for change in changes)
        past = self._past() if amended else None
        self._store(changes)
        self.now = max(self.now + 1000, self.match.last_arrived_at)
        reaction = react(
            self.match, changes, self.book, now=self.now, may_price=may_price, pricing=PRICING, past=past
        )
        self._note_offers(reaction)
        for market in reaction.markets:
            self.book[market.key] = with_offer_end(self.book.get(market.key), market, self.now)
        self.ledger += reaction.entries
        if self.checking:
            self.check(reaction, changes, may_price=may_price)
        return reaction

    def _store(self, changes: Sequence[c.MatchChange]) -> None:
        for change in changes:
            if isinstance(change, c.EventAdded | c.EventAmended):
                self.events[change.event.id] = change.event
            elif isinstance(change, c.RoundFinished | c.RoundAmended):
                self.rounds[change.round.id] = change.round
            elif isinstance(change, c.PlayRecorded):
                self.events |= {event.id: event for event in change.events}
                self.rounds |= {played.id: played for played in change.rounds}
            elif isinstance(change, c.RoundsVoided | c.RoundsReinstated):
                void = isinstance(change, c.RoundsVoided)
                for number in change.events:
                    self.events[number] = replace(self.events[number], void=void)
                for played in change.rounds:
                    self.rounds[played.id] = replace(self.rounds[played.id], void=void)

    def _past(self) -> Past:
        """What the database has, before the changes are written."""
        stored = (*self.rounds.values(), *self.events.values())
        void = frozenset(one.id for one in stored if one.void)
        return Past(tuple(self.events.values()), void, tuple(self.ledger))

    def _note_offers(self, reaction: Reaction) -> None:
        """Before a reaction: what is active takes bets until now. No bet is void that could not be placed."""
        self.offered |= {market.key: self.now for market in self.active()}
        for entry in reaction.entries:
            if entry.void_window is not None and not entry.window_rolled_back:
                assert entry.void_window.end_time <= self.now
                assert self.offered[entry.key] >= entry.void_window.start_time, entry

    def of(self, type_id: int, specifiers: str) -> Market:
        return self.book[type_id, specifiers]

    def active(self) -> list[Market]:
        return [market for market in self.book.values() if market.status is MarketStatus.ACTIVE]

    def open(self) -> list[Market]:
        return [market for market in self.book.values() if market.status in OPEN]

    def entries(self, type_id: int, specifiers: str) -> list[LedgerEntry]:
        return [entry for entry in self.ledger if entry.key == (type_id, specifiers)]

    def check(self, reaction: Reaction, changes: Sequence[c.MatchChange], *, may_price: bool) -> None:
        keys = [market.key for market in reaction.markets]
        assert len(keys) == len(set(keys))
        self._nothing_open_on_a_decided_event(changes)
        self._offers_only_when_allowed(may_price)
        self._books_sum()
        self._lines_agree()
        self._one_line_is_favourite()
        self._ledger_matches_book()
        found = check_settlements(
            self.match, list(self.rounds.values()), list(self.events.values()), self.ledger
        )
        assert not found, found
        again = react(self.match, (), self.book, now=self.now, may_price=may_price, pricing=PRICING)
        assert again == Reaction(reprice_at=reaction.reprice_at)

    def _nothing_open_on_a_decided_event(self, changes: Sequence[c.MatchChange]) -> None:
        facts = collect_facts(self.match, changes)
        for market in self.open():
            specifiers = parse_specifiers(market.specifiers)
            assert settlement_of(RULES[market.type_id], facts, specifiers) is None, market
        if self.match.over:
            assert [market for market in self.open() if not self._waits(market)] == []

    def _waits(self, market: Market) -> bool:
        """For its format, or for the events that it rests on."""
        facts, specifiers = collect_facts(self.match, ()), parse_specifiers(market.specifiers)
        rule = RULES[market.type_id]
        return facts.format_open(specifiers.map) or waits_for_events(rule, facts, specifiers)

    def _offers_only_when_allowed(self, may_price: bool) -> None:
        if self.match.pause or self.match.suspended or not may_price:
            assert self.active() == []

    def _books_sum(self) -> None:
        grouped = sorted((m for m in self.active() if m.group), key=lambda m: m.group)
        for name, members in groupby(grouped, key=lambda m: m.group):
            book = list(members)
            assert abs(sum(m.probability for m in book) - 1) < 1e-6, name
            # Rounding to three decimals moves an inverse by at most half a thousandth over odds squared.
            slack = sum(0.0005 / float(m.odds) ** 2 for m in book) + 1e-6
            assert abs(sum(1 / float(m.odds) for m in book) - 1 - self.margin_of(book)) <= slack, name

    def _lines_agree(self) -> None:
        """A higher line is never likelier to be exceeded."""
        active = self.active()
        for type_id in (3, 8, 19, 25):
            lines: dict[str, list[tuple[float, float]]] = {}
            for market in (m for m in active if m.type_id == type_id):
                specifiers = parse_specifiers(market.specifiers)
                lines.setdefault(f"{specifiers.map} {specifiers.round} {specifiers.team}", []).append(
                    (specifiers.threshold, market.probability)
                )
            for book in lines.values():
                chances = [chance for _, chance in sorted(book)]
                assert chances == sorted(chances, reverse=True), book

    def _one_line_is_favourite(self) -> None:
        """Of the active lines of one total or handicap that which is nearest to evens, on both sides."""
        ladders: dict[str, list[Market]] = {}
        for market in self.active():
            rule, specifiers = RULES[market.type_id], parse_specifiers(market.specifiers)
            if rule.ladder:
                name = rule.group(replace(specifiers, handicap=0.0, threshold=0.0))
                ladders.setdefault(name, []).append(market)
            else:
                assert not market.favourite, market
        for name, lines in ladders.items():
            favourites = [market for market in lines if market.favourite]
            [group] = {market.group for market in favourites}
            assert favourites == [market for market in lines if market.group == group], name
            nearest = min(abs(market.probability - 0.5) for market in lines)
            assert all(abs(abs(one.probability - 0.5) - nearest) < 1e-8 for one in favourites), name

    def _ledger_matches_book(self) -> None:
        self.last |= {entry.key: entry for entry in self.ledger[self.looked_at :]}
        self.looked_at = len(self.ledger)
        for key, market in self.book.items():
            last = self.last.get(key)
            assert (last.new_status if last else LedgerStatus.PENDING) is STATES[market.status], market
            assert (last.result if last else None) is market.result
            assert 1 < market.odds <= 50 and 0 < market.probability < 1, market


def new_match(plan: MatchPlan) -> Match:
    return Match(
        id=UUID(int=1),
        number=1,
        home=plan.home.name,
        away=plan.away.name,
        event="",
        best_of=plan.best_of,
        home_strength=plan.home.points,
        away_strength=plan.away.points,
    )


def trade(
    plan: MatchPlan, truth: SeriesTruth | None = None, *, checking: bool = False, seconds: float = 1.0
) -> Iterable[Trader]:
    """The trader after each body of a simulated match, each with the lines of `seconds`; `truth` is written
    meanwhile."""
    trader = Trader.opened(new_match(plan), checking=checking)
    log = play(plan, truth or new_truth(plan))
    for number, lines in groupby(log, key=lambda line: int(line.at / seconds)):
        body = "\n".join(line.text for line in lines) + "\n"
        trader.apply(read(body, plan.begin + int((number + 1) * seconds * 1000)).facts)
        yield trader


def traded(plan: MatchPlan, *, checking: bool = True, seconds: float) -> tuple[Trader, SeriesTruth]:
    """The trader after a whole simulated match, and what happened in it."""
    truth = new_truth(plan)
    return list(trade(plan, truth, checking=checking, seconds=seconds))[-1], truth

"""A plan made once a phase offers what a plain computation for each state offers."""

from collections.abc import Iterator
from decimal import ROUND_HALF_EVEN, Decimal
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from app.domain.market import ACTIVE, SETTLED, SUSPENDED, Book, Market, MarketStatus
from app.domain.suspension_reasons import OFF_OFFER
from app.trading.forecast import Forecast
from app.trading.lines import Distribution, total
from app.trading.map_scores import MapParameters, MapState, map_parameters
from app.trading.match_facts import MatchFacts, collect_facts
from app.trading.match_phase import MatchPhase, match_phase
from app.trading.offer_plan import LineGroups, PlannedLadder, planned_group, planned_market
from app.trading.offers import MAX_PROBABILITY, MIN_PROBABILITY, Certainty, Offer, priced_offers
from app.trading.outlook import MapOutlook
from app.trading.pricing import MIN_ODDS, odds, shares
from app.trading.registry import RULES
from app.trading.rules import Ladder, Rule, Specifiers, choose, nearest, with_threshold
from tests.support.simulated import plan_between
from tests.unit.domain.play import new_match
from tests.unit.trading.trader import PRICING, Trader, trade

Member = tuple[Rule, Specifiers]


def plain_offers(forecast: Forecast, book: Book) -> list[Offer]:
    """All rules anew, and every group by a look at the book's own groups."""
    phase, groups = match_phase(forecast.facts), dict[str, list[Member]]()
    for rule in RULES.values():
        for base in rule.opens(phase):
            for specifiers in lines_of(rule, base, phase, forecast, book):
                known = book.get((rule.id, specifiers.text))
                if known is None or not (known.closed or known.held):
                    groups.setdefault(rule.group(specifiers), []).append((rule, specifiers))
    return [offer for name, members in groups.items() for offer in priced(name, members, forecast)]


def lines_of(
    rule: Rule, base: Specifiers, phase: MatchPhase, forecast: Forecast, book: Book
) -> Iterator[Specifiers]:
    if rule.ladder is None:
        yield base
        return
    ladder = rule.ladder
    size = ladder.ahead if base.map in {play.number for play in phase.ahead} else ladder.size
    free, standing = [], set()
    for line, chance in nearest(ladder.lines(forecast, base), size):
        name = rule.group(ladder.place(base, line))
        known = [market for market in book.values() if market.group == name]
        if any(market.closed or market.held for market in known):
            continue
        free.append((line, chance))
        if any(market.status is MarketStatus.ACTIVE or market.reason != OFF_OFFER for market in known):
            standing.add(line)
    for line in choose(free, standing, 0 if phase.live else size):
        yield ladder.place(base, line)


def priced(name: str, members: list[Member], forecast: Forecast) -> Iterator[Offer]:
    chances = [rule.price(forecast, specifiers) for rule, specifiers in members]
    low, top = min(chances), max(chances)
    bounds = low > 0 and top <= MAX_PROBABILITY and (len(chances) > 2 or low >= MIN_PROBABILITY)
    group = planned_group(name, tuple(planned_market(rule, specifiers) for rule, specifiers in members))
    certainty = Certainty(forecast, PRICING.bet_delay_seconds)
    if abs(sum(chances) - 1) > 1e-6 or not bounds or certainty.is_certain(group, low, top):
        return
    inverse_odds = shares(chances, PRICING.margin)
    if forecast.phase.live and odds(max(inverse_odds)) <= MIN_ODDS:
        return
    rule, specifiers = members[0]
    ladder = rule.group(replace(specifiers, handicap=0.0, threshold=0.0)) if rule.ladder else ""
    yield Offer(group._replace(ladder=ladder), tuple(chances), inverse_odds)


def facts_of(trader: Trader) -> MatchFacts:
    return collect_facts(trader.match, ())


ABSENT, STANDING, WITHDRAWN, DECIDED = range(4)


@given(
    st.lists(st.floats(0.001, 1.0), min_size=2, max_size=25),
    st.integers(1, 5),
    st.lists(st.sampled_from([ABSENT, ABSENT, STANDING, WITHDRAWN, DECIDED]), min_size=25, max_size=25),
)
def test_no_line_that_is_not_looked_at_would_have_been_chosen(
    weights: list[float], size: int, states: list[int]
) -> None:
    lines = Distribution.of((value, one / sum(weights)) for value, one in enumerate(weights)).lines()
    ladder = Ladder(size, lambda *_: lines, with_threshold)
    over, under = (replace(RULES[number], ladder=ladder) for number in (36, 37))
    bases = tuple(planned_market(rule, Specifiers(map=1)) for rule in (over, under))
    groups, book = LineGroups(bases), Book()
    for (line, _), state in zip(lines, states, strict=False):
        for key, rule, specifiers in groups[line].markets:
            if state != ABSENT:
                book[key] = Market(
                    type_id=rule.id,
                    specifiers=specifiers.text,
                    status={STANDING: ACTIVE, WITHDRAWN: SUSPENDED, DECIDED: SETTLED}[state],
                    odds=Decimal(2),
                    probability=0.5,
                    reason=OFF_OFFER if state == WITHDRAWN else "",
                )
    forecast = Forecast(collect_facts(new_match(1), ()), 0)
    found = PlannedLadder(ladder, groups, size, live=False).on_offer(forecast, book)
    free = [one for one in nearest(lines, size) if states[lines.lines.index(one[0])] != DECIDED]
    standing = {line for line, state in zip(lines.lines, states, strict=False) if state == STANDING}
    chosen = choose(free, standing, size)
    assert [group.markets[0].specifiers.threshold for group, _ in found] == chosen
    assert [chance for _, (chance, _) in found] == [dict(free)[line] for line in chosen]


@pytest.mark.parametrize("best_of", [1, 3])
def test_the_plan_offers_what_each_state_demands(best_of: int) -> None:
    """Of the book as it was before each state, so that lines come and go."""
    live, live_before = 0, False
    plan = plan_between(4, 13, 11, best_of=best_of, brief=True)
    before: Book = {}
    for index, trader in enumerate(islice(trade(plan, seconds=5.0), 150)):
        facts = facts_of(trader)
        if index % 4 == 0 or match_phase(facts).live is not live_before:
            offers = priced_offers(Forecast(facts, trader.now), before, PRICING)
            compared = [replace(offer, probabilities=tuple(offer.probabilities)) for offer in offers]
            assert compared == plain_offers(Forecast(facts, trader.now), before)
            live += match_phase(facts).live and bool(offers)
        before, live_before = dict(trader.book), match_phase(facts).live
    assert live > 10


def test_the_phase_is_the_same_for_all_lines_of_a_round_in_play() -> None:
    phases: dict[tuple[int, int], set[MatchPhase]] = {}
    for trader in islice(trade(plan_between(2, 9, 5, brief=True), seconds=3.0), 400):
        phase = match_phase(facts_of(trader))
        if phase.live and phase.on_offer:
            phases.setdefault(phase.on_offer, set()).add(phase)
    assert len(phases) > 3
    assert all(len(found) == 1 for found in phases.values())


@given(
    st.lists(st.floats(0.01, 1.0), min_size=3, max_size=3),
    st.lists(st.floats(0.01, 1.0), min_size=3, max_size=3),
)
def test_an_outlook_serves_each_weight_of_the_skills(one: list[float], other: list[float]) -> None:
    skills = (-0.2, 0.0, 0.2)
    sides = tuple((0.5, parameters_of(starts_ct)) for starts_ct in (True, False))
    used = MapOutlook(skills, sides, MapState(0, 0))
    used.distribution(total, one)
    fresh = MapOutlook(skills, sides, MapState(0, 0))
    assert list(used.distribution(total, other).lines()) == list(fresh.distribution(total, other).lines())


def parameters_of(starts_ct: bool) -> MapParameters:
    return map_parameters(collect_facts(new_match(1), ()).play(1), 0.0, starts_ct)


@given(st.floats(1 / 50, 1 / 1.01))
def test_odds_are_rounded_half_to_even_exactly(share: float) -> None:
    assert str(odds(share)) == str(Decimal(1 / share).quantize(Decimal("0.001"), ROUND_HALF_EVEN))

"""The probability that several markets win together: what must hold, and drawn continuations as a judge."""

from decimal import Decimal
from functools import lru_cache
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from app.domain.market import MarketKey, MarketStatus
from app.domain.trading_controls import HeldProbability
from app.trading.combinations import (
    CombinationRefused,
    LegProblem,
    PricedLeg,
    available,
    combine,
    combined_price,
    odds_of,
)
from app.trading.joint_distribution import JointDistribution
from app.trading.registry import RULES
from app.trading.rules import parse_specifiers
from scripts.bench.combinations import State, bet_on, states

EXACT = 1e-9
SEED = 3


@lru_cache(maxsize=1)
def known() -> list[State]:
    """States of best-of-threes, before play, in freeze time, in play and between maps."""
    return states(30, SEED, of_match=30)


@lru_cache(maxsize=30)
def joint(place: int) -> JointDistribution:
    return JointDistribution(known()[place].forecast)


places, seeds = st.integers(0, 29), st.integers(0, 10_000)


def drawn_legs(place: int, random: Random, most: int) -> list[MarketKey]:
    """Legs that can be combined."""
    state = known()[place]
    while True:
        legs = random.sample(state.on_offer, min(random.randint(2, most), len(state.on_offer)))
        try:
            combine(state.forecast, state.book, legs)
        except CombinationRefused:
            continue
        return legs


def may_be_void(place: int, legs: list[MarketKey]) -> bool:
    """Whether a map of the legs may not be played."""
    match = known()[place].match
    certain = match.best_of // 2 + 1 + min(match.score_home, match.score_away)
    return any(parse_specifiers(text).map > certain for _, text in legs)


@pytest.mark.parametrize("place", range(0, 30, 3))
def test_a_market_alone_has_its_own_probability(place: int) -> None:
    state = known()[place]
    forecast = state.forecast
    assert len(state.on_offer) > 5
    for key in state.on_offer:
        own = RULES[key[0]].price(forecast, parse_specifiers(key[1]))
        assert joint(place).probability([key]) == pytest.approx(own, abs=EXACT), key


def test_every_type_is_among_these_states() -> None:
    seen = {type_id for state in known() for type_id, _ in state.on_offer}
    combined = {rule.id for rule in RULES.values() if rule.proposition}
    assert seen >= combined - {16, 23, 33}  # level halves and AWP kills are rarely on offer


@settings(max_examples=60, deadline=None)
@given(places, seeds)
def test_within_the_bounds_of_the_legs(place: int, seed: int) -> None:
    legs = drawn_legs(place, Random(seed), 5)
    whole, alone = joint(place).probability(legs), [joint(place).probability([leg]) for leg in legs]
    assert 0 < whole < 1
    if not may_be_void(place, legs):
        assert whole <= min(alone) + EXACT
        assert whole >= sum(alone) - (len(legs) - 1) - EXACT


@settings(max_examples=40, deadline=None)
@given(places, seeds)
def test_the_order_of_legs_does_not_matter(place: int, seed: int) -> None:
    legs = drawn_legs(place, Random(seed), 5)
    state = known()[place]
    shuffled = Random(seed).sample(legs, len(legs))
    one, two = (combine(state.forecast, state.book, each) for each in (legs, shuffled))
    assert one.probability == pytest.approx(two.probability, rel=1e-12)
    assert one.odds == two.odds
    assert [leg.key for leg in two.legs] == shuffled


@settings(max_examples=60, deadline=None)
@given(places, seeds)
def test_the_markets_of_a_group_share_out_what_the_other_legs_have(place: int, seed: int) -> None:
    """Exactly one of a group wins, so that adding each in turn sums to the probability without any."""
    state, legs = known()[place], drawn_legs(place, Random(seed), 3)
    groups = {
        market.group
        for market in state.book.values()
        if market.status is MarketStatus.ACTIVE and market.type_id not in (19, 20)
    }
    name = Random(seed).choice(sorted(groups))
    members = [
        key
        for key, market in state.book.items()
        if market.group == name and market.status is MarketStatus.ACTIVE
    ]
    maps = [parse_specifiers(text).map for _, text in (*legs, members[0])]
    assume(not may_be_void(place, legs) or maps[-1] >= max(maps))  # else the odds left are others for each
    total = sum(joint(place).probability([*legs, key]) for key in members)
    if not total:  # with the other legs the match is over before the group's map
        assert may_be_void(place, members)
        return
    assert total == pytest.approx(joint(place).probability(legs), rel=1e-9)


@pytest.mark.parametrize("place", range(30))
def test_the_markets_of_a_group_exclude_each_other(place: int) -> None:
    state, groups = known()[place], dict[str, list[MarketKey]]()
    for key in state.on_offer:
        groups.setdefault(state.book[key].group, []).append(key)
    for members in groups.values():
        for one, two in combinations(members, 2):
            assert joint(place).probability([one, two]) == pytest.approx(0.0, abs=1e-12), (one, two)


@settings(max_examples=20, deadline=None)
@given(places, seeds)
def test_a_certain_leg_changes_nothing(place: int, seed: int) -> None:
    legs = drawn_legs(place, Random(seed), 4)
    number = known()[place].forecast.maps_left[0]
    certain = (7, f"map={number}|team=home|handicap=30.5")
    assert joint(place).probability([certain]) == pytest.approx(1.0)
    assert joint(place).probability([*legs, certain]) == pytest.approx(
        joint(place).probability(legs), rel=1e-9
    )


@pytest.mark.parametrize("place", range(0, 30, 6))
def test_a_bet_at_fair_odds_is_worth_its_stake_in_drawn_continuations(place: int) -> None:
    """Whoever draws the rest of the match round by round finds what the sums say."""
    random = Random(place)
    found = bet_on(known()[place], 8, 20_000, random)
    assert max(abs(one.errors) for one in found) < 5, found
    assert {len(one.legs) for one in found} > {2}


def test_a_leg_on_a_map_that_may_not_be_played_is_priced_as_void_then() -> None:
    """By hand: with the first map and the third, the third is void if one team wins both before it."""
    assert known()[0].match.started_at is None
    distribution = joint(0)
    first, third = (6, "map=1|team=home"), (6, "map=3|team=home")
    sweep = (5, "home_maps=2|away_maps=0")
    lost_sweep = (5, "home_maps=0|away_maps=2")
    alone = distribution.probability([first])
    played_and_won = sum(
        distribution.probability([first, (5, f"home_maps={home}|away_maps={away}")])
        for home, away in ((2, 1),)
    )
    ended = distribution.probability([sweep])
    assert distribution.probability([first, lost_sweep]) == pytest.approx(0.0)
    assert distribution.probability([first, third]) == pytest.approx(played_and_won / (1 - ended / alone))


def refused(state: State, legs: list[MarketKey]) -> tuple[LegProblem, ...]:
    with pytest.raises(CombinationRefused) as raised:
        combine(state.forecast, state.book, legs)
    assert all(
        f"leg {problem.leg + 1}: {problem.message}" in str(raised.value) for problem in raised.value.problems
    )
    return raised.value.problems


def before_play() -> State:
    return next(
        state
        for state in known()
        if {(6, "map=1|team=home"), (1, "team=home"), (3, "threshold=2.5")} <= set(state.on_offer)
    )


def test_legs_that_exclude_each_other_are_named() -> None:
    (problem,) = refused(before_play(), [(1, "team=home"), (3, "threshold=2.5"), (1, "team=away")])
    assert (problem.leg, problem.code, problem.with_legs) == (2, "impossible", (0,))
    assert problem.message == "it cannot win together with leg 1"


def test_a_leg_that_follows_from_another_is_named() -> None:
    state = before_play()
    sweep = next(key for key in state.on_offer if key[1] == "home_maps=2|away_maps=0")
    problems = refused(state, [(1, "team=home"), sweep, (6, "map=1|team=home")])
    assert {(one.leg, one.code, one.with_legs) for one in problems} == {
        (0, "redundant", (1,)),
        (2, "redundant", (1,)),
    }


def test_what_is_left_of_a_combination_is_priced_whatever_is_left() -> None:
    """After a void leg there is no refusing the others: home's match and its third map are one bet."""
    state, legs = before_play(), [(1, "team=home"), (6, "map=3|team=home")]
    (problem,) = refused(state, legs)
    assert (problem.leg, problem.code, problem.with_legs) == (1, "redundant", (0,))
    left = combined_price(state.forecast, state.book, legs)
    assert left.probability == pytest.approx(joint(0).probability(legs[:1]))
    assert 1 < left.odds < 1 / Decimal(left.probability)
    alone = combined_price(state.forecast, state.book, legs[:1])
    assert alone.odds == state.book[1, "team=home"].odds


def test_legs_that_cannot_be_sold_alone_are_named() -> None:
    state = before_play()
    suspended = replace(state.book[1, "team=home"], status=MarketStatus.SUSPENDED)
    state = replace(state, book=state.book | {suspended.key: suspended})
    legs = [(1, "team=home"), (99, ""), (6, "map=1|team=home"), (6, "map=1|team=home")]
    problems = refused(state, legs)
    assert [(one.leg, one.code) for one in problems] == [
        (0, "not_on_offer"),
        (1, "unknown_market"),
        (3, "duplicate"),
    ]


def test_a_market_whose_probability_is_held_is_no_leg() -> None:
    state = before_play()
    group = state.book[6, "map=1|team=home"].group
    held = HeldProbability(group, 6, "map=1|team=home", 0.5)
    state = replace(state, match=replace(state.match, controls=replace(state.match.controls, held=(held,))))
    (problem,) = refused(state, [(6, "map=1|team=home"), (3, "threshold=2.5")])
    assert (problem.leg, problem.code) == (0, "held")


def test_kills_of_a_round_go_with_nothing_that_depends_on_them_unknown_to_the_model() -> None:
    state = next(one for one in known() if {19, 14} <= {key[0] for key in one.on_offer})
    kills, first = (next(key for key in state.on_offer if key[0] == wanted) for wanted in (19, 14))
    (problem,) = refused(state, [kills, first])
    assert (problem.leg, problem.code, problem.with_legs) == (1, "not_combinable", (0,))


@pytest.mark.parametrize("place", [1, 8, 15, 22])
def test_what_is_available_can_be_combined_and_nothing_else_can(place: int) -> None:
    state, random = known()[place], Random(place)
    legs = drawn_legs(place, random, 2)
    offered = available(state.forecast, state.book, legs)
    assert set(offered) <= set(state.on_offer) - set(legs)
    for key in random.sample(offered, min(10, len(offered))):
        combine(state.forecast, state.book, [*legs, key])
    others = sorted(set(state.on_offer) - set(legs) - set(offered))
    for key in random.sample(others, min(10, len(others))):
        with pytest.raises(CombinationRefused):
            combine(state.forecast, state.book, [*legs, key])
    assert set(available(state.forecast, state.book)) == set(state.on_offer)


@given(
    st.lists(st.tuples(st.floats(0.03, 0.97), st.floats(0.0, 0.2)), min_size=1, max_size=6),
    st.floats(1e-4, 1),
)
def test_odds_are_never_better_than_fair_and_have_the_margins_of_the_legs(
    legs: list[tuple[float, float]], share: float
) -> None:
    priced = [
        PricedLeg((1, ""), chance, max(Decimal(int(1000 / (chance * (1 + margin)))) / 1000, Decimal("1.01")))
        for chance, margin in legs
    ]
    fair = float(np.prod([chance for chance, _ in legs])) * share
    odds = odds_of(fair, priced)
    assert Decimal("1.01") <= odds <= 1000
    if Decimal("1.01") < odds:
        assert float(odds) <= 1 / fair

"""Totals and handicaps follow the expectation: lines around evens, none beyond 90 %, none lost."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from app.domain.market import MarketStatus, Result
from app.trading.lines import Distribution, Finals, FinalScores, Score, lead, measured, total
from app.trading.map_scores import mixture
from app.trading.registry import RULES
from app.trading.rules import choose, nearest, parse_specifiers
from tests.support.lengths import short_then_long
from tests.support.simulated import plan_between
from tests.unit.domain.play import new_match
from tests.unit.trading.test_engine import TradedServer
from tests.unit.trading.trader import Trader, trade

LINE_TYPES = {rule.id for rule in RULES.values() if rule.ladder}
#: Those of rounds, and those that go off offer during each round.
PASSING = {19, 20, 36, 37}

chances = st.dictionaries(st.integers(-20, 30), st.floats(0.001, 1.0), min_size=2, max_size=25)


def distribution(weights: dict[int, float]) -> Distribution:
    whole = sum(weights.values())
    return Distribution.of((value, weight / whole) for value, weight in weights.items())


@given(chances)
def test_a_line_lies_between_each_two_neighbouring_values(weights: dict[int, float]) -> None:
    lines = distribution(weights).lines()
    values = sorted(weights)
    assert len(lines) == len(values) - 1
    for (low, high), (line, _) in zip(pairwise(values), lines, strict=True):
        assert low < line < high and line % 1 == 0.5


@given(chances)
def test_a_higher_line_is_never_likelier_to_be_exceeded(weights: dict[int, float]) -> None:
    made = distribution(weights)
    over = [chance for _, chance in made.lines()]
    assert over == sorted(over, reverse=True)
    for line, chance in made.lines():
        assert (
            chance
            == made.over(line)
            == pytest.approx(
                sum(weight for value, weight in weights.items() if value > line) / sum(weights.values())
            )
        )


scores = st.dictionaries(
    st.tuples(st.integers(0, 4), st.integers(0, 4)), st.just(0.0) | st.floats(0.01, 1.0), min_size=1
).filter(lambda weights: any(weights.values()))


@given(st.lists(st.tuples(st.floats(0.01, 1.0), scores, st.integers(1, 3)), min_size=1, max_size=4))
def test_final_scores_are_the_mean_over_cases_however_many_they_share(
    cases: list[tuple[float, dict[Score, float], int]],
) -> None:
    """Each case as often as its number says, one after the other."""
    whole = sum(weight * times for weight, _, times in cases)
    weights = [weight / whole for weight, _, times in cases for _ in range(times)]
    ends: list[Finals] = [
        tuple((score, chance / sum(by_score.values())) for score, chance in by_score.items())
        for _, by_score, times in cases
        for _ in range(times)
    ]
    found, expected = FinalScores.of(ends), mixture(zip(weights, ends, strict=True))
    possible = {score: chance for score, chance in expected if chance}
    assert dict(found.mean(weights)) == pytest.approx(possible)
    for measure in (lead, total):
        ours = found.measured(measure).under(weights)
        plain = Distribution.of(measured(measure, possible.items()))
        assert [value for value, _ in ours.chances] == [value for value, _ in plain.chances]
        assert [chance for _, chance in ours.chances] == pytest.approx(
            [chance for _, chance in plain.chances], abs=1e-12
        )


@given(chances)
def test_lines_of_a_lead_mirror_those_of_the_other_team(weights: dict[int, float]) -> None:
    ours = distribution(weights).lines()
    theirs = distribution({-value: weight for value, weight in weights.items()}).lines()
    if 0 not in range(min(weights) + 1, max(weights)) or 0 in weights:
        assert [-line for line, _ in reversed(theirs)] == [line for line, _ in ours]


@given(chances, st.integers(1, 5))
def test_lines_near_evens_come_in_the_order_of_their_distance(weights: dict[int, float], size: int) -> None:
    lines = list(distribution(weights).lines())
    near, evens = list(nearest(distribution(weights).lines(), size)), sum(over > 0.5 for _, over in lines)
    window = lines[max(evens - size - 2, 0) : evens + size + 2]
    assert sorted(near) == [(line, over) for line, over in window if abs(over - 0.5) <= 0.4 + 1e-9]
    distances = [abs(over - 0.5) for _, over in near]
    assert distances == pytest.approx(sorted(distances), abs=1e-12)


@given(chances, st.integers(1, 5), st.sets(st.integers(-20, 30)))
def test_the_choice_stands_when_it_is_made_again(
    weights: dict[int, float], size: int, known: set[int]
) -> None:
    near = list(nearest(distribution(weights).lines(), size))
    chosen = choose(near, {value + 0.5 for value in known}, size)
    assert len(chosen) <= size
    assert choose(near, chosen, size) == chosen == choose(near, chosen, 0)
    over = dict(near)
    assert all(0.1 <= over[line] <= 0.9 for line in chosen)


@given(chances, st.integers(1, 5))
def test_the_first_choice_is_the_nearest_to_evens(weights: dict[int, float], size: int) -> None:
    lines = distribution(weights).lines()
    chosen = choose(nearest(lines, size), (), size)
    distances = sorted(abs(chance - 0.5) for _, chance in lines)
    assert sorted(abs(dict(lines)[line] - 0.5) for line in chosen) == pytest.approx(
        [one for one in distances if one <= 0.38][:size]
    )


def test_a_line_on_offer_gives_way_only_to_one_that_is_clearly_nearer() -> None:
    assert choose([(1.5, 0.56), (2.5, 0.45)], (), 1) == [2.5]
    assert choose([(1.5, 0.56), (2.5, 0.45)], (1.5,), 1) == [1.5]
    assert choose([(1.5, 0.61), (2.5, 0.45)], (1.5,), 1) == [2.5]


def test_no_line_repeats_the_winner() -> None:
    """No map that is decided by two rounds at least ends between -2 and 2."""
    trader = Trader.opened(new_match(3))
    handicaps = {parse_specifiers(m.specifiers).handicap for m in trader.active() if m.type_id == 7}
    assert handicaps == {-3.5, -2.5, 2.5, 3.5}


@pytest.mark.parametrize("seed", short_then_long([3, 8]))
def test_lines_follow_the_score_and_all_that_were_opened_are_settled(seed: int) -> None:
    moves = rounds = 0
    on_offer: set[tuple[int, str]] = set()
    for trader in trade(plan_between(seed, seed + 9, seed, best_of=3, brief=True), seconds=5.0):
        now = {market.key for market in trader.active() if market.type_id in LINE_TYPES - PASSING}
        for market in trader.active():
            if market.type_id in LINE_TYPES:
                assert 0.1 <= market.probability <= 0.9, market
        if now and on_offer:
            moves += len(now - on_offer)
        on_offer = now or on_offer
        rounds = sum(play.rounds_won for play in trader.match.maps)
    assert len({m.specifiers for m in trader.book.values() if m.type_id == 8}) > 8
    assert not trader.open()
    assert moves < 12 * rounds
    voids = [m for m in trader.book.values() if m.type_id in LINE_TYPES and m.result is Result.VOID]
    unplayed = len(trader.match.maps) + 1
    assert all(m.void_reason_id == 4 and parse_specifiers(m.specifiers).map == unplayed for m in voids)


def test_maps_to_come_are_on_offer_and_void_when_they_are_not_played() -> None:
    server = TradedServer(new_match(best_of=3))
    offered = {(parse_specifiers(m.specifiers).map, m.type_id) for m in server.trader.active()}
    assert {(2, kind) for kind in (6, 7, 8, 9)} | {(3, kind) for kind in (6, 7, 8, 9)} <= offered
    for name in ("de_mirage", "de_nuke"):
        server.play_map(name, "home")
    assert server.trader.match.over
    third = [m for m in server.trader.book.values() if parse_specifiers(m.specifiers).map == 3]
    assert third and {(m.status, m.void_reason_id) for m in third} == {(MarketStatus.CANCELLED, 4)}


def test_the_map_that_is_played_only_after_one_each_is_priced_as_if_it_is() -> None:
    """A strong favourite that needs a third map is likely weaker than it seemed."""
    trader = Trader.opened(replace(new_match(3), home_strength=1900.0, away_strength=1300.0))
    first, second, third = (trader.of(6, f"map={number}|team=home").probability for number in (1, 2, 3))
    assert second == pytest.approx(first) and 0.5 < third < second

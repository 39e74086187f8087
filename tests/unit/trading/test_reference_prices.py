"""Reference prices: what odds say without their margin, what several sources say together, and how far that
moves a price at most."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from app.domain.match import Match
from app.domain.references import MarketAnchor
from app.trading.market_anchor import MOST, blend
from app.trading.model import Skill, logit
from app.trading.reference_prices import AGREEMENT, Quote, consensus, fair
from app.trading.skill import Case, cases, match_chance, match_format, own_prior, skill_prior
from tests.unit.domain.play import Server, new_match
from tests.unit.trading.trader import Trader

NOW, DAY = 1_800_000_000_000, 86_400
probabilities = st.floats(0.03, 0.97)


def quote(home: float, source: str = "one", *, margin: float = 0.05, age: int = 0) -> Quote:
    """A source that finds this probability and puts its margin on in proportion."""
    odds = [max(1 / ((1 + margin) * share), 1.001) for share in (home, 1 - home)]
    return Quote(source, odds[0], odds[1], NOW - age * 1000)


def rated(home: float, away: float, best_of: int = 3) -> Match:
    return replace(new_match(best_of), home_strength=home, away_strength=away)


def priced(match: Match) -> float:
    """Home's probability to win the match, as it is on offer."""
    return Trader.opened(match).of(1, "team=home").probability


@given(st.lists(st.floats(1.02, 30), min_size=2, max_size=5))
def test_fair_probabilities_sum_to_one_in_the_order_of_the_odds(odds: list[float]) -> None:
    found = fair(odds)
    assert sum(found) == pytest.approx(1)
    assert sorted(range(len(odds)), key=lambda each: odds[each]) == sorted(
        range(len(odds)), key=lambda each: -found[each]
    )


@pytest.mark.parametrize("odds", [(1.0000001, 1.0000001), (1 + 1e-15, 1 + 1e-15, 10_000.0), (1e300, 1e300)])
def test_odds_of_nobody_have_fair_probabilities_too(odds: tuple[float, ...]) -> None:
    """Whatever is imported can be shown: the power is found in a fixed number of steps."""
    found = fair(odds)
    assert sum(found) == pytest.approx(1) and found[0] == pytest.approx(found[1])


@given(probabilities)
def test_odds_without_a_margin_are_read_as_they_are(home: float) -> None:
    assert fair((1 / home, 1 / (1 - home))) == pytest.approx((home, 1 - home))


@given(st.floats(0.55, 0.9))
def test_a_long_shot_bears_more_of_the_margin_than_the_favourite(home: float) -> None:
    one = quote(home)
    assert fair((one.home, one.away))[0] > home


@given(probabilities, probabilities)
def test_one_of_three_that_has_gone_mad_does_not_count(home: float, mad: float) -> None:
    """Wherever it lies, the consensus is one of the two that agree or lies between them."""
    found = consensus([quote(home, "one"), quote(mad, "mad"), quote(home, "two")], NOW, stale_seconds=DAY)
    assert found.home == pytest.approx(fair(quote(home)[1:3])[0])
    if abs(logit(mad) - logit(home)) > 1:
        assert [one.quote.source for one in found.readings if one.refused] == ["mad"]
        assert found.sources == 2


@pytest.mark.parametrize(
    ("odds", "reason"),
    [
        ((1.01, 1.01), "sum to"),
        ((50.0, 60.0), "sum to"),
        ((1.0, 9.0), "1 or less"),
        ((-3.0, 2.0), "1 or less"),
    ],
)
def test_odds_of_no_bookmaker_are_refused(odds: tuple[float, float], reason: str) -> None:
    found = consensus([Quote("one", *odds, NOW)], NOW, stale_seconds=DAY)
    assert (found.state, found.anchor) == ("none", None)
    assert reason in found.readings[0].refused


def test_yesterdays_price_is_stale_and_a_fresh_one_counts_more_than_an_old_one() -> None:
    stale = consensus([quote(0.7, age=DAY + 1)], NOW, stale_seconds=DAY)
    assert (stale.state, stale.anchor) == ("stale", None)
    fresh, old = (consensus([quote(0.7, age=age)], NOW, stale_seconds=DAY).weight for age in (0, DAY // 2))
    assert 0 < old < fresh < 1


def test_a_stale_source_does_not_make_the_others_older() -> None:
    found = consensus([quote(0.7, "one"), quote(0.3, "two", age=2 * DAY)], NOW, stale_seconds=DAY)
    assert (found.state, found.sources, found.at) == ("followed", 1, NOW)


def test_two_sources_far_apart_are_not_followed() -> None:
    found = consensus([quote(0.7, "one"), quote(0.3, "swapped")], NOW, stale_seconds=DAY)
    assert (found.state, found.anchor) == ("disagreeing", None)


def test_more_sources_count_more() -> None:
    weights = [
        consensus([quote(0.6, f"source {each}") for each in range(count)], NOW, stale_seconds=DAY).weight
        for count in (1, 2, 3)
    ]
    assert weights == sorted(set(weights))


def test_sources_that_agree_are_followed() -> None:
    near = 1 / (1 + math.exp(-(logit(0.6) + AGREEMENT / 2)))
    assert consensus([quote(0.6, "one"), quote(near, "two")], NOW, stale_seconds=DAY).state == "followed"


@given(probabilities, probabilities, st.floats(0, 1))
def test_no_source_moves_our_probability_beyond_the_bound(own: float, theirs: float, weight: float) -> None:
    found = blend(own, MarketAnchor(theirs, weight, 1, NOW))
    assert abs(logit(found) - logit(own)) <= MOST + 1e-9
    assert min(own, theirs) - 1e-9 <= found <= max(own, theirs) + 1e-9


@pytest.mark.parametrize("home", [0.0001, 0.2, 0.5, 0.8, 0.9999])
@pytest.mark.parametrize("best_of", [1, 3, 5])
def test_the_winners_price_is_the_blend(home: float, best_of: int) -> None:
    match = rated(1500, 1400, best_of)
    own = match_chance(match_format(match), own_prior(match))
    anchor = MarketAnchor(home, 0.9, 2, NOW)
    assert priced(replace(match, anchor=anchor)) == pytest.approx(blend(own, anchor), abs=0.002)


def test_without_sources_the_price_is_ours() -> None:
    match = rated(1500, 1400)
    assert priced(match) == pytest.approx(match_chance(match_format(match), own_prior(match)), abs=1e-6)


def test_every_market_follows_the_winner() -> None:
    match = rated(1400, 1400)
    plain, moved = (Trader.opened(replace(match, anchor=one)) for one in (None, MarketAnchor(0.8, 1, 3, NOW)))
    for key in ((6, "map=1|team=home"), (6, "map=2|team=home")):
        assert moved.of(*key).probability > plain.of(*key).probability + 0.05


def test_rounds_in_play_move_what_sources_said() -> None:
    """It is a prior as any other: the more rounds the other team wins, the less is left of it."""
    server = Server.started(replace(rated(1500, 1500, 1), anchor=MarketAnchor(0.85, 0.95, 3, NOW)))
    means = []
    for _ in range(3):
        means.append(_mean(cases(server.match)))
        server.rounds("away", "away", "away", "away")
    assert means[0] > means[1] > means[2]


def _mean(found: tuple[Case, ...]) -> float:
    return sum(weight * skill for weight, skill in found)


def test_the_spread_of_skill_shrinks_with_what_sources_know() -> None:
    match = replace(rated(1500, 1500), home_strength_sd=400.0, away_strength_sd=400.0)
    known = skill_prior(replace(match, anchor=MarketAnchor(0.5, 1.0, 3, NOW)))
    assert isinstance(known, Skill) and known.spread < own_prior(match).spread

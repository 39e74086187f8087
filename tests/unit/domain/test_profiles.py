"""A profile's odds, as a function of a market's own row."""

from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from app.domain.market import Market, MarketStatus, PricePhase
from app.domain.profiles import (
    HIGHEST_ODDS,
    LOWEST_ODDS,
    REASON,
    Profile,
    ProfileChange,
    StakeRule,
    profile_at,
)
from app.domain.suspension_reasons import market_reason_code
from app.domain.tenant_offer import OfferRules, TenantOffer, suspended
from app.domain.trading_controls import MarginControl
from app.domain.types_off import TypeOff

chances = st.floats(0.001, 0.999)
margins = st.floats(0, 0.3)


def market(probability: float = 0.5, **fields: object) -> Market:
    made = Market(13, "map=1|round=1|team=home", MarketStatus.ACTIVE, Decimal("1.85"), probability)
    return replace(made, **({"group": "round_winner:map=1|round=1"} | fields))


def profile(margin: float = 0.06, *more: MarginControl, **fields: object) -> Profile:
    return replace(Profile("own", 1, (MarginControl(margin), *more)), **fields)


@given(chances, margins, st.floats(0, 1), st.integers(2, 30), st.floats(0, 3), st.floats(0, 0.2))
def test_no_price_is_better_than_fair(
    chance: float, margin: float, long_shots: float, size: int, factor: float, min_move: float
) -> None:
    one = Profile("own", 1, (MarginControl(margin, long_shots=long_shots),), min_move=min_move)
    odds = one.odds(market(chance, group_size=size, margin_factor=factor))
    if odds is None:
        share = chance * (1 + margin * factor) + margin * factor
        assert share > 1 / LOWEST_ODDS
    else:
        assert float(odds) <= 1 / chance
        assert LOWEST_ODDS <= float(odds) <= HIGHEST_ODDS
        assert odds == odds.quantize(Decimal("0.001"))


@example(0.9, 1.0455, 0.05)
@given(chances, st.floats(LOWEST_ODDS, 20), st.sampled_from([0, 0.01, 0.1]))
def test_no_price_is_below_the_lowest(chance: float, lowest: float, min_move: float) -> None:
    """Nor is the price that stands for it, whatever decimals the lowest has; and what is above stays on
    offer."""
    shown = profile(min_odds=lowest, min_move=min_move).priced(market(chance))
    assert float(shown.odds) >= lowest - 1e-8
    if 1 / (chance * 1.06) >= lowest + 0.001:
        assert shown.status is MarketStatus.ACTIVE


@given(st.lists(st.floats(0.05, 1), min_size=2, max_size=8), margins, st.floats(0, 1))
def test_inverse_odds_of_a_group_sum_to_one_and_the_margin(
    weights: list[float], margin: float, long_shots: float
) -> None:
    one = Profile("own", 1, (MarginControl(margin, long_shots=long_shots),))
    group = [market(weight / sum(weights), group_size=len(weights)) for weight in weights]
    odds = [one.odds(each) for each in group]
    if all(each is not None and each < Decimal(HIGHEST_ODDS) for each in odds):
        total = sum(1 / float(each) for each in odds if each)
        rounding = sum(0.001 / float(each) ** 2 for each in odds if each)
        assert 1 + margin - 1e-6 <= total <= 1 + margin + 1.1 * rounding


@given(chances, chances, margins, st.floats(0, 0.2))
def test_a_likelier_market_has_no_longer_odds(a: float, b: float, margin: float, min_move: float) -> None:
    one = profile(margin, min_move=min_move)
    low, high = (one.odds(market(each)) or Decimal(0) for each in sorted((a, b)))
    assert high <= low


@given(st.lists(chances, min_size=2, max_size=20), st.floats(0.01, 0.2))
def test_two_odds_of_a_ladder_are_equal_or_a_step_apart(found: list[float], min_move: float) -> None:
    one = profile(min_move=min_move)
    odds = sorted({float(each) for chance in found if (each := one.odds(market(chance)))})
    for lower, higher in zip(odds, odds[1:], strict=False):
        assert higher >= lower * (1 + min_move) - 0.002


def test_long_shots_bear_more() -> None:
    level, shaped = profile(0.06), Profile("own", 1, (MarginControl(0.06, long_shots=1.0),))
    assert (shaped.odds(market(0.05)) or 0) < (level.odds(market(0.05)) or 0)
    assert (shaped.odds(market(0.9)) or 0) > (level.odds(market(0.9)) or 0)


@pytest.mark.parametrize(
    ("family", "phase", "margin"),
    [
        ("round_winner", "in_play", 0.01),
        ("round_winner", "before_play", 0.02),
        ("map_winner", "in_play", 0.03),
        ("map_winner", "before_play", 0.04),
    ],
)
def test_the_most_specific_margin_counts(family: str, phase: PricePhase, margin: float) -> None:
    one = profile(
        0.04,
        MarginControl(0.03, phase="in_play"),
        MarginControl(0.02, family="round_winner"),
        MarginControl(0.01, family="round_winner", phase="in_play"),
    )
    about = market(group=f"{family}:map=1", phase=phase)
    assert one.odds(about) == profile(margin).odds(about)


def test_a_trader_s_margin_multiplies_that_of_the_profile() -> None:
    assert profile(0.05).odds(market(margin_factor=2.0)) == profile(0.1).odds(market())


def test_stakes_have_rules_of_their_own() -> None:
    rule = StakeRule("round_winner", "last_rounds", 0.5, 3)
    one = profile(stakes=(rule,))
    assert one.stake_rule(market(phase="last_rounds")) is rule
    assert one.stake_rule(market()) == StakeRule()


def test_odds_below_the_lowest_suspend_the_market() -> None:
    one = profile(min_odds=1.2)
    shown = one.priced(market(0.9))
    assert (shown.status, shown.reason, shown.odds) == (MarketStatus.SUSPENDED, REASON, Decimal("1.2"))
    assert market_reason_code(shown) == "below_lowest_odds"
    off = suspended(market(0.9))
    assert one.priced(off) == replace(off, odds=Decimal("1.2")), "its own reason stays"
    assert profile(max_odds=3.0).odds(market(0.01)) == 3


def test_a_market_without_a_probability_stays_as_it_is() -> None:
    assert profile().priced(market(0.0)) == market(0.0)


@given(st.lists(st.integers(1, 50), max_size=6, unique=True).map(sorted), st.integers(0, 60))
def test_a_profile_holds_from_its_place_on(places: list[int], seq: int) -> None:
    changes = [ProfileChange(place, 0, profile(version=number)) for number, place in enumerate(places)]
    held = [place for place in places if place < seq]
    found = profile_at(changes, seq)
    assert found == (profile(version=len(held) - 1) if held else None)


def test_both_rules_hold_at_once() -> None:
    off = TypeOff(13, 10, 5)
    offer = TenantOffer((off,), (ProfileChange(7, 0, profile(0.1)),))
    shown = offer.now.market_in_list(market(first_opened_at=3))
    assert shown == suspended(profile(0.1).priced(market(first_opened_at=3)))
    assert offer.now.market_in_list(market(first_opened_at=11)) is None
    assert offer.last_change() == offer.last_change(13) == 7 and offer.at(6) == OfferRules({13: 10})
    assert offer.at(6).key_for((1,)) == OfferRules().key != offer.now.key_for((1,))

"""Books sum to 1 + margin, within the caps."""

from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.trading.pricing import LOWEST_ODDS_SHARE, MAX_ODDS, MIN_ODDS, odds, shares

weights = st.lists(st.floats(1e-6, 1.0), min_size=2, max_size=8)
margins = st.floats(0.005, 0.2)
long_shots = st.floats(0, 1)


def normalized(raw: list[float]) -> list[float]:
    return [weight / sum(raw) for weight in raw]


@given(weights, margins, long_shots)
def test_books_sum_and_stay_within_the_caps(raw: list[float], margin: float, equal: float) -> None:
    book = shares(normalized(raw), margin, equal)
    assert not book or abs(sum(book) - 1 - margin) < 1e-6
    assert all(1 / MAX_ODDS - 1e-9 <= share <= 1 / MIN_ODDS + 1e-9 for share in book)


@given(weights, margins, long_shots)
def test_likelier_is_never_priced_higher(raw: list[float], margin: float, equal: float) -> None:
    probabilities = normalized(raw)
    book = sorted(zip(probabilities, shares(probabilities, margin, equal), strict=False))
    assert all(less[1] <= more[1] + 1e-12 for less, more in zip(book, book[1:], strict=False))


@given(weights, margins, long_shots)
@example([0.9, 0.01, 0.01, 0.01], 0.01, 0.0)
def test_no_price_is_better_than_fair(raw: list[float], margin: float, equal: float) -> None:
    probabilities = normalized(raw)
    book = shares(probabilities, margin, equal)
    assert all(share >= probability - 1e-9 for probability, share in zip(probabilities, book, strict=False))


@given(weights, st.floats(0.3, 0.5))
def test_at_a_large_margin_only_the_lowest_odds_leave_no_price(raw: list[float], margin: float) -> None:
    """Eight long shots at the cap cost at most .16, so that only a favourite for whom even the lowest odds
    would pay more than fair leaves the group without prices."""
    probabilities = normalized(raw)
    assert bool(shares(probabilities, margin)) == (max(probabilities) <= 1 / MIN_ODDS + 1e-9)


def test_caps_leave_no_price_where_the_favourite_would_pay_more_than_fair() -> None:
    assert shares([0.97, 0.01, 0.01, 0.01], 0.01) == ()
    favourite, *others = shares([0.97, 0.01, 0.01, 0.01], 0.06)
    assert favourite == pytest.approx(1 / MIN_ODDS, rel=1e-12)
    assert others == pytest.approx([(1.06 - 1 / MIN_ODDS) / 3] * 3, rel=1e-12)


def test_margin_is_spread_in_proportion() -> None:
    assert shares([0.25, 0.75], 0.08) == (0.27, 0.81)


def test_long_shots_bear_more_of_the_margin() -> None:
    assert shares([0.25, 0.75], 0.08, 1.0) == (0.29, 0.79)
    assert shares([0.25, 0.75], 0.08, 0.5) == (0.28, 0.8)


@given(st.floats(1e-4, 1.2))
def test_odds_have_three_decimals(share: float) -> None:
    price = odds(share)
    assert Decimal("1.01") <= price <= Decimal(50)
    assert price == price.quantize(Decimal("0.001"))


def test_the_lowest_odds_begin_where_they_are_rounded_to_them() -> None:
    assert odds(LOWEST_ODDS_SHARE + 1e-9) == odds(1 / MIN_ODDS) < odds(LOWEST_ODDS_SHARE - 1e-9)

"""Books sum to 1 + margin, within the caps."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from app.trading.margin import MAX_ODDS, MIN_ODDS, odds, shares

weights = st.lists(st.floats(1e-6, 1.0), min_size=2, max_size=8)
margins = st.floats(0.02, 0.2)


@given(weights, margins)
def test_books_sum_and_stay_within_the_caps(raw: list[float], margin: float) -> None:
    probabilities = [weight / sum(raw) for weight in raw]
    book = shares(probabilities, margin)
    assert abs(sum(book) - 1 - margin) < 1e-6
    assert all(1 / MAX_ODDS - 1e-9 <= share <= 1 / MIN_ODDS + 1e-9 for share in book)


@given(weights, margins)
def test_likelier_is_never_priced_higher(raw: list[float], margin: float) -> None:
    probabilities = [weight / sum(raw) for weight in raw]
    book = shares(probabilities, margin)
    order = sorted(range(len(raw)), key=lambda index: probabilities[index])
    assert all(book[less] <= book[more] + 1e-12 for less, more in zip(order, order[1:], strict=False))


def test_margin_is_spread_in_proportion() -> None:
    assert shares([0.25, 0.75], 0.08) == (0.27, 0.81)


@given(st.floats(1e-4, 1.2))
def test_odds_have_three_decimals(share: float) -> None:
    price = odds(share)
    assert Decimal("1.01") <= price <= Decimal(50)
    assert price == price.quantize(Decimal("0.001"))

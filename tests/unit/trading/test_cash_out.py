"""What a bet is worth, and what is paid to buy it back."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.bet_value import BetValue
from app.domain.market import Market, MarketStatus, Result
from app.trading.cash_out import bet_value, cash_out_share, void_chance
from tests.unit.trading.test_engine import TradedServer

CENT = Decimal("0.01")
chances = st.floats(0.001, 0.999)
margins = st.floats(0, 0.3)
stakes = st.decimals(Decimal("0.01"), Decimal(1_000_000), places=2)
odds = st.decimals(Decimal("1.001"), Decimal("9999.999"), places=3)
offered = st.decimals(Decimal("1.01"), Decimal(50), places=3)


def market(
    chance: float, price: Decimal, status: MarketStatus = MarketStatus.ACTIVE, **rest: Result
) -> Market:
    return Market(1, "team=home", status, price, chance, **rest)


def amounts(value: BetValue) -> tuple[Decimal, Decimal]:
    assert value.fair_value is not None and value.cash_out is not None
    return value.fair_value, value.cash_out


@given(stakes, odds, chances, offered)
def test_an_offer_is_never_above_the_fair_value_nor_that_above_the_payout(
    stake: Decimal, taken: Decimal, chance: float, price: Decimal
) -> None:
    value = bet_value(stake, taken, market(chance, price))
    fair, offer = amounts(value)
    assert 0 <= offer <= fair <= value.payout <= stake * taken
    assert value.payout - fair >= value.payout * Decimal(str(1 - chance)) - 2 * CENT


@given(stakes, st.tuples(odds, odds), chances, offered)
def test_who_took_longer_odds_is_offered_no_less(
    stake: Decimal, taken: tuple[Decimal, Decimal], chance: float, price: Decimal
) -> None:
    short, long = (amounts(bet_value(stake, one, market(chance, price))) for one in sorted(taken))
    assert short[0] <= long[0] and short[1] <= long[1]


@given(st.tuples(chances, chances), margins)
def test_an_offer_rises_with_the_chance(found: tuple[float, float], margin: float) -> None:
    less, more = sorted(found)
    shares = [cash_out_share(one, Decimal(str(1 / (one * (1 + margin))))) for one in (less, more)]
    assert shares[0] <= shares[1] + 1e-9


@given(st.tuples(offered, offered), chances)
def test_a_profile_with_shorter_odds_offers_no_more(found: tuple[Decimal, Decimal], chance: float) -> None:
    short, long = sorted(found)
    assert cash_out_share(chance, short) <= cash_out_share(chance, long)


@given(chances, margins)
def test_it_is_what_a_bet_on_the_opposite_leaves_for_sure(chance: float, margin: float) -> None:
    """Odds of a group have one margin: stake so much on the opposite that both results pay the same."""
    own, other = 1 / (chance * (1 + margin)), 1 / ((1 - chance) * (1 + margin))
    hedge = 1 / other
    left = (1 - hedge, hedge * other - hedge)  # it happens, or the opposite does
    share = cash_out_share(chance, Decimal(str(own)))
    assert share == pytest.approx(max(0.0, left[0]), abs=1e-9)
    assert left[0] == pytest.approx(left[1], abs=1e-9)


@given(chances, offered, stakes)
def test_nobody_gains_by_a_bet_that_is_bought_back_at_once(
    chance: float, price: Decimal, stake: Decimal
) -> None:
    if float(price) * chance <= 1:  # odds with a margin, as all are
        assert amounts(bet_value(stake, price, market(chance, price)))[1] <= stake


def test_without_margin_the_offer_is_the_fair_value() -> None:
    assert amounts(bet_value(Decimal(100), Decimal("2.1"), market(0.5, Decimal(2)))) == (105, 105)
    value = bet_value(Decimal(100), Decimal("2.1"), market(0.5, Decimal("1.887")))
    assert amounts(value) == (105, Decimal("98.71"))


@given(stakes, odds, chances, offered, st.floats(0, 1))
def test_in_so_far_as_a_bet_may_be_void_it_is_worth_its_stake(
    stake: Decimal, taken: Decimal, chance: float, price: Decimal, returned: float
) -> None:
    """Who has two players level before the last round is paid more often than who has to win."""
    open_market = market(chance, price)
    stands, value = (bet_value(stake, taken, open_market, may_void=one) for one in (0.0, returned))
    for before, now in zip(amounts(stands), amounts(value), strict=True):
        assert float(now) == pytest.approx(returned * float(stake) + (1 - returned) * float(before), abs=0.02)
    assert 0 <= amounts(value)[1] <= amounts(value)[0] <= value.payout


def test_of_two_players_it_knows_that_they_may_get_as_many_kills() -> None:
    server = TradedServer.started()
    for number in range(23):
        if number == 12:
            server.change_sides()
        server.round("away" if number % 2 else "home")
        server.freeze()
    duels = [one for one in server.trader.active() if one.type_id == 38]
    assert duels
    for one in duels:
        returned = void_chance(server.match, one, server.trader.now)
        assert 0.05 < returned < 0.6
    others = [one for one in server.trader.active() if one.type_id != 38]
    assert {void_chance(server.match, one, server.trader.now) for one in others} == {0.0}


@given(stakes, odds, chances, offered)
def test_a_bet_with_a_result_is_worth_what_it_pays(
    stake: Decimal, taken: Decimal, chance: float, price: Decimal
) -> None:
    paid = {Result.WON: (stake * taken).quantize(CENT, "ROUND_DOWN"), Result.LOST: 0, Result.VOID: stake}
    for result, amount in paid.items():
        status = MarketStatus.CANCELLED if result is Result.VOID else MarketStatus.SETTLED
        value = bet_value(stake, taken, market(chance, price, status, result=result))
        assert amounts(value) == (amount, amount) and value.result is result
    assert amounts(bet_value(stake, taken, market(chance, price), void=True)) == (stake, stake)


def test_nothing_is_said_of_a_bet_on_a_suspended_market() -> None:
    value = bet_value(Decimal(1), Decimal(2), market(0.5, Decimal(2), MarketStatus.SUSPENDED))
    assert value == BetValue(Decimal(1), Decimal(2), Decimal("2.00"), None, None)


def test_where_the_opposite_costs_the_whole_payout_nothing_is_offered() -> None:
    fair, offer = amounts(bet_value(Decimal(100), Decimal(30), market(0.02, Decimal("47.17"))))
    assert (fair, offer) == (60, 0)

"""The courtsider benchmark bets as its page says."""

import math
from decimal import Decimal

import pytest
from msgspec.structs import replace

from app.domain.market import Market, MarketStatus
from scripts.bench.courtsider import returns, simulated
from scripts.bench.courtsider_play import DELAY, Batch, Tallies, Tally, batches, stands


@pytest.fixture(scope="module")
def tallies() -> Tallies:
    return simulated(3, 0.2)


def test_nobody_finds_value_who_knows_what_we_know(tallies: Tallies) -> None:
    assert not [key for key in tallies if key[1] == 0]


def test_who_is_ahead_by_more_than_the_delay_finds_value(tallies: Tallies) -> None:
    ahead = [tally for (_, lead, _), tally in tallies.items() if lead > DELAY]
    assert sum(tally.bets for tally in ahead) > 20


def test_no_bet_is_worth_its_stake_when_it_is_accepted_after_the_delay() -> None:
    """What is known by then has moved the price: it stands only where further news have led back to it."""
    within = [tally for (_, lead, _), tally in simulated(1, 0.2).items() if lead < DELAY]
    assert sum(tally.bets for tally in within) > 5
    assert all(tally.expected < 0 for tally in within)


def test_a_bet_stands_on_an_unchanged_offer() -> None:
    market = Market(13, "map=1|round=3|team=home", MarketStatus.ACTIVE, odds=Decimal(2), probability=0.5)
    assert stands(market, market)
    assert not stands(market, None)
    assert not stands(market, replace(market, odds=Decimal("2.01")))
    assert not stands(market, replace(market, status=MarketStatus.SUSPENDED))
    assert not stands(replace(market, status=MarketStatus.SUSPENDED), market)


def test_returns_are_means_of_bets_with_intervals_over_maps() -> None:
    maps: list[Tallies] = [
        {(13, 2, "kill"): Tally(1, 0.5), (13, 2, "plant"): Tally(1, -1.0)},
        {(13, 2, "kill"): Tally(2, 0.5)},
    ]
    found = returns(maps)[13][2]
    assert (found.bets, found.mean) == (4, 0.0)
    assert found.error == pytest.approx(1.96 * math.sqrt(2 * (0.5**2 + 0.5**2)) / 4)


def test_lines_arrive_once_a_second() -> None:
    lines = [(0.2, "a"), (0.9, "b"), (3.0, "c")]
    assert list(batches(lines)) == [Batch(1, "a\nb\n"), Batch(4, "c\n")]

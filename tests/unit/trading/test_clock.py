"""Prices follow the clock, not only the lines of the log."""

from app.domain.market import MarketStatus
from app.trading.forecast import Forecast
from app.trading.match_facts import collect_facts
from app.trading.offers import FALLS
from app.trading.pricing import PricingConfig
from tests.unit.trading.test_engine import TradedServer, team

STEP = PricingConfig().price_step


def planted() -> TradedServer:
    """A round in which five play against four, and the bomb is planted."""
    server = TradedServer.started()
    server.opening_kill("home")
    server.plant("away", 0)
    return server


def test_a_planted_bomb_ticks_without_lines() -> None:
    server = planted()
    before = server.trader.of(13, team(1)).probability
    server.trader.now += 20_000
    server.trader.react()
    assert server.trader.of(13, team(1)).probability < before - 0.05


def test_a_clock_behind_the_newest_fact_counts_as_there() -> None:
    server = planted()
    facts = collect_facts(server.match, ())
    late, early = Forecast(facts, server.match.last_arrived_at), Forecast(facts, 0)
    assert early.round_win(1, 1) == late.round_win(1, 1)


def test_odds_are_never_too_long_by_a_step_and_wait_while_too_short() -> None:
    """Those that are too long are worth a bet, those that are too short none."""
    server = planted()
    ratios, published = [], set()
    for _ in range(40):
        server.trader.react()
        market = server.trader.of(13, team(1))
        if market.status is not MarketStatus.ACTIVE:
            break
        home = Forecast(collect_facts(server.match, ()), server.trader.now).round_win(1, 1)
        ratios += [home / market.probability, (1 - home) / (1 - market.probability)]
        published.add(market.odds)
    assert len(published) > 1
    assert 1 - FALLS * STEP < min(ratios) <= 1 - STEP
    assert max(ratios) < 1 + STEP

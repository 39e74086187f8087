"""Prices follow the clock, not only the lines of the log."""

from app.trading.forecast import Forecast
from app.trading.match_facts import collect_facts
from tests.unit.trading.test_engine import TradedServer, team


def test_a_planted_bomb_ticks_without_lines() -> None:
    server = TradedServer()
    server.start_map()
    server.go_live()
    server.kill("home", 0, 0)
    server.plant("away", 0)
    before = server.trader.of(13, team(1)).probability
    server.trader.now += 20_000
    server.trader.react()
    assert server.trader.of(13, team(1)).probability < before - 0.05


def test_a_clock_behind_the_newest_fact_counts_as_there() -> None:
    server = TradedServer()
    server.start_map()
    server.go_live()
    server.kill("home", 0, 0)
    server.plant("away", 0)
    facts = collect_facts(server.match, ())
    late, early = Forecast(facts, server.match.last_arrived_at), Forecast(facts, 0)
    assert early.round_win(1, 1) == late.round_win(1, 1)

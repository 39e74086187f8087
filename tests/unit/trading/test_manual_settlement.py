"""What operators settle stays settled, whatever the engine computes, until they roll it back."""

import pytest

from app.domain.market import Market, MarketStatus, Result
from app.domain.settlement import LedgerStatus
from app.kit.errors import Conflict
from app.trading import settling
from tests.unit.domain.play import Server
from tests.unit.trading.trader import Trader

KEY = (13, "map=1|round=1|team=home")


@pytest.fixture
def trader() -> Trader:
    """Round 1 in its freeze."""
    server = Server.started()
    return Trader.opened(server.match)


def store(trader: Trader, changed: settling.MarketAndEntry) -> Market:
    market, entry = changed
    trader.book[market.key] = market
    trader.ledger.append(entry)
    return market


def play_round(trader: Trader) -> None:
    server = Server(trader.match)
    server.score = {"home": 0, "away": 0}
    server.rounds("home")
    trader.match = server.match
    trader.react(server.changes)


def test_the_engine_leaves_a_manual_settlement(trader: Trader) -> None:
    market = store(trader, settling.settle_manually(trader.book[KEY], won=False, reason="ruling"))
    assert (market.status, market.result) == (MarketStatus.SETTLED, Result.LOST)
    play_round(trader)
    assert trader.book[KEY] == market
    assert [entry.settled_by for entry in trader.entries(*KEY)] == ["admin"]


def test_rolled_back_it_follows_the_facts_again(trader: Trader) -> None:
    store(trader, settling.void_manually(trader.book[KEY], 14, "ruling"))
    store(trader, settling.roll_back_manually(trader.book[KEY], "ruling withdrawn"))
    play_round(trader)
    assert trader.book[KEY].result is Result.WON
    statuses = [entry.new_status for entry in trader.entries(*KEY)]
    assert statuses == [LedgerStatus.VOIDED, LedgerStatus.PENDING, LedgerStatus.SETTLED]
    assert trader.entries(*KEY)[-1].is_resettlement


def test_conflicts_name_the_present_state(trader: Trader) -> None:
    with pytest.raises(Conflict, match="active"):
        settling.roll_back_manually(trader.book[KEY], "slip")
    settled = store(trader, settling.settle_manually(trader.book[KEY], won=True, reason="ruling"))
    for attempt in (
        lambda: settling.settle_manually(settled, won=True, reason="again"),
        lambda: settling.void_manually(settled, 4, "again"),
    ):
        with pytest.raises(Conflict, match="settled; roll it back first"):
            attempt()

"""Bets placed in rounds that are played again are void; the market stays open, and settles."""

import pytest

from app.domain import facts as f
from app.domain.market import MarketStatus, Result
from app.domain.settlement import LedgerEntry, LedgerStatus, VoidWindow
from tests.unit.domain.play import new_match
from tests.unit.trading.test_engine import TradedServer, team
from tests.unit.trading.trader import Trader

MAP_WINNER, MATCH_WINNER = (6, "map=1|team=home"), (1, "team=home")


@pytest.fixture
def server() -> TradedServer:
    """Of a best of three, so that there is a map to come."""
    return TradedServer.started(new_match(3))


def windows(trader: Trader) -> list[LedgerEntry]:
    return [entry for entry in trader.ledger if entry.void_window is not None]


def of(server: TradedServer, key: tuple[int, str]) -> list[VoidWindow | None]:
    return [entry.void_window for entry in windows(server.trader) if entry.key == key]


def ended(server: TradedServer, number: int) -> int:
    return next(one.ended_at for one in server.match.maps[0].counted if one.number == number)


def test_bets_of_replayed_rounds_are_void_and_the_market_goes_on(server: TradedServer) -> None:
    server.rounds("home", "home", "away", "home")
    server.freeze_at(2, 0)
    window = VoidWindow(ended(server, 2), server.trader.now)
    for key in ((13, team(3)), (13, team(4)), MAP_WINNER, MATCH_WINNER):
        assert of(server, key) == [window]
        assert server.trader.book[key].status is MarketStatus.ACTIVE
    server.rounds("home")
    assert server.trader.of(13, team(3)).result is Result.WON
    assert of(server, (13, team(3))) == [window], "what is taken from then on counts"


def test_one_window_for_all_that_was_replayed_together(server: TradedServer) -> None:
    server.rounds("home", "home", "away", "home")
    server.freeze_at(1, 0)
    assert {entry.void_window for entry in windows(server.trader)} == {
        VoidWindow(ended(server, 1), server.trader.now)
    }


def test_an_entry_about_a_window_shows_where_its_market_stands(server: TradedServer) -> None:
    server.rounds("home", "home", "away")
    server.freeze_at(2, 0)
    for entry in windows(server.trader):
        assert (entry.previous_status, entry.new_status) == (LedgerStatus.PENDING, LedgerStatus.PENDING)
        assert (entry.result, entry.message, entry.void_reason_id) == (None, "bet_cancel", 4)
        assert set(entry.rests_on) == {played.id for played in server.match.maps[0].rounds if played.void}


def test_what_stands_is_left_alone(server: TradedServer) -> None:
    server.rounds("home", "home", "away", "home")
    server.freeze_at(2, 0)
    assert of(server, (13, team(2))) == [], "that round counts"
    assert of(server, (6, "map=2|team=home")) == [], "nothing of the next map was played"


def test_what_was_off_offer_all_the_while_took_no_bets(server: TradedServer) -> None:
    """At 8:0 much is too certain to be sold, and stays so; lines about players may come back."""
    server.rounds(*["home"] * 8)
    at_eight, trader = server.trader.now, server.trader
    off_offer = {market.key for market in trader.open()} - {market.key for market in trader.active()}
    server.rounds("home", "home")
    server.freeze_at(9, 0)
    gone = {key for key in off_offer if trader.offered[key] <= at_eight}
    assert {key for key in off_offer if key[0] not in (36, 37)} <= gone
    windowed = {entry.key for entry in windows(server.trader)}
    assert gone and windowed and not gone & windowed


def test_what_went_off_offer_meanwhile_took_bets_until_then(server: TradedServer) -> None:
    server.rounds("home", "home")
    server.opening_kill("home")
    decided = (30, "map=1|round=3")
    assert server.trader.book[decided].status is MarketStatus.SUSPENDED
    server.freeze_at(2, 0)
    assert len(of(server, decided)) == 1


def test_a_round_that_is_begun_again_takes_its_bets_with_it(server: TradedServer) -> None:
    server.rounds("home")
    server.opening_kill("home")
    server.report(f.FreezeStarted(at=server.later()))
    window = VoidWindow(ended(server, 1), server.trader.now)
    assert of(server, (13, team(2))) == of(server, (14, team(2))) == [window]


def test_a_map_that_is_begun_again_takes_its_bets_with_it(server: TradedServer) -> None:
    server.rounds("home", "home")
    server.report(f.PlayStarted(at=server.later(), map_name=server.map_name))
    begun = server.match.maps[0].started_at
    assert begun is not None
    assert of(server, MAP_WINNER) == [VoidWindow(begun, server.trader.now)]


def test_a_round_with_an_unseen_end_is_not_replayed(server: TradedServer) -> None:
    server.rounds("home")
    server.opening_kill("home")
    server.report(f.DataLost(at=server.later(), reason="a part of the log is missing"))
    server.freeze_at(2, 0)
    assert windows(server.trader) == []


def test_nothing_happened_so_nothing_is_void(server: TradedServer) -> None:
    server.rounds("home")
    server.go_live()
    server.report(f.FreezeStarted(at=server.later()))
    assert windows(server.trader) == []


def test_each_replay_has_its_window(server: TradedServer) -> None:
    """The second begins where the first replayed round had ended: what was before is void already."""
    server.rounds("home", "home", "away")
    since, again = ended(server, 2), ended(server, 3)
    server.freeze_at(2, 0)
    first = server.trader.now
    server.rounds("away")
    server.freeze_at(2, 0)
    assert of(server, MAP_WINNER) == [VoidWindow(since, first), VoidWindow(again, server.trader.now)]

"""Bets taken in rounds that are played again are void; the market goes on, and settles."""

import pytest

from app.domain import facts as f
from app.domain.market import MarketStatus, Result
from app.domain.settlement import LedgerEntry, LedgerStatus, VoidWindow
from tests.unit.domain.play import new_match
from tests.unit.trading.test_engine import Floor, team
from tests.unit.trading.trader import Trader

MAP_WINNER, MATCH_WINNER = (6, "map=1|team=home"), (1, "team=home")


@pytest.fixture
def floor() -> Floor:
    """Of a best of three, so that there is a map to come."""
    floor = Floor(new_match(3))
    floor.start_map()
    return floor


def load_backup(floor: Floor, home: int, away: int) -> None:
    floor.score = {"home": home, "away": away}
    floor.freeze()


def windows(trader: Trader) -> list[LedgerEntry]:
    return [entry for entry in trader.ledger if entry.void_window is not None]


def of(floor: Floor, key: tuple[int, str]) -> list[VoidWindow | None]:
    return [entry.void_window for entry in windows(floor.trader) if entry.key == key]


def ended(floor: Floor, number: int) -> int:
    return next(one.ended_at for one in floor.match.maps[0].counted if one.number == number)


def test_bets_of_replayed_rounds_are_void_and_the_market_goes_on(floor: Floor) -> None:
    floor.rounds("home", "home", "away", "home")
    load_backup(floor, 2, 0)
    window = VoidWindow(ended(floor, 2), floor.trader.now)
    for key in ((13, team(3)), (13, team(4)), MAP_WINNER, MATCH_WINNER):
        assert of(floor, key) == [window]
        assert floor.trader.book[key].status is MarketStatus.ACTIVE
    floor.rounds("home")
    assert floor.trader.of(13, team(3)).result is Result.WON
    assert of(floor, (13, team(3))) == [window], "what is taken from then on counts"


def test_one_window_for_all_that_was_replayed_together(floor: Floor) -> None:
    floor.rounds("home", "home", "away", "home")
    load_backup(floor, 1, 0)
    assert {entry.void_window for entry in windows(floor.trader)} == {
        VoidWindow(ended(floor, 1), floor.trader.now)
    }


def test_an_entry_about_a_window_shows_where_its_market_stands(floor: Floor) -> None:
    floor.rounds("home", "home", "away")
    load_backup(floor, 2, 0)
    for entry in windows(floor.trader):
        assert (entry.previous_status, entry.new_status) == (LedgerStatus.PENDING, LedgerStatus.PENDING)
        assert (entry.outcome, entry.message, entry.void_reason_id) == (None, "bet_cancel", 4)
        assert set(entry.rests_on) == {played.id for played in floor.match.maps[0].rounds if played.void}


def test_what_stands_is_left_alone(floor: Floor) -> None:
    floor.rounds("home", "home", "away", "home")
    load_backup(floor, 2, 0)
    assert of(floor, (13, team(2))) == [], "that round counts"
    assert of(floor, (6, "map=2|team=home")) == [], "nothing of the next map was played"


def test_what_was_off_offer_all_the_while_took_no_bets(floor: Floor) -> None:
    """At 8:0 much is too certain to be sold, and stays so."""
    floor.rounds(*["home"] * 8)
    gone = {market.key for market in floor.trader.open()} - {market.key for market in floor.trader.active()}
    floor.rounds("home", "home")
    load_backup(floor, 9, 0)
    told = {entry.key for entry in windows(floor.trader)}
    assert gone and told and not gone & told


def test_what_went_off_offer_meanwhile_took_bets_until_then(floor: Floor) -> None:
    floor.rounds("home", "home")
    floor.go_live()
    floor.kill("home", 0, 0)
    decided = (30, "map=1|round=3")
    assert floor.trader.book[decided].status is MarketStatus.SUSPENDED
    load_backup(floor, 2, 0)
    assert len(of(floor, decided)) == 1


def test_a_round_that_is_begun_again_takes_its_bets_with_it(floor: Floor) -> None:
    floor.rounds("home")
    floor.go_live()
    floor.kill("home", 0, 0)
    floor.tell(f.FreezeStarted(at=floor.later()))
    window = VoidWindow(ended(floor, 1), floor.trader.now)
    assert of(floor, (13, team(2))) == of(floor, (14, team(2))) == [window]


def test_a_map_that_is_begun_again_takes_its_bets_with_it(floor: Floor) -> None:
    floor.rounds("home", "home")
    floor.tell(f.PlayStarted(at=floor.later(), map_name=floor.map_name))
    begun = floor.match.maps[0].started_at
    assert begun is not None
    assert of(floor, MAP_WINNER) == [VoidWindow(begun, floor.trader.now)]


def test_a_round_whose_end_nobody_saw_is_not_replayed(floor: Floor) -> None:
    floor.rounds("home")
    floor.go_live()
    floor.kill("home", 0, 0)
    floor.tell(f.SourceLost(at=floor.later(), reason="a part of the log is missing"))
    floor.score = {"home": 2, "away": 0}
    floor.freeze()
    assert windows(floor.trader) == []


def test_nothing_happened_so_nothing_is_void(floor: Floor) -> None:
    floor.rounds("home")
    floor.go_live()
    floor.tell(f.FreezeStarted(at=floor.later()))
    assert windows(floor.trader) == []


def test_each_replay_has_its_window(floor: Floor) -> None:
    floor.rounds("home", "home", "away")
    load_backup(floor, 2, 0)
    first = floor.trader.now
    floor.rounds("away")
    load_backup(floor, 2, 0)
    since = ended(floor, 2)
    assert of(floor, MAP_WINNER) == [VoidWindow(since, first), VoidWindow(since, floor.trader.now)]

"""How the book follows a match: opened, repriced, suspended, settled, taken back."""

import pytest
from msgspec.structs import replace

from app.domain import facts as f
from app.domain.awards import award_map, award_match
from app.domain.lifecycle import cancel
from app.domain.market import MarketStatus, Result
from app.domain.match import Match
from app.domain.settlement import LedgerStatus
from app.trading.engine import suspend_all
from tests.unit.domain.play import Server, new_match
from tests.unit.trading.trader import Trader

ACTIVE, SUSPENDED = MarketStatus.ACTIVE, MarketStatus.SUSPENDED
SETTLED, CANCELLED = MarketStatus.SETTLED, MarketStatus.CANCELLED


class Floor(Server):
    """A server whose every account trading reacts to at once."""

    def __init__(self, match: Match | None = None) -> None:
        super().__init__(match)
        self.trader = Trader(self.match)
        self.trader.react()

    def tell(self, *facts: f.Fact, quoting: bool = True) -> tuple[object, ...]:  # type: ignore[override]
        changes = super().tell(*facts)
        self.trader.match = self.match
        self.trader.react(changes, quoting=quoting)
        return changes

    def status_of(self, type_id: int, specifiers: str) -> MarketStatus:
        return self.trader.of(type_id, specifiers).status


@pytest.fixture
def floor() -> Floor:
    floor = Floor()
    floor.start_map()
    return floor


def team(number: int, slot: str = "home") -> str:
    return f"map=1|round={number}|team={slot}"


def test_before_the_match_the_stronger_team_is_shorter() -> None:
    trader = Trader(replace(new_match(3), home_strength=1900.0, away_strength=1500.0))
    trader.react()
    assert trader.of(1, "team=home").odds < trader.of(1, "team=away").odds
    assert trader.of(1, "team=home").odds < trader.of(6, "map=1|team=home").odds
    assert {market.type_id for market in trader.active()} >= {1, 2, 3, 4, 5, 6, 7, 8, 9, 12}
    assert not [market for market in trader.active() if "round=" in market.specifiers]


def test_freeze_opens_the_round_and_the_one_after(floor: Floor) -> None:
    for specifiers in (team(1), team(1, "away"), team(2)):
        assert floor.status_of(13, specifiers) is ACTIVE
    assert floor.status_of(14, team(1)) is ACTIVE


def test_live_keeps_only_what_is_repriced(floor: Floor) -> None:
    floor.go_live()
    floor.kill("home", 0, 0)
    assert floor.status_of(14, team(1)) is SETTLED
    assert floor.status_of(13, team(1)) is ACTIVE
    assert floor.status_of(30, "map=1|round=1") is SUSPENDED


def test_first_kill_settles_on_itself(floor: Floor) -> None:
    floor.go_live()
    floor.kill("away", 0, 0)
    kill = floor.match.current.events[0].id if floor.match.current else 0
    for slot, result in (("home", Result.LOST), ("away", Result.WON)):
        market = floor.trader.of(14, team(1, slot))
        assert (market.result, market.rests_on) == (result, (kill,))


def test_round_without_a_kill_has_no_opening_kill(floor: Floor) -> None:
    floor.rounds("home")
    floor.go_live()
    floor.win("home", "time")
    market = floor.trader.of(14, team(2))
    assert (market.status, market.void_reason_id) == (CANCELLED, 14)
    assert market.rests_on == (floor.match.maps[0].rounds[-1].id,)


def test_round_result_settles_the_round(floor: Floor) -> None:
    floor.rounds("home")
    played = floor.match.maps[0].rounds[0]
    assert floor.trader.of(13, team(1)).rests_on == (played.id,)
    assert floor.trader.of(13, team(1)).result is Result.WON
    assert floor.trader.of(12, "map=1|team=away|half=1").result is Result.LOST


def test_pause_and_suspension_take_everything_off(floor: Floor) -> None:
    floor.tell(f.Paused(at=floor.later(), reason="timeout"))
    assert not floor.trader.active()
    assert {market.reason for market in floor.trader.open()} == {"timeout"}
    floor.tell(f.Resumed(at=floor.later(), reason="timeout"))
    assert floor.status_of(13, team(1)) is ACTIVE
    floor.tell(f.SourceLost(at=floor.later(), reason="hole"))
    assert not floor.trader.active()


def test_late_facts_settle_but_offer_nothing(floor: Floor) -> None:
    floor.tell(f.RoundStarted(at=floor.later(15)), quoting=False)
    assert not floor.trader.active()
    floor.kill("home", 0, 0)
    floor.tell(floor.kill_fact("home", 1, 1), quoting=False)
    floor.tell(floor.won_fact("home"), f.FreezeStarted(at=floor.later(7)), quoting=False)
    assert not floor.trader.active()
    assert floor.trader.of(13, team(1)).result is Result.WON
    assert (13, team(3)) not in floor.trader.book


def test_suspend_all(floor: Floor) -> None:
    changed = suspend_all(floor.trader.book, "nobody tends the prices")
    assert {market.key for market in changed} == {market.key for market in floor.trader.active()}
    assert {(market.status, market.reason) for market in changed} == {(SUSPENDED, "nobody tends the prices")}


def test_map_settles_what_hangs_on_it() -> None:
    floor = Floor(new_match(3))
    floor.play_map("de_mirage", "home")
    end = floor.match.maps[0].end_id
    assert floor.trader.of(6, "map=1|team=home").result is Result.WON
    assert floor.trader.of(6, "map=1|team=home").rests_on == (end,)
    assert floor.trader.of(9, "map=1|threshold=20.5").result is Result.WON
    assert floor.trader.of(5, "home_maps=0|away_maps=2").result is Result.LOST
    assert floor.trader.of(5, "home_maps=2|away_maps=0").result is None
    assert floor.status_of(6, "map=2|team=home") is ACTIVE
    floor.play_map("de_nuke", "home")
    assert floor.trader.of(1, "team=home").result is Result.WON
    assert len(floor.trader.of(1, "team=home").rests_on) == 2
    assert not floor.trader.open()


def test_over_is_decided_with_its_round(floor: Floor) -> None:
    """At 9:9 no map can end with fewer than 22 rounds."""
    floor.rounds(*("home", "away") * 6)
    floor.swap()
    floor.rounds(*("home", "away") * 3)
    for line, result in ((18.5, Result.WON), (20.5, Result.WON), (22.5, None)):
        assert floor.trader.of(8, f"map=1|threshold={line}").result is result
    decisive = floor.trader.of(8, "map=1|threshold=20.5").rests_on
    assert decisive and decisive[0] == floor.match.maps[0].rounds[0].id


def test_restored_rounds_are_taken_back_and_settled_again(floor: Floor) -> None:
    floor.rounds("home", "home", "away", "home")
    before = floor.trader.of(13, team(3))
    floor.score = {"home": 2, "away": 0}
    floor.freeze()
    floor.rounds("home")
    entries = [entry for entry in floor.trader.entries(13, team(3)) if entry.void_window is None]
    assert [(e.previous_status, e.new_status) for e in entries] == [
        (LedgerStatus.PENDING, LedgerStatus.SETTLED),
        (LedgerStatus.SETTLED, LedgerStatus.PENDING),
        (LedgerStatus.PENDING, LedgerStatus.SETTLED),
    ]
    assert [e.is_resettlement for e in entries] == [False, False, True]
    after = floor.trader.of(13, team(3))
    assert (before.result, after.result) == (Result.LOST, Result.WON)
    assert set(before.rests_on).isdisjoint(after.rests_on)


def test_the_same_result_again_leaves_the_same_state(floor: Floor) -> None:
    floor.rounds("home", "home", "away")
    before = {key: market.result for key, market in floor.trader.book.items() if not market.open}
    floor.score = {"home": 2, "away": 0}
    floor.freeze()
    floor.rounds("away")
    after = {key: market.result for key, market in floor.trader.book.items() if not market.open}
    assert after == before


def test_round_never_played_is_void(floor: Floor) -> None:
    """Round 2 was on offer, then the map was awarded."""
    floor.match, changes = award_map(floor.match, "home", floor.later())
    floor.trader.match = floor.match
    floor.trader.react(changes)
    for market in (floor.trader.of(13, team(1)), floor.trader.of(8, "map=1|threshold=20.5")):
        assert (market.status, market.void_reason_id) == (CANCELLED, 4)
    assert floor.trader.of(6, "map=1|team=home").result is Result.WON


def test_walkover_before_play_voids_all() -> None:
    trader = Trader(new_match(3))
    trader.react()
    trader.match, changes = award_match(trader.match, "home", 1)
    trader.react(changes)
    assert {(m.status, m.void_reason_id) for m in trader.book.values()} == {(CANCELLED, 4)}


def test_cancelled_match_voids_what_is_undecided(floor: Floor) -> None:
    floor.rounds("home")
    floor.match, changes = cancel(floor.match, floor.later())
    floor.trader.match = floor.match
    floor.trader.react(changes)
    assert not floor.trader.open()
    assert floor.trader.of(13, team(1)).result is Result.WON
    assert floor.trader.of(1, "team=home").void_reason_id == 4


def test_a_hole_in_the_round_leaves_its_events_open(floor: Floor) -> None:
    floor.rounds("home")
    floor.go_live()
    floor.tell(f.SourceLost(at=floor.later(), reason="hole"))
    floor.kill("home", 0, 0)
    assert floor.trader.of(14, team(2)).open
    floor.win("home")
    assert floor.trader.of(14, team(2)).void_reason_id == 14
    assert floor.trader.of(13, team(2)).result is Result.WON

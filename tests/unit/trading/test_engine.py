"""How the book follows a match: opened, repriced, suspended, settled, rolled back."""

import pytest
from msgspec.structs import replace

from app.domain import facts as f
from app.domain.lifecycle import award_map, award_match, cancel
from app.domain.market import MarketStatus, Result
from app.domain.match import Match
from app.domain.settlement import LedgerStatus
from app.domain.suspension_reasons import code_of
from app.trading.engine import suspend_all
from tests.unit.domain.play import TEAMS, Server, new_match
from tests.unit.trading.trader import Trader

ACTIVE, SUSPENDED = MarketStatus.ACTIVE, MarketStatus.SUSPENDED
SETTLED, CANCELLED = MarketStatus.SETTLED, MarketStatus.CANCELLED


class TradedServer(Server):
    """A server to whose facts trading reacts at once."""

    def __init__(self, match: Match | None = None) -> None:
        super().__init__(match)
        self.trader = Trader.opened(self.match)

    def report(self, *facts: f.Fact, may_price: bool = True) -> tuple[object, ...]:  # type: ignore[override]
        changes = super().report(*facts)
        self.trader.match = self.match
        self.trader.react(changes, may_price=may_price)
        return changes

    def status_of(self, type_id: int, specifiers: str) -> MarketStatus:
        return self.trader.of(type_id, specifiers).status


@pytest.fixture
def server() -> TradedServer:
    return TradedServer.started()


def team(number: int, which: str = "home") -> str:
    return f"map=1|round={number}|team={which}"


def test_before_the_match_the_stronger_team_is_shorter() -> None:
    trader = Trader.opened(replace(new_match(3), home_strength=1900.0, away_strength=1500.0))
    assert trader.of(1, "team=home").odds < trader.of(1, "team=away").odds
    assert trader.of(1, "team=home").odds < trader.of(6, "map=1|team=home").odds
    assert {market.type_id for market in trader.active()} >= {1, 2, 3, 4, 5, 6, 7, 8, 9, 12}
    assert not [market for market in trader.active() if "round=" in market.specifiers]


def test_freeze_opens_the_round_and_the_one_after(server: TradedServer) -> None:
    for specifiers in (team(1), team(1, "away"), team(2)):
        assert server.status_of(13, specifiers) is ACTIVE
    assert server.status_of(14, team(1)) is ACTIVE


def test_in_a_live_round_only_repriced_markets_stay_open(server: TradedServer) -> None:
    server.opening_kill("home")
    assert server.status_of(14, team(1)) is SETTLED
    assert server.status_of(13, team(1)) is ACTIVE
    assert server.status_of(30, "map=1|round=1") is SUSPENDED


def test_first_kill_settles_on_itself(server: TradedServer) -> None:
    server.opening_kill("away")
    kill = server.match.current.events[0].id if server.match.current else 0
    for winner, result in (("home", Result.LOST), ("away", Result.WON)):
        market = server.trader.of(14, team(1, winner))
        assert (market.result, market.rests_on) == (result, (kill,))


def test_round_without_a_kill_has_no_opening_kill(server: TradedServer) -> None:
    server.rounds("home")
    server.go_live()
    server.win("home", "time")
    market = server.trader.of(14, team(2))
    assert (market.status, market.void_reason_id) == (CANCELLED, 14)
    assert market.rests_on == (server.match.maps[0].rounds[-1].id,)


def test_round_result_settles_the_round(server: TradedServer) -> None:
    server.rounds("home")
    played = server.match.maps[0].rounds[0]
    assert server.trader.of(13, team(1)).rests_on == (played.id,)
    assert server.trader.of(13, team(1)).result is Result.WON
    assert server.trader.of(12, "map=1|team=away|half=1").result is Result.LOST


def test_pause_and_suspension_take_everything_off(server: TradedServer) -> None:
    server.report(f.Paused(at=server.later(), reason="timeout"))
    assert not server.trader.active()
    assert {market.reason for market in server.trader.open()} == {"paused"}
    server.report(f.Resumed(at=server.later(), reason="timeout"))
    assert server.status_of(13, team(1)) is ACTIVE
    server.report(f.DataLost(at=server.later(), reason="hole"))
    assert not server.trader.active()


def test_late_facts_settle_but_offer_nothing(server: TradedServer) -> None:
    server.report(f.RoundStarted(at=server.later(15)), may_price=False)
    assert not server.trader.active()
    server.kill("home", 0, 0)
    server.report(server.kill_fact("home", 1, 1), may_price=False)
    server.report(server.won_fact("home"), f.FreezeStarted(at=server.later(7)), may_price=False)
    assert not server.trader.active()
    assert server.trader.of(13, team(1)).result is Result.WON
    assert (13, team(3)) not in server.trader.book


def test_suspend_all(server: TradedServer) -> None:
    changed = suspend_all(server.trader.book, "prices are unattended")
    assert {market.key for market in changed} == {market.key for market in server.trader.active()}
    assert {(market.status, market.reason) for market in changed} == {(SUSPENDED, "prices are unattended")}


def test_map_settles_what_hangs_on_it() -> None:
    server = TradedServer(new_match(3))
    server.play_map("de_mirage", "home")
    end = server.match.maps[0].end_id
    assert server.trader.of(6, "map=1|team=home").result is Result.WON
    assert server.trader.of(6, "map=1|team=home").rests_on == (end,)
    assert server.trader.of(9, "map=1|threshold=20.5").result is Result.WON
    assert server.trader.of(5, "home_maps=0|away_maps=2").result is Result.LOST
    assert server.trader.of(5, "home_maps=2|away_maps=0").result is None
    assert server.status_of(6, "map=2|team=home") is ACTIVE
    server.play_map("de_nuke", "home")
    assert server.trader.of(1, "team=home").result is Result.WON
    assert len(server.trader.of(1, "team=home").rests_on) == 2
    assert not server.trader.open()


def test_over_is_decided_with_its_round(server: TradedServer) -> None:
    """At 9:9 no map can end with fewer than 22 rounds."""
    server.rounds(*("home", "away") * 6)
    server.swap()
    server.rounds(*("home", "away") * 3)
    for line, result in ((18.5, Result.WON), (20.5, Result.WON), (22.5, None)):
        assert server.trader.of(8, f"map=1|threshold={line}").result is result
    decisive = server.trader.of(8, "map=1|threshold=20.5").rests_on
    assert decisive and decisive[0] == server.match.maps[0].rounds[0].id


def test_restored_rounds_are_rolled_back_and_settled_again(server: TradedServer) -> None:
    server.rounds("home", "home", "away", "home")
    before = server.trader.of(13, team(3))
    server.freeze_at(2, 0)
    server.rounds("home")
    entries = [entry for entry in server.trader.entries(13, team(3)) if entry.void_window is None]
    assert [(e.previous_status, e.new_status) for e in entries] == [
        (LedgerStatus.PENDING, LedgerStatus.SETTLED),
        (LedgerStatus.SETTLED, LedgerStatus.PENDING),
        (LedgerStatus.PENDING, LedgerStatus.SETTLED),
    ]
    assert [e.is_resettlement for e in entries] == [False, False, True]
    after = server.trader.of(13, team(3))
    assert (before.result, after.result) == (Result.LOST, Result.WON)
    assert set(before.rests_on).isdisjoint(after.rests_on)


def test_the_same_result_again_leaves_the_same_state(server: TradedServer) -> None:
    server.rounds("home", "home", "away")
    before = {key: market.result for key, market in server.trader.book.items() if not market.open}
    server.freeze_at(2, 0)
    server.rounds("away")
    after = {key: market.result for key, market in server.trader.book.items() if not market.open}
    assert after == before


def test_round_never_played_is_void(server: TradedServer) -> None:
    """Round 2 was on offer, then the map was awarded."""
    server.match, changes = award_map(server.match, "home", server.later())
    server.trader.match = server.match
    server.trader.react(changes)
    for market in (server.trader.of(13, team(1)), server.trader.of(8, "map=1|threshold=20.5")):
        assert (market.status, market.void_reason_id) == (CANCELLED, 4)
    assert server.trader.of(6, "map=1|team=home").result is Result.WON


def test_walkover_before_play_voids_all() -> None:
    trader = Trader.opened(new_match(3))
    trader.match, changes = award_match(trader.match, "home", 1)
    trader.react(changes)
    assert {(m.status, m.void_reason_id) for m in trader.book.values()} == {(CANCELLED, 4)}


def test_cancelled_match_voids_what_is_undecided(server: TradedServer) -> None:
    server.rounds("home")
    server.match, changes = cancel(server.match, server.later())
    server.trader.match = server.match
    server.trader.react(changes)
    assert not server.trader.open()
    assert server.trader.of(13, team(1)).result is Result.WON
    assert server.trader.of(1, "team=home").void_reason_id == 4


def test_a_hole_in_the_round_leaves_its_events_open(server: TradedServer) -> None:
    server.rounds("home")
    server.go_live()
    server.report(f.DataLost(at=server.later(), reason="hole"))
    server.kill("home", 0, 0)
    assert server.trader.of(14, team(2)).open
    server.win("home")
    assert server.trader.of(14, team(2)).void_reason_id == 14
    assert server.trader.of(13, team(2)).result is Result.WON


@pytest.mark.parametrize("together", [True, False])
def test_a_bomb_planted_after_the_decision_is_no_plant(server: TradedServer, together: bool) -> None:
    """Whether its line comes in the same batch as the result or in the next one."""
    server.opening_kill("away")
    won = server.won_fact("away")
    plant = f.BombPlanted(at=server.later(), player=TEAMS["away"][1], site="A")
    for facts in [(won, plant)] if together else [(won,), (plant,)]:
        server.report(*facts)
    server.freeze()
    assert server.trader.of(17, "map=1|round=1").result is Result.LOST


@pytest.mark.parametrize("score", [(0, 0), (3, 11)])
def test_a_log_that_begins_within_a_map_is_not_priced_before_its_score_is_known(
    score: tuple[int, int],
) -> None:
    """It may have been attached late: nothing shows that the score is 0:0."""
    server = TradedServer()
    server.report(f.RoundStarted(at=server.later()))
    server.team_lines()
    server.kill("home", 0, 0)
    assert code_of(server.match.suspended) == "missing_data" and not server.trader.active()
    server.score = dict(zip(("home", "away"), score, strict=True))
    server.win("home")
    server.freeze()
    assert not server.match.suspended and server.trader.active()

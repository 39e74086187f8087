"""A line about play that was not understood: nothing is settled by what is known of its round."""

import pytest

from app.domain import facts as f
from app.domain.doubts import UNREAD_LINE
from app.domain.market import Result
from app.domain.match import Team, WinReason
from tests.unit.trading.test_engine import TradedServer, team


def unread(server: TradedServer) -> f.LineNotUnderstood:
    return f.LineNotUnderstood(at=server.later())


def test_what_rests_on_the_events_of_its_round_is_void_and_the_result_counts() -> None:
    server = TradedServer.started()
    server.opening_kill("home")
    server.report(unread(server))
    assert server.match.suspended == UNREAD_LINE
    assert not server.trader.active()
    server.win("home")
    of_kills = [market for key, market in server.trader.book.items() if key[0] in (19, 20)]
    assert of_kills and {market.result for market in of_kills} == {Result.VOID}
    assert server.trader.of(13, team(1)).result is Result.WON


def test_in_freeze_time_and_warm_up_it_changes_nothing() -> None:
    server = TradedServer.started()
    assert server.report(unread(server)) == ()
    server.report(f.WarmupStarted(at=server.later()))
    assert server.report(unread(server)) == ()


def test_the_match_is_suspended_to_the_end_of_the_round_and_no_longer() -> None:
    server = TradedServer.started()
    server.opening_kill("home")
    server.report(unread(server), f.DataComplete(at=server.later()))
    assert server.match.suspended
    server.win("home")
    assert server.match.suspended
    server.freeze()
    assert not server.match.suspended
    server.round("home")
    assert [one.gap for one in server.map.counted] == [True, False]


def test_after_the_decision_it_concerns_the_round_that_was_decided() -> None:
    server = TradedServer.started()
    server.round("home")
    server.report(unread(server))
    assert server.map.counted[-1].gap
    server.freeze()
    assert not server.match.suspended


@pytest.mark.parametrize("reason", ["bomb", "defuse"])
def test_the_end_of_a_round_by_the_bomb_proves_the_plant(reason: WinReason) -> None:
    """Also where the line of the plant is missing."""
    server = TradedServer.started()
    winner: Team = "away" if reason == "bomb" else "home"
    server.opening_kill(winner)
    server.win(winner, reason)
    planted, not_planted = (server.trader.of(number, "map=1|round=1") for number in (17, 34))
    assert (planted.result, not_planted.result) == (Result.WON, Result.LOST)

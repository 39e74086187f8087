"""A line about play that was not understood: what rests on the events of its round waits."""

from collections.abc import Callable

import pytest

from app.domain import facts as f
from app.domain.changes import MatchAndChanges
from app.domain.doubts import UNREAD_LINE
from app.domain.lifecycle import cancel
from app.domain.market import OPEN, Market, Result
from app.domain.match import EventDoubt, Match, Team, WinReason
from app.domain.round_totals import accept_events, rounds_in_doubt, void_events
from app.kit.errors import Conflict
from tests.unit.trading.test_engine import TradedServer, team

OF_EVENTS = (14, 15, 16, 17, 19, 20, 32, 33, 34)  #: market types that rest on kills or the bomb


def unread(server: TradedServer, about: EventDoubt = "kill_line") -> f.LineNotUnderstood:
    return f.LineNotUnderstood(at=server.later(), about=about)


def waiting(server: TradedServer, number: int) -> list[Market]:
    """The open markets of a round."""
    of_round = f"map=1|round={number}"
    found = [one for one in server.trader.book.values() if one.specifiers.startswith(of_round)]
    return [market for market in found if market.status in OPEN]


@pytest.mark.parametrize("about", ["kill_line", "bomb_line"])
def test_what_rests_on_the_events_of_its_round_waits_and_the_result_counts(about: EventDoubt) -> None:
    server = TradedServer.started()
    server.opening_kill("home")
    server.report(unread(server, about))
    assert server.match.suspended == UNREAD_LINE
    assert not server.trader.active()
    server.win("home")
    assert {market.type_id for market in waiting(server, 1)} == {17, 19, 20, 34}
    assert server.trader.of(14, team(1)).result is Result.WON  # it was decided before
    assert server.trader.of(13, team(1)).result is Result.WON


def test_a_line_about_the_score_leaves_the_events_as_they_are() -> None:
    server = TradedServer.started()
    server.opening_kill("home")
    server.report(unread(server, ""))
    assert server.match.suspended == UNREAD_LINE
    server.win("home")
    assert not waiting(server, 1)
    assert server.trader.of(34, "map=1|round=1").result is Result.WON


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
    assert [one.number for one in rounds_in_doubt(server.match)] == [1]


def test_after_the_decision_it_concerns_the_round_that_was_decided() -> None:
    server = TradedServer.started()
    server.round("home")
    server.report(unread(server))
    assert [one.number for one in rounds_in_doubt(server.match)] == [1]
    assert server.trader.rounds[server.map.counted[-1].id].doubted_by
    server.freeze()
    assert not server.match.suspended


def test_events_that_an_operator_accepts_settle_what_waited() -> None:
    server = TradedServer.started()
    server.opening_kill("home")
    server.report(unread(server))
    server.win("home")
    server.freeze()
    decide(server, accept_events)
    assert not waiting(server, 1)
    assert server.trader.of(34, "map=1|round=1").result is Result.WON
    assert {entry.settled_by for entry in server.trader.ledger} == {"engine"}


def test_events_that_an_operator_voids_void_what_waited_and_what_was_settled_by_them() -> None:
    server = TradedServer.started()
    server.opening_kill("home")
    server.report(unread(server))
    server.win("home")
    server.freeze()
    decide(server, void_events)
    for (type_id, specifiers), market in server.trader.book.items():
        if specifiers.startswith("map=1|round=1"):
            assert (market.result is Result.VOID) is (type_id in OF_EVENTS), market
    entries = server.trader.entries(14, team(1))
    assert [entry.result for entry in entries] == [Result.WON, None, Result.VOID]


def test_only_rounds_in_doubt_are_an_operator_s_to_decide() -> None:
    server = TradedServer.started()
    server.round("home")
    for decision in (accept_events, void_events):
        with pytest.raises(Conflict, match=r"round 1 of map 1 .* those in doubt: none"):
            decision(server.match, 1, 1)


def test_a_map_may_end_with_rounds_in_doubt_and_its_player_kills_wait() -> None:
    server = TradedServer.started()
    server.opening_kill("home")
    server.report(unread(server))
    server.win("home")
    server.freeze()
    server.rounds(*["home"] * 10)
    server.round("home")
    server.change_sides()
    server.round("home")
    server.game_over()
    assert server.match.over
    left = server.trader.open()
    assert left and {market.type_id for market in left} <= {*OF_EVENTS, 36, 37}
    decide(server, accept_events)
    assert not server.trader.open()


def test_a_cancelled_match_waits_for_nothing() -> None:
    server = TradedServer.started()
    server.opening_kill("home")
    server.report(unread(server))
    server.win("home")
    server.match, changes = cancel(server.match, server.now)
    server.trader.match = server.match
    server.trader.react(changes)
    assert not server.trader.open()


def decide(server: TradedServer, decision: Callable[[Match, int, int], MatchAndChanges]) -> None:
    """An operator's decision about round 1."""
    server.match, changes = decision(server.match, 1, 1)
    server.trader.match = server.match
    server.trader.react(changes)


@pytest.mark.parametrize("reason", ["bomb", "defuse"])
def test_the_end_of_a_round_by_the_bomb_proves_the_plant(reason: WinReason) -> None:
    """Also where the line of the plant is missing."""
    server = TradedServer.started()
    winner: Team = "away" if reason == "bomb" else "home"
    server.opening_kill(winner)
    server.win(winner, reason)
    planted, not_planted = (server.trader.of(number, "map=1|round=1") for number in (17, 34))
    assert (planted.result, not_planted.result) == (Result.WON, Result.LOST)

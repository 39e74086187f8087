"""Play after a restart at a lower score: doubted, stored, and published only once it counts."""

import pytest

from app.domain import changes as c
from app.domain import facts as f
from app.domain.match import RestartCause, Team
from app.domain.restarts import accept_restart, keep_branch
from app.domain.round_totals import accept_events, rounds_in_doubt
from app.kit.errors import Conflict
from tests.unit.domain.play import Server

BEFORE: tuple[Team, ...] = ("home", "home", "away", "home")


@pytest.fixture
def server() -> Server:
    server = Server.started()
    server.rounds(*BEFORE)
    return server


def begin_again(server: Server, cause: RestartCause) -> None:
    if cause == "server":
        server.report(f.MapLoaded(at=server.later(), name=server.map_name))
    if cause == "warmup":
        server.report(f.WarmupStarted(at=server.later()), f.WarmupEnded(at=server.later(60)))
    server.start_play()


@pytest.mark.parametrize(("cause", "needed"), [("server", 4), ("command", 4), ("warmup", 3)])
def test_new_play_counts_after_so_many_rounds(server: Server, cause: RestartCause, needed: int) -> None:
    begin_again(server, cause)
    known = len(server.changes)
    server.rounds(*["away"] * (needed - 1))
    published = {type(change) for change in server.changes[known:]}
    assert published == {c.PlayRecorded, c.DetailsChanged}
    assert (server.map.home_score, server.map.away_score) == (3, 1)
    assert f"0:{needed - 1} since, 3:1 before" in server.match.suspended
    server.rounds("away")
    assert (server.map.home_score, server.map.away_score) == (0, needed)
    assert not server.match.suspended
    assert [one.number for one in server.changes_of(c.RoundsVoided)[0].rounds] == [1, 2, 3, 4]


def test_the_end_of_the_map_counts(server: Server) -> None:
    server.report(f.FormatSet(at=server.later(), max_rounds=4))
    begin_again(server, "server")
    server.rounds("away", "away")
    server.swap()
    server.rounds("away")
    server.game_over()
    (play,) = server.match.maps
    assert (play.status, play.winner, play.away_score) == ("finished", "away", 3)


def test_a_backup_of_what_was_before_voids_the_new_play_and_nothing_else(server: Server) -> None:
    begin_again(server, "server")
    server.rounds("away", "away")
    server.report(f.RestoreAnnounced(at=server.later(), round=4))
    server.freeze_at(3, 1)
    assert not server.match.suspended
    assert server.map.rounds_won == 4
    assert not server.changes_of(c.RoundsVoided) and not server.changes_of(c.RoundsReinstated)
    server.round("away")
    assert server.changes_of(c.RoundFinished)[-1].round.number == 5


def test_a_backup_from_within_the_new_play_leaves_the_doubt(server: Server) -> None:
    begin_again(server, "server")
    server.rounds("away", "away")
    server.report(f.RestoreAnnounced(at=server.later(), round=1))
    server.freeze_at(0, 1)
    assert "0:1 since, 3:1 before" in server.match.suspended


def test_events_that_are_judged_before_the_branch_is_known_stay_judged(server: Server) -> None:
    server.freeze()
    server.go_live()
    server.report(f.LineNotUnderstood(at=server.later(), about="bomb_line"))
    server.win("home")
    begin_again(server, "server")
    server.rounds("away", "away")
    assert server.match.restart is not None
    server.match, _ = accept_events(server.match, 1, 5)
    server.report(f.RestoreAnnounced(at=server.later(), round=5))
    server.freeze_at(4, 1)
    assert server.match.restart is None
    assert not rounds_in_doubt(server.match)
    assert not server.match.suspended


def test_a_branch_that_was_void_counts_again(server: Server) -> None:
    before = server.map.counted
    begin_again(server, "server")
    server.match, changes = accept_restart(server.match)
    assert isinstance(changes[0], c.RoundsVoided)
    server.rounds("away")
    server.report(f.RestoreAnnounced(at=server.later(), round=4))
    server.freeze_at(3, 1)
    assert server.map.counted == before
    again = server.changes_of(c.RoundsReinstated)[-1]
    assert again.rounds == before
    assert set(again.events) == {number for one in before for number in one.events}


def test_a_backup_without_a_reported_score_is_found_by_its_number(server: Server) -> None:
    server.report(f.RestoreAnnounced(at=server.later(), round=2), f.FreezeStarted(at=server.later()))
    server.go_live()
    assert (server.map.home_score, server.map.away_score) == (2, 0)
    assert not server.match.suspended


def test_a_backup_that_was_not_loaded_costs_no_round(server: Server) -> None:
    server.opening_kill("home")
    server.report(f.RestoreAnnounced(at=server.later(), round=2))
    assert server.match.suspended
    server.win("home")
    assert (server.map.rounds_won, server.map.unseen) == (5, ())
    assert not server.match.suspended


def test_what_an_operator_keeps_stands_until_a_score_continues_it(server: Server) -> None:
    begin_again(server, "server")
    server.match, _ = keep_branch(server.match)
    server.rounds(*["away"] * 6)
    assert (server.map.home_score, server.map.away_score) == (3, 1)
    assert server.match.suspended.endswith("3:1 before, kept by an operator")
    with pytest.raises(Conflict):
        keep_branch(server.match)
    server.freeze_at(3, 1)
    assert not server.match.suspended and server.match.restart is None


def test_the_end_of_play_that_an_operator_does_not_count_ends_no_map(server: Server) -> None:
    server.report(f.FormatSet(at=server.later(), max_rounds=6))
    begin_again(server, "server")
    server.match, _ = keep_branch(server.match)
    server.rounds("away", "away", "away")
    server.swap()
    server.rounds("away")
    known = len(server.changes)
    server.game_over()
    assert not [one for one in server.changes[known:] if isinstance(one, c.MapFinished | c.MatchFinished)]
    assert (server.map.status, server.map.home_score, server.map.away_score) == ("live", 3, 1)
    reasons = [doubt.reason for doubt in server.match.doubts]
    assert "the map ended in play that an operator does not count" in reasons


@pytest.mark.parametrize("live", [True, False])
def test_a_round_in_which_the_restart_is_accepted_opens(server: Server, live: bool) -> None:
    begin_again(server, "server")
    server.rounds("away")
    server.freeze()
    if live:
        server.go_live()
    server.match, changes = accept_restart(server.match)
    opened = [(one.map, one.round) for one in changes if isinstance(one, c.RoundOpened)]
    begun = [(one.map, one.round) for one in changes if isinstance(one, c.RoundLive)]
    assert (opened, begun) == ([(1, 2)], [(1, 2)] if live else [])


def test_nothing_can_be_decided_without_a_doubt(server: Server) -> None:
    for decide in (accept_restart, keep_branch):
        with pytest.raises(Conflict, match="no restart of match 7"):
            decide(server.match)


def test_a_restart_announced_before_anything_was_played_stops_nothing() -> None:
    server = Server.started()
    server.report(f.RestartAnnounced(at=server.later()))
    assert not server.match.suspended
    server.go_live()
    server.report(f.RestartAnnounced(at=server.later()))
    assert server.match.suspended == "a restart was announced"

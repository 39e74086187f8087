"""Maps, the series, doubts, and what an operator may do."""

import pytest

from app.domain import changes as c
from app.domain import facts as f
from app.domain.lifecycle import award_match, cancel, schedule, suspend, unsuspend
from app.domain.match import Status
from app.domain.transitions import fold
from app.kit.errors import Conflict
from tests.unit.domain.play import Server, new_match


def test_a_series_of_three() -> None:
    server = Server(new_match(best_of=3))
    server.play_map("de_mirage", "home")
    assert server.match.status is Status.LIVE
    server.play_map("de_nuke", "away")
    server.play_map("de_ancient", "home")
    assert [change.map for change in server.changes_of(c.MapStarted)] == [1, 2, 3]
    assert [(change.map.name, change.map.winner) for change in server.changes_of(c.MapFinished)] == [
        ("de_mirage", "home"),
        ("de_nuke", "away"),
        ("de_ancient", "home"),
    ]
    assert (server.match.winner, server.match.score_home, server.match.score_away) == ("home", 2, 1)
    assert len(server.changes_of(c.MatchFinished)) == 1


def test_play_after_the_end_is_ignored() -> None:
    server = Server(new_match(best_of=3))
    server.play_map("de_mirage", "home")
    server.start_play()
    server.game_over()
    assert server.match.map is None
    assert len(server.changes_of(c.MapFinished)) == 1


def test_a_map_that_ends_undecided_is_left_to_an_operator(server: Server) -> None:
    server.rounds("home", "home")
    server.game_over()
    assert not server.changes_of(c.MapFinished)
    assert server.match.suspended == "map ended undecided at 2:0"


def test_the_score_ends_a_map_without_an_end_line() -> None:
    server = Server.started(new_match(best_of=3))
    server.rounds(*["home"] * 11)
    server.round("home")
    server.change_sides()
    server.round("home")
    server.report(f.MapLoaded(at=server.later(60), name="de_nuke"))
    (ended,) = server.changes_of(c.MapFinished)
    assert (ended.map.home_score, ended.map.away_score) == (13, 0)


def test_another_map_before_a_round_was_played_takes_the_place() -> None:
    server = Server.started()
    server.start_map("de_nuke")
    assert [play.name for play in server.match.maps] == ["de_nuke"]


def test_after_a_server_restart_the_rounds_count_until_the_restored_score(server: Server) -> None:
    server.rounds("home", "away", "home")
    score = dict(server.score)
    server.report(f.MapLoaded(at=server.later(30), name=server.map_name), f.WarmupStarted(at=server.later()))
    assert server.match.suspended
    server.report(f.WarmupEnded(at=server.later(60)))
    server.start_play()
    assert not server.changes_of(c.RoundsVoided)
    server.score.update(score)
    server.score["home"] -= 1
    server.report(f.FreezeStarted(at=server.later()))
    server.status()
    assert [played.number for played in server.changes_of(c.RoundsVoided)[0].rounds] == [3]
    assert not server.match.suspended
    server.round("away")
    assert server.changes_of(c.RoundFinished)[-1].round.number == 3


def test_a_server_restart_without_a_backup_starts_the_map_again(server: Server) -> None:
    """Once as many rounds were played as before: the server has overwritten their backups."""
    server.rounds("home", "away")
    server.start_map()
    server.rounds("away")
    assert not server.changes_of(c.RoundsVoided)
    assert "restarted at a lower score: 0:1 since, 1:1 before" in server.match.suspended
    server.round("away")
    assert [played.number for played in server.changes_of(c.RoundsVoided)[0].rounds] == [1, 2]
    assert [played.number for played in server.changes_of(c.RoundsReinstated)[0].rounds] == [1]
    last = server.changes_of(c.RoundFinished)[-1].round
    assert (last.number, last.away_score) == (2, 2)
    assert not server.match.suspended


def test_rounds_without_a_line_are_unseen_and_play_goes_on(server: Server) -> None:
    server.rounds("home")
    server.opening_kill("home")
    server.score["away"] += 2
    server.freeze()
    assert (server.map.home_score, server.map.away_score, server.map.unseen) == (1, 2, (2, 3))
    assert len(server.changes_of(c.RoundsVoided)[0].events) == 1
    assert not server.match.suspended
    server.round("home")
    assert server.changes_of(c.RoundFinished)[-1].round.number == 4


def test_a_result_that_skips_a_round_suspends_until_the_next_score(server: Server) -> None:
    server.rounds("home")
    server.score["away"] += 1
    server.opening_kill("home")
    server.report(server.won_fact("home"))
    assert "disagrees" in server.match.suspended
    assert len(server.changes_of(c.RoundFinished)) == 1
    server.team_lines()
    server.status()
    assert (server.map.home_score, server.map.away_score, server.map.unseen) == (2, 1, (2, 3))
    assert not server.match.suspended
    server.kill("home", 1, 1)
    assert server.changes_of(c.EventAdded)[-1].event.late
    server.freeze()
    assert server.changes_of(c.RoundOpened)[-1].round == 4


def test_a_source_attached_in_mid_map_uses_the_reported_score() -> None:
    server = Server()
    server.score = {"home": 4, "away": 3}
    server.team_lines()
    server.status()
    assert (server.map.home_score, server.map.away_score) == (4, 3)
    server.round("away")
    assert server.changes_of(c.RoundFinished)[0].round.number == 8


def test_the_score_at_half_time_is_not_used_while_team_lines_lag(server: Server) -> None:
    server.rounds("home")
    server.report(f.FreezeStarted(at=server.later()))
    server.score = {"home": 9, "away": 3}
    server.team_lines()
    server.swap()
    server.status()
    assert server.match.suspended
    server.go_live()
    server.win("home")
    assert (server.map.home_score, server.map.away_score, server.map.home_side) == (10, 3, "T")
    assert not server.match.suspended


def test_a_score_that_contradicts_ours_suspends_until_they_agree(server: Server) -> None:
    server.rounds("home", "home")
    server.freeze_at(1, 1)
    assert "disagrees" in server.match.suspended
    server.freeze_at(2, 0)
    assert not server.match.suspended


def test_lost_data_suspends_and_marks_the_round(server: Server) -> None:
    server.go_live()
    server.report(f.DataLost(at=server.later(), reason="bytes 100 to 200 are missing"))
    assert server.match.suspended == "bytes 100 to 200 are missing"
    server.report(f.DataComplete(at=server.later()))
    assert not server.match.suspended
    server.kill("home", 0, 0)
    server.win("home")
    assert server.changes_of(c.RoundFinished)[0].round.gap
    server.freeze()
    server.round("home")
    assert not server.changes_of(c.RoundFinished)[1].round.gap


def test_pauses(server: Server) -> None:
    server.report(f.Paused(at=server.later(), reason="TimeOutTs"))
    assert server.match.pause == "TimeOutTs"
    server.report(f.Resumed(at=server.later(), reason="TimeOutTs"))
    assert server.match.pause == ""


def test_schedule_and_cancel() -> None:
    match, _ = schedule(new_match(), 5_000)
    assert match.scheduled_at == 5_000
    match, changes = cancel(match, 6_000)
    assert match.status is Status.CANCELLED
    assert changes == (c.MatchCancelled(),)
    with pytest.raises(Conflict, match="is cancelled and cannot be scheduled"):
        schedule(match, 7_000)
    with pytest.raises(Conflict, match="is cancelled and cannot be cancelled"):
        cancel(match, 7_000)


def test_a_cancelled_match_takes_in_nothing() -> None:
    match, _ = cancel(new_match(), 6_000)
    assert fold(match, [f.MapLoaded(at=7_000, name="de_nuke")]) == (match, ())


def test_suspend_and_unsuspend() -> None:
    match, _ = suspend(new_match(), "integrity")
    assert match.suspended == "integrity"
    match, _ = unsuspend(match)
    assert match.suspended == ""
    with pytest.raises(Conflict, match="not suspended by an operator"):
        unsuspend(match)


def _doubted() -> Server:
    """A match in play, doubted for a rival, missing data, an operator and its format."""
    server = Server.started()
    server.rounds(*["home"] * 11)
    server.report(f.FormatSet(at=server.later(), max_rounds=20, overtime_rounds=6))
    server.report(f.RivalSeen(at=server.later()), f.DataLost(at=server.later(), reason="missing"))
    server.match, _ = suspend(server.match, "by an operator")
    assert {doubt.kind for doubt in server.match.doubts} == {"rival", "source", "operator", "format"}
    return server


def test_of_its_doubts_only_that_about_the_format_outlives_a_match() -> None:
    server = _doubted()
    server.match, _ = award_match(server.match, "home", server.later())
    assert [doubt.kind for doubt in server.match.doubts] == ["format"]
    assert server.match.suspended.startswith("the server plays 20")


def test_a_cancelled_match_is_in_no_doubt() -> None:
    server = _doubted()
    server.match, _ = cancel(server.match, server.later())
    assert (server.match.doubts, server.match.suspended) == ((), "")

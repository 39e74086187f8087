"""Rounds: what counts, what is withheld, what becomes void."""

import pytest
from msgspec.structs import replace

from app.domain import changes as c
from app.domain import facts as f
from app.domain.map_play import KillDetails
from app.domain.match import MatchPlayer, Status
from tests.unit.domain.play import TEAMS, Server


def test_warm_up_counts_nothing() -> None:
    server = Server()
    server.report(f.MapLoaded(at=server.later(), name="de_mirage"), f.WarmupStarted(at=server.later()))
    server.report(f.FreezeStarted(at=server.later()), f.PlayStarted(at=server.now, map_name="de_mirage"))
    server.team_lines()
    server.status(played=-1)
    server.report(f.RoundStarted(at=server.later()), server.kill_fact("home", 0, 0), server.won_fact("home"))
    assert server.match.status is Status.UPCOMING
    assert not server.match.maps
    assert not server.changes_of(c.EventAdded)


def test_the_first_freeze_is_the_kick_off(server: Server) -> None:
    assert server.match.status is Status.LIVE
    begun = [type(each) for each in server.changes if isinstance(each, c.MatchStarted | c.RoundOpened)]
    assert begun == [c.MatchStarted, c.RoundOpened]


def test_a_round(server: Server) -> None:
    server.round("home")
    finished = server.changes_of(c.RoundFinished)[0]
    assert (finished.round.number, finished.round.winner, finished.round.winning_side) == (1, "home", "CT")
    assert (finished.round.home_score, finished.round.away_score) == (1, 0)
    assert [event.type for event in finished.timeline] == ["kill", "kill"]
    assert finished.round.events == tuple(event.id for event in finished.timeline)
    assert [event.offset_ms for event in finished.timeline] == [3_000, 6_000]


def test_a_knife_round_is_not_reported(server: Server) -> None:
    server.go_live()
    server.kill("home", 0, 0, "knife_t")
    server.win("home")
    server.start_play()
    assert not server.changes_of(c.EventAdded)
    assert not server.changes_of(c.RoundFinished)
    assert not server.changes_of(c.RoundsVoided)
    server.round("away")
    (finished,) = server.changes_of(c.RoundFinished)
    assert (finished.round.number, finished.round.winner) == (1, "away")
    assert len(server.changes_of(c.MatchStarted)) == 1


def test_a_first_round_with_knives_only_counts_when_play_goes_on(server: Server) -> None:
    server.go_live()
    server.kill("home", 0, 0, "knife")
    server.win("home")
    assert not server.changes_of(c.RoundFinished)
    server.freeze()
    assert [change.round.number for change in server.changes_of(c.RoundFinished)] == [1]
    assert len(server.changes_of(c.EventAdded)) == 1
    assert server.changes_of(c.RoundOpened)[-1].round == 2


def test_held_kills_are_reported_with_the_first_shot(server: Server) -> None:
    server.go_live()
    server.kill("home", 0, 0, "knife")
    assert not server.changes_of(c.EventAdded)
    server.kill("away", 1, 1, "glock")
    assert [change.event.weapon for change in server.changes_of(c.EventAdded)] == ["knife", "glock"]


def test_a_start_of_play_voids_what_was_played(server: Server) -> None:
    server.rounds("home", "away")
    server.start_play()
    voided = server.changes_of(c.RoundsVoided)
    assert [played.number for played in voided[0].rounds] == [1, 2]
    assert len(voided[0].events) == 4
    assert (server.map.home_score, server.map.away_score) == (0, 0)
    server.round("away")
    assert server.changes_of(c.RoundFinished)[-1].round.number == 1


def test_a_restored_backup_voids_the_rounds_after_it(server: Server) -> None:
    server.rounds("home", "away", "home", "home")
    server.score = {"home": 1, "away": 1}
    server.report(f.RestoreAnnounced(at=server.later(), round=2))
    assert server.match.suspended
    server.freeze()
    assert [played.number for played in server.changes_of(c.RoundsVoided)[0].rounds] == [3, 4]
    assert not server.match.suspended
    server.round("away")
    last = server.changes_of(c.RoundFinished)[-1].round
    assert (last.number, last.home_score, last.away_score) == (3, 1, 2)


def test_a_current_round_that_is_restored_begins_again(server: Server) -> None:
    server.rounds("home")
    server.opening_kill("home")
    server.report(f.RestoreAnnounced(at=server.later(), round=1))
    server.freeze()
    assert len(server.changes_of(c.RoundsVoided)[0].events) == 1
    server.opening_kill("away")
    server.win("away")
    finished = server.changes_of(c.RoundFinished)[-1]
    assert [(event.type, event.actor_team) for event in finished.timeline] == [("kill", "away")]


def test_a_restore_over_half_time_takes_the_sides_back(server: Server) -> None:
    server.rounds(*["home"] * 7, *["away"] * 4)
    server.round("away")
    server.change_sides()
    server.rounds("home")
    server.swap()
    server.freeze_at(7, 3)
    assert (server.map.home_score, server.map.away_score, server.map.home_side) == (7, 3, "CT")
    server.round("away")
    assert server.changes_of(c.RoundFinished)[-1].round.number == 11


@pytest.mark.parametrize(("home", "away"), [(0, 2), (0, 4)])
def test_a_score_from_before_that_the_map_never_had_takes_nothing_back(
    server: Server, home: int, away: int
) -> None:
    """Home won the first round and the last two; the two between them were unseen."""
    server.rounds("home")
    server.freeze_at(2, 1)
    server.rounds("home", "home")
    server.freeze_at(home, away)
    assert (server.map.home_score, server.map.away_score) == (4, 1)
    assert "disagrees" in server.match.suspended
    assert not server.changes_of(c.RoundsVoided)


def test_a_kill_right_after_the_freeze_began_is_of_the_round_before(server: Server) -> None:
    def killed(victim: int, after: int) -> bool:
        assert server.match.current
        server.report(replace(server.kill_fact("home", 0, victim), at=server.match.current.opened_at + after))
        return server.match.current.phase == "live"

    server.rounds("home")
    assert [killed(0, 1_000), killed(1, 1_999), killed(2, 2_000)] == [False, False, True]


def test_a_freeze_in_the_middle_of_a_round_voids_its_events(server: Server) -> None:
    server.rounds("home")
    server.opening_kill("home")
    server.report(f.RestartAnnounced(at=server.later()))
    server.freeze()
    assert server.changes_of(c.RoundsVoided)[0].rounds == ()
    assert len(server.changes_of(c.RoundsVoided)[0].events) == 1
    assert server.changes_of(c.RoundOpened)[-1].round == 2


def test_repeated_lines_change_nothing(server: Server) -> None:
    server.rounds("home")
    before, count = server.match, len(server.changes)
    server.status()
    assert (server.match, len(server.changes)) == (before, count)
    server.go_live()
    kill = server.kill_fact("home", 0, 0)
    live = f.RoundStarted(at=server.now)
    won = server.won_fact("home")
    for fact in (live, kill, kill, live, won, won):
        server.report(fact)
    assert len(server.changes_of(c.RoundFinished)) == 2
    assert len(server.changes_of(c.RoundLive)) == 2
    assert len(server.changes_of(c.EventAdded)) == 3


def test_kills_after_the_decision_are_late(server: Server) -> None:
    server.rounds("away")
    server.opening_kill("home")
    server.win("home")
    server.kill("away", 1, 1)
    late = server.changes_of(c.EventAdded)[-1].event
    assert late.late and not late.counts_for_markets and late.round == 2
    assert [late.id in played.events for played in server.map.rounds] == [False, True]


def test_team_kills_are_reported_and_do_not_count(server: Server) -> None:
    server.go_live()
    fact = replace(server.kill_fact("home", 0, 0), victim=TEAMS["home"][3], victim_side="CT")
    server.report(fact)
    event = server.changes_of(c.EventAdded)[0].event
    assert event.actor_team == event.target_team == "home"
    assert not event.counts_for_markets
    assert server.match.current and server.match.current.alive_home == 4


def test_an_assist_joins_its_kill_or_amends_it(server: Server) -> None:
    server.go_live()
    helper = TEAMS["home"][2]
    kill = server.kill_fact("home", 0, 0)
    server.report(kill, f.Assisted(at=server.now, assister=helper, victim=kill.victim))
    assert server.changes_of(c.EventAdded)[0].event.assister == helper
    assert not server.changes_of(c.EventAmended)
    kill = server.kill_fact("home", 0, 1)
    server.report(kill)
    server.report(f.Assisted(at=server.now, assister=helper, victim=kill.victim))
    assert server.changes_of(c.EventAmended)[0].event.assister == helper
    assert server.changes_of(c.EventAmended)[0].event.id == server.changes_of(c.EventAdded)[1].event.id


def test_what_the_log_says_of_a_kill_stays_with_it(server: Server) -> None:
    server.go_live()
    said = {"position": (1, 2, 3), "victim_position": (4, 5, -6), "flags": ("noscope",)}
    kill = replace(server.kill_fact("home", 0, 0), **said)
    server.report(kill)
    server.report(f.Assisted(at=server.now, assister=TEAMS["home"][2], victim=kill.victim, flash=True))
    details = KillDetails((1, 2, 3), (4, 5, -6), ("noscope",))
    assert server.changes_of(c.EventAdded)[0].event.details == details
    assert server.changes_of(c.EventAmended)[0].event.details == replace(details, flash_assist=True)
    plain = server.kill_fact("home", 0, 1)
    server.report(plain, f.Assisted(at=server.now, assister=TEAMS["home"][2], victim=plain.victim))
    assert server.changes_of(c.EventAdded)[1].event.details is None


def test_the_bomb(server: Server) -> None:
    planter = TEAMS["away"][0]
    for reason, last in (("bomb", "bomb_exploded"), ("defuse", "bomb_defused")):
        server.go_live()
        server.kill("away", 1, 1)
        server.report(f.BombPlanted(at=server.later(), player=planter, site="B"))
        server.report(f.DefuseBegun(at=server.later(), player=TEAMS["home"][4]))
        server.win("away" if reason == "bomb" else "home", "bomb" if reason == "bomb" else "defuse")
        finished = server.changes_of(c.RoundFinished)[-1]
        assert finished.round.bomb_site == "B"
        assert finished.timeline[-1].type == last
        assert not finished.timeline[-1].late
        server.freeze()
    assert finished.timeline[-1].actor == TEAMS["home"][4]


def test_an_unknown_defuser_stays_unnamed(server: Server) -> None:
    server.go_live()
    server.kill("away", 1, 1)
    for seat in (3, 4):
        server.report(f.DefuseBegun(at=server.later(), player=TEAMS["home"][seat]))
    server.win("home", "defuse")
    event = server.changes_of(c.RoundFinished)[-1].timeline[-1]
    assert (event.type, event.actor) == ("bomb_defused", None)


def test_bots_have_no_account_and_fall_once_each(server: Server) -> None:
    server.go_live()
    for name in ("Bot Ada", "Bot Bob", "Bot Bob"):
        fact = server.kill_fact("home", 0, 0)
        server.report(replace(fact, victim=MatchPlayer(0, name)))
    fallen = [change.event.target for change in server.changes_of(c.EventAdded)]
    assert fallen == [MatchPlayer(0, "Bot Ada"), MatchPlayer(0, "Bot Bob")]

"""Sides: from team lines, scores and players; unknown where nothing shows them."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from app.domain import facts as f
from app.domain.changes import EventAmended, MatchChange, RoundFinished
from app.domain.fixture import rename_team, set_sides
from tests.unit.domain.play import HOME, TEAMS, Server, new_match


def to_half_time(home_rounds: int) -> Server:
    """Twelve rounds played, the thirteenth's freeze not yet begun."""
    server = Server.started()
    server.rounds(*["home"] * home_rounds, *["away"] * (11 - home_rounds))
    server.round("away")
    return server


def swapped_late() -> Server:
    """The teams have swapped at a level score, which nothing has shown."""
    server = to_half_time(6)
    lagging_swap(server)
    return server


def lagging_swap(server: Server) -> None:
    """A swap as servers report it in the first freeze after it: the new score under the old team lines."""
    server.report(f.FreezeStarted(at=server.later(7)))
    server.team_lines()
    server.swap()
    server.status()


def test_an_uneven_score_shows_the_swap_before_the_team_lines_do() -> None:
    server = to_half_time(8)
    lagging_swap(server)
    assert server.map.home_side == "T"
    server.round("home")
    last = server.changes_of(RoundFinished)[-1].round
    assert (last.number, last.winner, last.winning_side) == (13, "home", "T")
    assert not server.match.suspended


def test_a_result_shows_the_swap_by_the_score_before_it() -> None:
    server = to_half_time(8)
    server.report(f.FreezeStarted(at=server.later(7)))
    assert server.map.home_side is None
    server.swap()
    server.go_live()
    server.report(server.won_fact("away", "time"))
    assert server.map.home_side == "T" and not server.match.suspended
    assert server.changes_of(RoundFinished)[-1].round.winner == "away"


def test_players_moved_show_the_swap_at_a_level_score() -> None:
    server = to_half_time(6)
    for player in TEAMS["home"]:
        server.report(f.SideSwitched(at=server.now, player=player, side="T"))
    lagging_swap(server)
    assert server.map.home_side == "T"


def test_without_a_sign_the_sides_are_open_until_a_known_player_shows_them() -> None:
    server = swapped_late()
    assert server.map.home_side is None
    server.go_live()
    server.kill("away", 0, 1)
    assert server.map.home_side == "T"
    event = server.match.current and server.match.current.events[0]
    assert event and (event.actor_team, event.target_team) == ("away", "home")


def test_a_player_seen_buying_shows_open_sides() -> None:
    server = swapped_late()
    server.report(f.ItemAcquired(at=server.later(), player=TEAMS["away"][3], side="CT"))
    assert server.map.home_side is None
    server.report(f.ItemAcquired(at=server.later(), player=TEAMS["away"][0], side="CT"))
    assert server.map.home_side == "T"


def test_a_result_waits_until_its_team_is_known() -> None:
    server = swapped_late()
    server.go_live()
    server.report(server.won_fact("home", "time"))
    assert len(server.changes_of(RoundFinished)) == 12
    assert server.match.suspended
    server.team_lines()
    assert server.changes_of(RoundFinished)[-1].round.winner == "home"
    server.status()
    assert not server.match.suspended


def test_sides_that_do_not_swap_at_the_start_of_overtime() -> None:
    server = swapped_late()
    server.rounds(*["home"] * 6, *["away"] * 6)
    server.team_lines()
    assert server.map.home_side is None
    server.opening_kill("home")
    assert server.map.home_side == "T"


def test_overtime_swaps_after_three_rounds() -> None:
    server = swapped_late()
    server.rounds(*["home"] * 6, *["away"] * 6)
    server.rounds("home", "home")
    server.round("home")
    lagging_swap(server)
    assert server.map.home_side == "CT"
    server.round("home")
    server.game_over()
    assert server.match.winner == "home"
    assert (server.match.maps[0].home_score, server.match.maps[0].away_score) == (16, 12)


def test_thirty_rounds_by_cvar() -> None:
    server = Server()
    server.report(f.FormatSet(at=server.later(), max_rounds=30))
    server.start_map()
    server.rounds(*["home"] * 13)
    assert server.map.home_side == "CT"
    server.rounds("away")
    server.round("away")
    lagging_swap(server)
    assert server.map.home_side == "T"


def test_both_known_teams_on_the_other_side_overrule_wrong_sides(server: Server) -> None:
    server.rounds("home", "away")
    server.swap()
    server.go_live()
    server.kill("home", 0, 1)
    assert server.map.home_side == "T"


def test_one_known_name_is_enough() -> None:
    match = replace(Server().match, away="Nobody Else")
    server = Server.started(match)
    server.round("home")
    assert server.changes_of(RoundFinished)[0].round.winner == "home"
    assert not server.match.suspended


def test_two_unknown_names_suspend_and_guess_nothing() -> None:
    server = Server.started(replace(Server().match, home="One", away="Two"))
    assert server.match.suspended == "unknown teams: Amber Foxes, Blue Herons"
    server.round("home")
    assert not server.changes_of(RoundFinished)


def test_names_match_whatever_their_case_and_spaces() -> None:
    server = Server.started(replace(Server().match, home=f"  {HOME.upper()} "))
    assert server.map.home_side == "CT"


def test_names_set_late_clear_the_doubt(server: Server) -> None:
    server.report(f.SideNamed(at=server.now, side="CT", team="pug_ct"))
    server.report(f.SideNamed(at=server.now, side="T", team="pug_t"))
    assert server.match.suspended
    server.team_lines()
    assert not server.match.suspended


def test_a_player_who_reconnects_under_another_name_keeps_the_team(server: Server) -> None:
    server.rounds("home", "away")
    seats = len(server.match.roster)
    server.go_live()
    fact = server.kill_fact("home", 0, 1)
    server.report(replace(fact, killer=replace(fact.killer, name="renamed")))
    assert len(server.match.roster) == seats


def unnamed() -> Server:
    """A round in play of a match whose teams the server calls otherwise: three kills, two of them by home."""
    server = Server.started(replace(new_match(), home="Foxes", away="Herons"))
    server.go_live()
    server.kill("home", 0, 0, "awp")
    server.kill("home", 1, 1)
    server.kill("away", 2, 4)
    current = server.match.current
    assert server.match.suspended and current and {one.actor_team for one in current.events} == {None}
    return server


def named(server: Server) -> tuple[MatchChange, ...]:
    server.match, changes = rename_team(server.match, "home", HOME)
    return changes


def sides_set(server: Server) -> tuple[MatchChange, ...]:
    server.match, changes = set_sides(server.match, "home", server.now)
    return changes


@pytest.mark.parametrize("tell", [named, sides_set])
def test_what_was_seen_before_the_sides_were_known_has_teams(
    tell: Callable[[Server], tuple[MatchChange, ...]],
) -> None:
    """Kills without teams would be those of team mates: prices and results of the round would be without
    them."""
    server = unnamed()
    changes = tell(server)
    current = server.match.current
    assert current and (current.alive_home, current.alive_away) == (4, 3)
    assert [(one.actor_team, one.target_team) for one in current.events] == [
        ("home", "away"),
        ("home", "away"),
        ("away", "home"),
    ]
    amended = [change.event for change in changes if isinstance(change, EventAmended)]
    assert amended == list(current.events)
    assert all(one.counts_for_markets for one in current.events) and not current.gap


def test_a_round_that_waited_for_its_sides_counts_every_kill() -> None:
    server = unnamed()
    server.report(server.won_fact("home"))
    sides_set(server)
    [finished] = server.map.rounds
    assert finished.kills and sum(len(one.ids) for one in finished.kills) == 3


def test_a_death_whose_team_is_not_known_leaves_a_gap() -> None:
    server = Server.started(replace(new_match(), home="Foxes", away="Herons"))
    server.go_live()
    server.report(f.Died(at=server.later(), victim=TEAMS["home"][0], side="CT"))
    named(server)
    assert server.match.current and server.match.current.gap


def test_kills_of_enemies_count_while_the_teams_are_not_known() -> None:
    current = unnamed().match.current
    assert current and all(one.counts_for_markets for one in current.events)

"""Counts of finished maps, compared with the rounds that they were counted from."""

from msgspec.structs import replace

from app.domain import facts as f
from app.domain.analytics import PlayerTally, TeamLine, players_on_maps, teams_on_maps, total
from app.domain.changes import EventAdded, RoundFinished
from app.domain.lifecycle import award_map, award_match
from app.domain.match import Match, Round, TimelineEvent
from tests.unit.domain.play import HOME, TEAMS, Server, new_match


def history(server: Server) -> tuple[Match, list[Round], list[TimelineEvent]]:
    """The match with its rounds and events, as the database has them."""
    rounds = [change.round for change in server.changes_of(RoundFinished)]
    return server.match, rounds, [change.event for change in server.changes_of(EventAdded)]


def played() -> Server:
    """A map won 13:0 by home: 12 rounds as CT, one as T."""
    server = Server()
    server.play_map("de_nuke", "home")
    return server


def test_a_map_counts_for_both_teams() -> None:
    home, away = (one.line for one in teams_on_maps(*history(played())))
    assert (home.maps, home.wins, home.losses) == (1, 1, 0)
    assert (home.rounds_ct, home.won_ct, home.rounds_t, home.won_t) == (12, 12, 1, 1)
    assert (away.wins, away.losses, away.rounds_t, away.won_t) == (0, 1, 12, 0)
    assert (home.pistols, home.pistols_won, home.second_rounds, home.second_rounds_won) == (2, 2, 1, 1)
    assert (away.pistols, away.pistols_won, away.second_rounds) == (2, 0, 0)
    assert (home.pistols_ct, home.pistols_won_ct, away.pistols_ct, away.pistols_won_ct) == (1, 1, 1, 0)
    assert (home.first_kill_rounds, home.first_kills, home.first_kills_won) == (13, 13, 13)
    assert away.first_kills == 0
    assert (home.race_to_6, home.race_to_12, away.race_to_6) == (1, 1, 0)
    assert (home.kills, away.deaths, home.deaths) == (26, 26, 0)


def test_players_have_their_kills_and_deaths() -> None:
    tallies = {one.player.name: one for one in players_on_maps(*history(played()))}
    first = tallies["fox0"].tally
    assert tallies["fox0"].team_name == HOME
    assert (first.kills, first.first_kills, first.rounds) == (13, 13, 13)
    assert (tallies["heron1"].tally.deaths, tallies["heron0"].tally.first_deaths) == (13, 13)
    assert set(tallies) == {"fox0", "fox1", "heron0", "heron1"}


def test_an_assist_on_a_team_mate_does_not_count(server: Server) -> None:
    server.opening_kill("home")
    for victim, assister in ((1, TEAMS["home"][2]), (2, TEAMS["away"][0])):
        kill = server.kill_fact("home", 1, victim)
        server.report(kill, f.Assisted(at=server.now, assister=assister, victim=kill.victim))
    server.win("home")
    server.match, _ = award_match(server.match, "home", 900)
    assists = {one.player.name: one.tally.assists for one in players_on_maps(*history(server))}
    assert (assists["fox2"], assists["heron0"]) == (1, 0)


def test_a_kill_counts_after_the_decision_of_its_round_and_a_plant_does_not(server: Server) -> None:
    server.opening_kill("away")
    server.win("away")
    server.kill("away", 1, 1)
    server.plant("away", 2)
    server.match, _ = award_match(server.match, "home", 900)
    _, away = (one.line for one in teams_on_maps(*history(server)))
    assert (away.kills, away.plants) == (2, 0)


def test_void_rounds_and_events_do_not_count() -> None:
    match, rounds, events = history(played())
    void = [replace(one, void=True) for one in rounds]
    assert teams_on_maps(match, void, events) == []
    assert players_on_maps(match, void, events) == []


def test_a_walkover_without_play_does_not_count_and_one_in_play_does() -> None:
    unplayed, _ = award_map(new_match(3), "home", 5)
    assert teams_on_maps(unplayed, (), ()) == []
    server = Server.started()
    server.rounds("away", "away")
    server.match, _ = award_match(server.match, "home", 900)
    home, away = (one.line for one in teams_on_maps(*history(server)))
    assert (home.wins, home.won_ct, away.won_t) == (1, 0, 2)


def test_lines_add_up() -> None:
    assert total(TeamLine, (TeamLine(maps=1, wins=1), TeamLine(maps=1, losses=1))) == TeamLine(2, 1, 1)
    assert total(PlayerTally, ()) == PlayerTally()

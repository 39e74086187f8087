"""Players who left the server cannot play: the current round and the next ones have that many fewer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from app.domain import facts as f
from app.domain.match import MatchPlayer
from app.domain.presence import PLAYERS, available_players
from app.ingest.cs2log import read
from tests.unit.domain.play import TEAMS, Server

BOT = MatchPlayer(0, "Bob")
NOTHING = {"money": 800, "kills": 0, "deaths": 0}


@pytest.fixture
def server(server: Server) -> Server:
    """A game server with its first round in play."""
    server.opening_kill("home")
    return server


def leave(server: Server, *seats: int) -> None:
    for seat in seats:
        player = TEAMS["away"][seat]
        server.report(f.PlayerLeft(at=server.later(), player=player, side=server.side_of("away")))


def come_back(server: Server, seat: int) -> None:
    player = TEAMS["away"][seat]
    server.report(f.PlayerJoined(at=server.later(), player=player, side=server.side_of("away")))


def alive(server: Server) -> tuple[int, int]:
    current = server.match.current
    assert current is not None
    return current.alive_home, current.alive_away


def test_who_leaves_a_round_in_play_is_missed_once(server: Server) -> None:
    leave(server, 1, 1)
    assert alive(server) == (5, 3)
    leave(server, 0)
    assert alive(server) == (5, 3), "the dead cannot be missed again"


def test_the_next_round_is_played_by_those_who_are_there(server: Server) -> None:
    leave(server, 1)
    server.win("home")
    server.freeze()
    assert alive(server) == (5, 4)
    come_back(server, 1)
    assert alive(server) == (5, 5)


def test_who_comes_back_in_play_counts_from_the_next_round(server: Server) -> None:
    leave(server, 1)
    come_back(server, 1)
    assert alive(server) == (5, 3)
    server.win("home")
    server.freeze()
    assert alive(server) == (5, 5)


def test_a_bot_stands_in(server: Server) -> None:
    leave(server, 1)
    server.report(f.PlayerJoined(at=server.later(), player=BOT, side=server.side_of("away")))
    server.win("home")
    server.freeze()
    assert alive(server) == (5, 5)
    server.report(f.PlayerLeft(at=server.later(), player=BOT, side=server.side_of("away")))
    assert alive(server) == (5, 4)


def listed(server: Server, away: list[MatchPlayer]) -> None:
    """The server's list of players, which comes in each freeze time."""
    rows = [*((player, "home") for player in TEAMS["home"]), *((player, "away") for player in away)]
    at = server.later()
    server.report(
        f.ListBegun(at=at),
        *[
            f.PlayerListed(at=at, player=player, side=server.side_of(team), **NOTHING)
            for player, team in rows
        ],
        f.ListEnded(at=at),
    )


def test_a_substitute_fills_the_team(server: Server) -> None:
    leave(server, 1)
    substitute = MatchPlayer(250, "heron9")
    server.report(f.PlayerJoined(at=server.later(), player=substitute, side=server.side_of("away")))
    server.win("home")
    server.freeze()
    players = [player for player in TEAMS["away"] if player != TEAMS["away"][1]]
    listed(server, [*players, substitute])
    assert alive(server) == (5, 5)
    server.report(f.PlayerLeft(at=server.later(), player=substitute, side=server.side_of("away")))
    assert alive(server) == (5, 4)
    come_back(server, 1)
    assert alive(server) == (5, 5)


def die(server: Server, victim: MatchPlayer) -> None:
    """Without a killer."""
    server.report(f.Died(at=server.later(), victim=victim, side=server.side_of("away")))


def fight(server: Server) -> None:
    """A round in which all players of the team are in a kill."""
    server.go_live()
    for seat in range(5):
        server.kill("home", 0, seat)
    server.win("home")
    server.freeze()


@pytest.mark.parametrize("players", [5, 4])
@pytest.mark.parametrize("listed_first", [True, False])
def test_a_coach_whom_the_server_kills_in_freeze_time_is_no_player(
    server: Server, players: int, listed_first: bool
) -> None:
    coach, on_server = MatchPlayer(299, "coach"), TEAMS["away"][:players]
    server.win("home")
    server.freeze()
    for _ in range(3):
        if listed_first:
            listed(server, [*on_server, coach])
        die(server, coach)
        if not listed_first:
            listed(server, [*on_server, coach])
        assert alive(server) == (5, players)
        fight(server)
    server.go_live()
    die(server, TEAMS["away"][1])
    assert alive(server) == (5, players - 1)
    assert [death.player for death in server.match.other_deaths] == [TEAMS["away"][1]]


def test_a_coach_whom_the_server_kills_in_the_round_is_no_player(server: Server) -> None:
    coach = MatchPlayer(299, "coach")
    server.win("home")
    server.freeze()
    fight(server)
    listed(server, [*TEAMS["away"], coach])
    server.go_live()
    die(server, TEAMS["away"][1])
    assert alive(server) == (5, 4)
    die(server, coach)
    assert alive(server) == (5, 4)
    assert [death.player for death in server.match.other_deaths] == [TEAMS["away"][1]]
    server.report(f.PlayerLeft(at=server.later(), player=coach, side=server.side_of("away")))
    server.win("home")
    server.freeze()
    assert alive(server) == (5, 5)


def test_a_death_after_the_end_of_a_round_is_of_that_round(server: Server) -> None:
    server.win("home")
    victim = TEAMS["away"][1]
    die(server, victim)
    [last] = server.map.rounds[-1:]
    assert [death.player for death in last.other_deaths] == [victim]
    server.freeze()
    assert [death.player for death in server.map.rounds[-1].other_deaths] == [victim]


def test_a_coach_who_leaves_is_no_player_who_is_missing(server: Server) -> None:
    """The log says twice that somebody leaves."""
    coach = MatchPlayer(299, "coach")
    server.win("home")
    server.freeze()
    listed(server, [*TEAMS["away"], coach])
    die(server, coach)
    fight(server)
    listed(server, [*TEAMS["away"], coach])
    die(server, coach)
    server.go_live()
    for _ in range(2):
        server.report(f.PlayerLeft(at=server.later(), player=coach, side=server.side_of("away")))
    assert alive(server) == (5, 5)
    server.win("home")
    server.freeze()
    assert alive(server) == (5, 5)
    server.report(f.PlayerJoined(at=server.later(), player=coach, side=server.side_of("away")))
    listed(server, [*TEAMS["away"], coach])
    die(server, coach)
    assert alive(server) == (5, 5)
    server.go_live()
    server.report(replace(server.kill_fact("home", 0, 0), victim=coach))
    assert alive(server) == (5, 4), "never more than five"


def test_who_fights_is_no_coach_whatever_was_thought(server: Server) -> None:
    """A player who has been in no kill yet falls to death in freeze time."""
    player = TEAMS["away"][4]
    server.win("home")
    server.freeze()
    listed(server, list(TEAMS["away"]))
    die(server, player)
    assert alive(server) == (5, 4), "such a player is dead in this round"
    server.win("home")
    server.freeze()
    listed(server, list(TEAMS["away"]))
    server.go_live()
    server.kill("home", 0, 4)
    assert alive(server) == (5, 4)
    server.win("home")
    server.freeze()
    listed(server, list(TEAMS["away"]))
    assert alive(server) == (5, 5)


def test_a_bot_and_the_player_whom_it_replaces_make_no_coach(server: Server) -> None:
    fight_first = TEAMS["away"]
    server.win("home")
    server.freeze()
    fight(server)
    leave(server, 1)
    server.report(f.PlayerJoined(at=server.later(), player=BOT, side=server.side_of("away")))
    listed(server, [*(player for player in fight_first if player != fight_first[1]), BOT])
    come_back(server, 1)
    server.go_live()
    die(server, fight_first[2])
    assert alive(server) == (5, 4)


def test_nothing_is_priced_against_an_empty_team(server: Server) -> None:
    leave(server, 0, 1, 2, 3)
    assert not server.match.suspended
    leave(server, 4)
    assert "Blue Herons" in server.match.suspended
    server.win("home")
    come_back(server, 2)
    assert not [doubt for doubt in server.match.doubts if doubt.kind == PLAYERS]


def test_on_another_map_all_players_are_there() -> None:
    server = Server()
    server.play_map("de_mirage", "home")
    assert available_players(server.match, "away") == 5


@given(st.lists(st.tuples(st.sampled_from(["leave", "join", "round"]), st.integers(0, 4)), max_size=30))
def test_as_many_can_play_as_are_there(steps: list[tuple[str, int]]) -> None:
    server = Server.started()
    server.rounds("home")
    there = set(range(5))
    for what, seat in steps:
        if what == "leave":
            leave(server, seat)
            there.discard(seat)
        elif what == "join":
            come_back(server, seat)
            there.add(seat)
        assert available_players(server.match, "away") == len(there)
        assert alive(server) == (5, len(there))


def test_leaving_and_joining_is_read_from_the_log() -> None:
    stamp = "L 01/19/2026 - 19:00:00: "
    lines = (
        '"fox<3><[U:1:100]><CT>" disconnected (reason "TIMEDOUT")',
        '"fox<3><[U:1:100]>" switched from team <Unassigned> to <CT>',
        '"fox<3><[U:1:100]>" switched from team <CT> to <Spectator>',
        '"CSTV<0><BOT><Unassigned>" disconnected (reason "KICKED")',
        '"Bob<9><BOT>" switched from team <Unassigned> to <TERRORIST>',
        '"fox<3><STEAM_ID_PENDING>" switched from team <CT> to <Unassigned>',
        '"fox<3><STEAM_ID_PENDING>" switched from team <Unassigned> to <CT>',
        '"fox<3><STEAM_ID_PENDING><CT>" disconnected (reason "TIMEDOUT")',
    )
    found = read("".join(f"{stamp}{line}\n" for line in lines), 1).facts
    fox = MatchPlayer(100, "fox")
    assert found == (
        f.PlayerLeft(at=1, player=fox, side="CT"),
        f.PlayerJoined(at=1, player=fox, side="CT"),
        f.PlayerLeft(at=1, player=fox, side="CT"),
        f.PlayerJoined(at=1, player=BOT, side="T"),
    )

"""How many rounds a map has: set by operators, reported by the log, checked against the sides."""

import pytest

from app.domain import facts as f
from app.domain import fixture
from app.domain.changes import FormatChanged
from app.domain.formats import FORMAT
from app.domain.match import Match
from app.domain.match_info import Veto
from app.kit.errors import Conflict
from tests.unit.domain.play import TEAMS, Server, new_match


def doubts(match: Match) -> list[str]:
    return [doubt.reason for doubt in match.doubts if doubt.kind == FORMAT]


def by_operator(rounds: int) -> Match:
    return fixture.set_format(new_match(3), max_rounds=rounds)[0]


def sight_all(server: Server) -> None:
    for team in ("home", "away"):
        for player in TEAMS[team]:
            server.report(f.ItemAcquired(at=server.now, player=player, side=server.side_of(team)))


def play(server: Server, rounds: int) -> None:
    """So many rounds, home winning two of three, all players seen in each freeze."""
    for number in range(rounds):
        sight_all(server)
        server.rounds("away" if number % 3 == 2 else "home")


def halfway(server: Server, half: int) -> Server:
    server.start_map()
    play(server, half)
    return server


def test_the_log_sets_a_format_that_no_operator_set() -> None:
    server = Server()
    server.report(f.FormatSet(at=1, max_rounds=30))
    assert (server.match.max_rounds, server.match.format_status.set_by) == (30, "log")
    assert server.changes_of(FormatChanged) == [FormatChanged(best_of=1, max_rounds=24, overtime_rounds=6)]
    assert not doubts(server.match)


def test_the_log_sets_the_format_of_maps_that_were_planned() -> None:
    match, _ = fixture.set_maps(new_match(1), (Veto("pick", "de_mirage", "home"),))
    server = Server(match)
    server.report(f.FormatSet(at=1, max_rounds=30))
    assert server.match.maps[0].max_rounds == 30


def test_a_log_that_contradicts_the_operator_is_a_doubt_until_it_agrees() -> None:
    server = Server(by_operator(24))
    server.report(f.FormatSet(at=1, max_rounds=30))
    assert server.match.max_rounds == 24
    assert doubts(server.match) == ["the server plays 30+6 rounds, the match has 24+6"]
    server.start_map()
    assert doubts(server.match) and server.match.format_status.doubted_maps == (1,)
    server.report(f.FormatSet(at=2, max_rounds=24))
    assert not server.match.suspended and not server.match.format_status.doubted_maps


def test_an_operator_ends_the_doubt() -> None:
    server = Server(by_operator(24))
    server.report(f.FormatSet(at=1, max_rounds=30))
    match, _ = fixture.set_format(server.match, max_rounds=30)
    assert not doubts(match) and match.max_rounds == 30


def test_a_late_number_that_would_have_ended_the_map_is_a_doubt() -> None:
    server = Server()
    server.report(f.FormatSet(at=1, max_rounds=30))
    halfway(server, 14)
    play(server, 6)
    server.report(f.FormatSet(at=server.later(), max_rounds=24))
    assert server.match.max_rounds == 30 and doubts(server.match)


def test_sides_that_do_not_change_at_half_time_contradict_the_format(server: Server) -> None:
    play(server, 11)
    server.round("home")
    assert not doubts(server.match)
    server.freeze()
    sight_all(server)
    assert doubts(server.match) == ["sides did not change after round 12: this is no map of 24 rounds"]
    assert server.match.format_status.doubted_maps == (1,)


def test_sides_that_change_elsewhere_contradict_the_format() -> None:
    server = Server()
    server.report(f.FormatSet(at=1, max_rounds=36))
    halfway(server, 15)
    server.swap()
    server.opening_kill("home")
    assert doubts(server.match) == ["sides changed after round 15: this is no map of 36 rounds"]


@pytest.mark.parametrize("rounds", [16, 24, 30])
def test_a_map_in_its_format_raises_no_doubt(rounds: int) -> None:
    server = Server(by_operator(rounds))
    halfway(server, rounds // 2)
    server.swap()
    play(server, rounds // 2)
    assert not server.match.suspended
    assert server.match.map is None or server.match.map.rounds_won == rounds


def test_players_who_show_that_sides_did_change_end_the_doubt() -> None:
    """One player seen too early on the old side is overruled by the others."""
    server = halfway(Server(), 12)
    server.report(f.ItemAcquired(at=server.now, player=TEAMS["home"][0], side=server.side_of("home")))
    assert doubts(server.match)
    server.swap()
    server.opening_kill("home")
    assert not doubts(server.match) and not server.match.format_status.doubted_maps


def test_the_doubt_outlives_the_map_and_the_match() -> None:
    server = halfway(Server(), 12)
    play(server, 9)
    server.game_over()
    assert server.match.over and server.match.format_status.doubted_maps == (1,)
    match, _ = fixture.set_format(server.match, max_rounds=30)
    assert match.maps[0].max_rounds == 30 and not match.format_status.doubted_maps
    with pytest.raises(Conflict, match="finished"):
        fixture.set_format(match, max_rounds=24)


def test_an_operators_word_on_the_map_in_play_is_final() -> None:
    server = halfway(Server(), 12)
    sight_all(server)
    server.match, _ = fixture.set_format(server.match, max_rounds=24)
    play(server, 2)
    assert not doubts(server.match)

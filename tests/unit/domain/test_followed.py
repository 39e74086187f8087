"""A log is followed from wherever it begins, or a doubt shows that it is not."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from app.domain import facts as f
from app.domain.changes import MapFinished, RoundFinished
from app.domain.doubts import (
    PROCESSING_STOPPED,
    SILENT,
    UNCOUNTED_ROUNDS,
    UNCOUNTED_ROUNDS_LIMIT,
    raise_doubt,
)
from app.domain.match import MapPlay, Status, Team
from tests.unit.domain.play import Server, new_match

WINNERS: tuple[Team, ...] = (*("home", "away") * 5, "home")  #: eleven rounds of the first half


def begins_with_round_start(server: Server) -> None:
    server.report(f.RoundStarted(at=server.later()))


def begins_with_a_round(server: Server) -> None:
    """A whole round before a line names the map, with both teams named."""
    begins_with_round_start(server)
    server.team_lines()
    server.kill("home", 0, 0)
    server.report(server.won_fact("home"))


Beginning = Callable[[Server], None]


@pytest.mark.parametrize("begin", [begins_with_round_start, begins_with_a_round])
def test_a_map_that_starts_is_played_whatever_was_seen_before(begin: Beginning) -> None:
    server = Server(map_name="de_nuke")
    begin(server)
    server.start_play()
    server.rounds(*WINNERS)
    assert (server.map.name, server.map.rounds_won) == ("de_nuke", len(WINNERS))
    assert (server.match.suspended, server.match.uncounted_rounds) == ("", 0)


def test_rounds_before_a_score_named_their_map_are_that_maps() -> None:
    server = Server(map_name="de_nuke")
    begins_with_a_round(server)
    server.freeze()
    server.rounds("away", "home")
    assert (server.map.name, len(server.map.counted)) == ("de_nuke", 3)


def test_the_end_of_a_map_names_it() -> None:
    server = Server(map_name="de_nuke")
    begins_with_round_start(server)
    server.team_lines()
    for number in range(13):
        server.kill("home", 0, 0)
        server.report(server.won_fact("home"))
        if number == 11:
            server.swap()
        server.report(f.FreezeStarted(at=server.later(7)))
        server.report(f.RoundStarted(at=server.later(15)))
        server.team_lines()
    server.game_over()
    (ended,) = server.changes_of(MapFinished)
    assert (ended.map.name, ended.map.home_score) == ("de_nuke", 13)
    assert server.match.status is Status.FINISHED


def test_a_map_reloaded_before_it_is_named_has_its_rounds_until_the_next_score() -> None:
    server = Server(map_name="de_nuke")
    begins_with_a_round(server)
    server.report(f.MapLoaded(at=server.later(), name="de_nuke"))
    assert server.map.rounds_won == 1
    server.status()
    assert server.map.name == "de_nuke"
    assert server.match.suspended == ""


def test_a_planned_name_gives_way_to_the_servers() -> None:
    planned = replace(new_match(), maps=(MapPlay(number=1, name="de_mirage"),))
    server = Server(planned, map_name="de_nuke")
    begins_with_round_start(server)
    server.start_play()
    server.rounds("home")
    assert (server.map.name, server.map.rounds_won) == ("de_nuke", 1)


def test_two_rounds_that_cannot_be_counted_are_a_doubt_until_one_is() -> None:
    server = Server(map_name="de_nuke")
    server.report(f.RoundStarted(at=server.later()))  # no line shows which team plays which side
    for seen in range(1, UNCOUNTED_ROUNDS_LIMIT + 1):
        server.go_live()
        server.report(server.won_fact("home"))
        server.freeze()
        kinds = {doubt.kind for doubt in server.match.doubts}
        assert (UNCOUNTED_ROUNDS in kinds) == (seen >= UNCOUNTED_ROUNDS_LIMIT)
    assert server.changes_of(RoundFinished) == []
    server.team_lines()
    server.status()
    server.rounds("home")
    assert server.map.home_score == UNCOUNTED_ROUNDS_LIMIT + 1
    assert (server.match.doubts, server.match.uncounted_rounds) == ((), 0)


def test_a_knife_round_and_a_warm_up_are_no_doubt() -> None:
    server = Server(map_name="de_nuke")
    server.start_map()
    server.go_live()
    server.kill("home", 0, 0, weapon="knife")
    server.report(server.won_fact("home"))
    server.report(f.RestartAnnounced(at=server.later()))
    server.start_play()
    server.rounds("away", "home")
    server.report(f.WarmupStarted(at=server.later()))
    for _ in range(UNCOUNTED_ROUNDS_LIMIT):
        server.report(f.RoundWon(at=server.later(), side="CT", reason="kills", ct_score=9, t_score=9))
    assert UNCOUNTED_ROUNDS not in {doubt.kind for doubt in server.match.doubts}


def test_rounds_behind_while_our_own_processing_stood_still_are_no_doubt() -> None:
    server = Server(map_name="de_nuke")
    server.report(f.RoundStarted(at=server.later()))
    server.match = raise_doubt(server.match, SILENT, PROCESSING_STOPPED)
    for _ in range(UNCOUNTED_ROUNDS_LIMIT + 1):
        server.go_live()
        server.report(server.won_fact("home"))
        server.freeze()
    kinds = {doubt.kind for doubt in server.match.doubts}
    assert SILENT in kinds
    assert UNCOUNTED_ROUNDS not in kinds

"""What an operator may set of teams, format and maps, and what the state of the match forbids.

An operator sets the sides that the log does not show: waiting rounds count and waiting maps end.
"""

import pytest

from app.domain import facts as f
from app.domain import fixture
from app.domain.changes import MapFinished, MapStarted
from app.domain.doubts import UNCOUNTED_ROUNDS, UNCOUNTED_ROUNDS_LIMIT
from app.domain.fixture import set_sides
from app.domain.lifecycle import award_map, cancel
from app.domain.match import Status
from app.domain.match_info import MatchInfo, Veto, VideoStream
from app.kit.errors import Conflict
from tests.unit.domain.play import AWAY, HOME, Server, new_match

CHOSEN = (
    Veto("ban", "de_nuke", "home"),
    Veto("pick", "de_mirage", "away"),
    Veto("pick", "de_dust2", "home"),
    Veto("decider", "de_inferno"),
)


def live(best_of: int = 3) -> Server:
    server = Server.started(new_match(best_of))
    server.round("home")
    return server


def test_other_teams_may_be_named_until_play_begins() -> None:
    changed, _ = fixture.set_teams(new_match(), "Copper Owls", "Dune Larks", home_strength=1500, away_id=4)
    assert (changed.home, changed.away) == ("Copper Owls", "Dune Larks")
    assert (changed.home_strength, changed.away_id) == (1500, 4)
    with pytest.raises(Conflict, match="is live"):
        fixture.set_teams(live().match, "Copper Owls", "Dune Larks")


def test_a_renamed_team_is_known_by_its_new_name_in_the_log() -> None:
    server = Server()
    server.match, _ = fixture.rename_team(server.match, "home", "Amber Foxes Academy")
    server.start_map()
    server.match, _ = fixture.rename_team(server.match, "home", HOME)
    server.round("home")
    assert server.map.home_score == 1
    assert server.match.home == HOME


def test_a_team_does_not_take_the_name_of_the_other() -> None:
    with pytest.raises(Conflict, match=AWAY):
        fixture.rename_team(new_match(), "home", AWAY)


def test_a_format_that_would_decide_the_series_is_refused() -> None:
    won, _ = award_map(live().match, "home", 5)
    with pytest.raises(Conflict, match="1:0"):
        fixture.set_format(won, best_of=1)
    assert fixture.set_format(won, best_of=5)[0].best_of == 5


def test_a_format_that_would_decide_the_map_in_play_is_refused() -> None:
    server = Server.started()
    server.rounds(*["home"] * 9)
    with pytest.raises(Conflict, match="map 1 stands 9:0, decided in a format of 16"):
        fixture.set_format(server.match, max_rounds=16)
    assert fixture.set_format(server.match, max_rounds=18)[0].max_rounds == 18


def test_a_format_reaches_the_map_in_play_and_those_to_come() -> None:
    match, _ = fixture.set_maps(live().match, (Veto("pick", "de_mirage"), *CHOSEN[2:]))
    match, _ = fixture.set_format(match, max_rounds=30, overtime_rounds=0)
    assert {(play.max_rounds, play.overtime_rounds) for play in match.maps} == {(30, 0)}


def test_vetoes_name_the_maps_to_come() -> None:
    match, _ = fixture.set_maps(new_match(3), CHOSEN)
    assert [(play.name, play.picked_by, play.status) for play in match.maps] == [
        ("de_mirage", "away", "upcoming"),
        ("de_dust2", "home", "upcoming"),
        ("de_inferno", None, "upcoming"),
    ]
    assert match.info.vetoes == CHOSEN
    with pytest.raises(Conflict, match="best of 1"):
        fixture.set_maps(new_match(1), CHOSEN)


def test_a_map_in_play_is_not_chosen_away() -> None:
    with pytest.raises(Conflict, match="de_mirage"):
        fixture.set_maps(live().match, (Veto("pick", "de_nuke"),))


def test_setting_match_info_leaves_the_vetoes() -> None:
    match, _ = fixture.set_maps(new_match(3), CHOSEN)
    stream = VideoStream("https://example.test/one")
    match, _ = fixture.set_info(match, MatchInfo(streams=(stream,), demo_url="https://example.test/demo"))
    assert match.info.demo_url and match.info.vetoes == CHOSEN


def test_a_cancelled_match_takes_no_format() -> None:
    match, _ = cancel(new_match(), 5)
    assert match.status is Status.CANCELLED
    with pytest.raises(Conflict, match="is cancelled"):
        fixture.set_format(match, best_of=3)


FIRST_HALF = 12


class Nameless(Server):
    """A server that names no team, and whose players are unknown."""

    def team_lines(self) -> None:
        pass

    def play(self, rounds: int) -> None:
        """Home wins so many rounds."""
        for _ in range(rounds):
            self.go_live()
            self.report(self.won_fact("home"))
            self.freeze()

    def play_to_the_end(self) -> None:
        """Home wins 13:0 and ends on T."""
        self.play(FIRST_HALF - 1)
        self.go_live()
        self.report(self.won_fact("home"))
        self.change_sides()
        self.go_live()
        self.report(self.won_fact("home"))
        self.game_over()

    def name(self, *, home_ct: bool) -> None:
        self.match, changes = set_sides(self.match, "home" if home_ct else "away", self.later())
        self.changes.extend(changes)


def test_named_sides_are_no_reason_any_more_why_rounds_cannot_be_counted() -> None:
    server = Nameless.started()
    server.play(UNCOUNTED_ROUNDS_LIMIT)
    assert UNCOUNTED_ROUNDS in {doubt.kind for doubt in server.match.doubts}
    server.name(home_ct=True)
    assert not [doubt for doubt in server.match.doubts if "which team" in doubt.reason]
    assert server.match.uncounted_rounds == 0


def test_setting_the_sides_after_the_end_ends_the_map_at_the_reported_score() -> None:
    server = Nameless.started()
    server.play_to_the_end()
    assert server.match.status is Status.LIVE
    server.name(home_ct=False)
    (ended,) = server.changes_of(MapFinished)
    assert (ended.map.home_score, ended.map.away_score, ended.map.winner) == (13, 0, "home")
    assert ended.map.unseen == tuple(range(1, 14))
    assert (server.match.status, server.match.winner) == (Status.FINISHED, "home")
    assert server.match.suspended == ""


def test_the_next_map_does_not_take_the_place_of_one_whose_end_waits() -> None:
    server = Nameless.started(new_match(best_of=3))
    server.play_to_the_end()
    server.swap()
    server.start_map("de_nuke")
    server.swap()
    server.name(home_ct=False)
    (ended,) = server.changes_of(MapFinished)
    assert (ended.map.name, ended.map.winner) == ("de_mirage", "home")
    server.start_play()
    assert [started.map for started in server.changes_of(MapStarted)] == [1, 2]
    assert server.map.name == "de_nuke"


def test_an_end_after_which_the_map_was_played_again_ends_nothing() -> None:
    server = Nameless.started()
    server.play_to_the_end()
    server.start_play()
    server.go_live()
    server.name(home_ct=True)
    assert server.changes_of(MapFinished) == []
    assert server.match.status is Status.LIVE


def test_the_end_of_one_map_is_not_that_of_another() -> None:
    server = Nameless.started(new_match(best_of=3))
    server.play_to_the_end()
    server.name(home_ct=False)
    server.report(f.MapLoaded(at=server.later(), name="de_nuke"))
    server.start_play()
    server.name(home_ct=True)
    assert len(server.changes_of(MapFinished)) == 1

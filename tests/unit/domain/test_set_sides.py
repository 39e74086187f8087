"""An operator sets the sides that the log does not show: waiting rounds count and waiting maps end."""

from app.domain import facts as f
from app.domain.changes import MapFinished, MapStarted
from app.domain.doubts import UNCOUNTED_ROUNDS, UNCOUNTED_ROUNDS_LIMIT
from app.domain.fixture import set_sides
from app.domain.match import Status
from tests.unit.domain.play import Server, new_match

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

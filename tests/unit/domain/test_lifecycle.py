"""Walkovers: the named winner gets the map or the match, and what was played stands."""

import pytest

from app.domain.changes import MapFinished, MatchFinished
from app.domain.lifecycle import award_map, award_match
from app.domain.match import Match, Status
from app.kit.errors import Conflict
from tests.unit.domain.play import Server, new_match


def live(best_of: int = 3) -> Match:
    server = Server.started(new_match(best_of))
    server.rounds("away", "away", "home")
    return server.match


def test_a_map_in_play_goes_to_the_named_team_at_the_score_it_had() -> None:
    match, changes = award_map(live(), "home", 50)
    (play,) = match.maps
    assert (play.winner, play.awarded, play.home_score, play.away_score) == ("home", True, 1, 2)
    assert len(play.counted) == 3
    assert (match.score_home, match.status) == (1, Status.LIVE)
    assert [type(change) for change in changes] == [MapFinished]


def test_a_map_won_by_walkover_before_play_counts_in_the_series() -> None:
    match, _ = award_map(new_match(3), "away", 5)
    assert (match.score_away, match.status) == (1, Status.UPCOMING)
    server = Server(match)
    server.play_map("de_nuke", "away")
    assert [play.number for play in server.match.maps] == [1, 2]
    assert (server.match.status, server.match.winner) == (Status.FINISHED, "away")


def test_enough_awarded_maps_end_the_match() -> None:
    match, _ = award_map(new_match(3), "away", 5)
    match, changes = award_map(match, "away", 6)
    assert (match.status, match.winner, match.finished_at) == (Status.FINISHED, "away", 6)
    assert changes[-1] == MatchFinished(winner="away")
    with pytest.raises(Conflict, match="is finished"):
        award_map(match, "home", 7)


def test_a_match_awarded_against_the_score_has_the_named_winner() -> None:
    behind, _ = award_map(live(), "away", 50)
    match, changes = award_match(behind, "home", 60)
    assert (match.winner, match.awarded, match.score_home, match.score_away) == ("home", True, 0, 1)
    assert [change for change in changes if isinstance(change, MatchFinished)] == [
        MatchFinished(winner="home")
    ]


def test_a_match_awarded_at_a_draw_of_maps_is_won() -> None:
    server = Server(new_match(2))
    server.play_map("de_nuke", "away")
    server.start_map("de_ancient")
    match, changes = award_match(server.match, "home", 60)
    assert (match.winner, match.score_home, match.score_away) == ("home", 1, 1)
    assert [one for one in changes if isinstance(one, MatchFinished)] == [MatchFinished(winner="home")]


def test_a_match_awarded_in_play_takes_its_map_along() -> None:
    match, changes = award_match(live(best_of=1), "home", 60)
    assert (match.maps[0].winner, match.winner, match.score_home) == ("home", "home", 1)
    assert [type(change) for change in changes] == [MapFinished, MatchFinished]

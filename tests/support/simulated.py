"""Simulated matches for tests: who plays, and whether what was read of one is what happened in it."""

from typing import Any

from app.domain.match import Match, Status
from app.sandbox.simulator.fictional_world import fictional_world
from app.sandbox.simulator.log_lines import TimestampStyle
from app.sandbox.simulator.match_simulation import MatchPlan
from app.sandbox.simulator.truth import SeriesTruth

BEGIN = 1_790_000_000_000
_TIMESTAMP_STYLES: tuple[TimestampStyle, ...] = ("plain", "bare", "millis")


def plan_between(home: int, away: int, seed: int, **fields: Any) -> MatchPlan:
    """A match of two squads, by their places in the ranking of the fictional world."""
    teams = fictional_world().teams
    return MatchPlan(teams[home], teams[away], seed, BEGIN, **fields)


def plan_of(seed: int, **fields: Any) -> MatchPlan:
    """A match of other squads, with another style of timestamps, for each seed."""
    home, away = seed % 40, (seed * 7 + 3) % 40
    away = (seed + 1) % 40 if away == home else away
    return plan_between(home, away, seed, timestamps=_TIMESTAMP_STYLES[seed % 3], **fields)


def assert_as_played(match: Match, truth: SeriesTruth) -> None:
    """The finished match has the maps, scores and rounds that the simulator played."""
    assert match.status is Status.FINISHED
    assert match.winner == truth.winner
    assert (match.score_home, match.score_away) == (truth.maps_won("home"), truth.maps_won("away"))
    for played, true in zip(match.maps, truth.maps, strict=False):
        assert (played.name, played.winner) == (true.name, true.winner)
        assert (played.home_score, played.away_score) == (true.home_score, true.away_score)
        seen = [(r.number, r.winner, r.winning_side, r.win_reason, r.bomb_site) for r in played.counted]
        assert seen == [(r.number, r.winner, r.side, r.reason, r.bomb_site) for r in true.rounds]
        assert not played.unseen

"""Simulated matches for tests: who plays, and whether what was read of one is what happened in it."""

from collections import deque
from random import Random
from typing import Any

from app.domain.match import Match, Status
from app.sandbox.simulator.anomalies import LogLine, disorder
from app.sandbox.simulator.fictional_world import fictional_world
from app.sandbox.simulator.log_lines import TimestampStyle
from app.sandbox.simulator.match_simulation import MatchPlan, new_truth, unstamped
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


def outcome(plan: MatchPlan) -> SeriesTruth:
    """What happens in a match, for those who do not read its log: the truth of `simulate`, sooner, since no
    line is stamped. They are put in disorder, because what goes wrong on the next map depends on that."""
    truth = new_truth(plan)
    trouble = Random(f"what goes wrong in {plan.seed}")
    lines = map(LogLine._make, unstamped(plan, trouble, truth))
    deque(disorder(lines, trouble, plan.anomalies, plan.pace.seconds), maxlen=0)
    return truth


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

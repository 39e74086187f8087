"""The score that the server reports, compared with ours: it confirms, adds, voids or casts doubt."""

from msgspec.structs import replace

from app.domain import facts as f
from app.domain.changes import MatchChanges
from app.domain.doubts import clear_doubt, log_is_doubted
from app.domain.match import Match
from app.domain.rounds import (
    accept_unseen_rounds,
    count_result,
    open_round,
    raise_score_doubt,
    replay_current_round,
    restore_score,
    scores_by_team,
    void_all,
)
from app.domain.series import can_start, map_in_play, set_map_name, start_map, was_played
from app.domain.sides import infer_sides_from_score


def score_reported(match: Match, fact: f.ScoreReported, changes: MatchChanges) -> Match:
    if fact.rounds_played < 0:
        return _out_of_play(match, changes)
    if was_played(match, fact.map_name):
        return match
    match = set_map_name(replace(match, warmup=False), fact.map_name)
    if can_start(match, fact.map_name):
        match = start_map(match, fact.map_name, fact.at, changes)
    play = map_in_play(match)
    if play is None or fact.map_name not in ("", play.name):
        return match
    match = _after_knives(replace(match, handed_over=False), fact, changes)
    return _compare(count_result(match, changes), fact, changes)


def _out_of_play(match: Match, changes: MatchChanges) -> Match:
    """`RoundsPlayed: -1`: play does not count."""
    if match.map is None or match.restarting:
        return replace(match, warmup=True)
    return replace(replay_current_round(match, changes), warmup=True)


def _after_knives(match: Match, fact: f.ScoreReported, changes: MatchChanges) -> Match:
    """The score in the next freeze shows whether a first round with knife kills only counted."""
    current = match.current
    if current is None or current.pending_result is None or not (current.knife and current.break_over):
        return match
    if fact.rounds_played == 0:
        return open_round(void_all(match, changes), fact.at, changes)
    return _then_open(count_result(match, changes), fact.at, changes)


def _then_open(match: Match, at: int, changes: MatchChanges) -> Match:
    judged = match.current is not None and match.current.pending_result is None
    return open_round(match, at, changes) if judged else match


def _compare(match: Match, fact: f.ScoreReported, changes: MatchChanges) -> Match:
    """Compare the reported score with the rounds counted; a lower one means a restored backup."""
    match = infer_sides_from_score(match, fact.ct_score, fact.t_score)
    play, current = match.map, match.current
    if play is None or (current is not None and current.pending_result is not None):
        return match
    ours = (play.home_score, play.away_score)
    theirs = scores_by_team(play, fact.ct_score, fact.t_score)
    if theirs == ours:
        return _confirm_score(match, fact.at, changes)
    if sum(theirs) == sum(ours):
        return raise_score_doubt(match, fact.ct_score, fact.t_score)
    if sum(theirs) > sum(ours):
        match = accept_unseen_rounds(match, fact.ct_score, fact.t_score, fact.at, changes)
        return match if log_is_doubted(match) else replace(match, restarting=False)
    if current is not None and current.phase != "freeze" and not match.restarting:
        return match
    if match.restarting and not sum(theirs):
        return match
    return replace(restore_score(match, fact.ct_score, fact.t_score, fact.at, changes), restarting=False)


def _confirm_score(match: Match, at: int, changes: MatchChanges) -> Match:
    """The scores are equal; after a server restart the current round begins again."""
    current = match.current
    anew = match.restarting and current is not None and current.phase != "freeze"
    match = replace(clear_doubt(match, "score", "restart"), restarting=False)
    if anew:
        return open_round(replay_current_round(match, changes), at, changes)
    return match if match.current else open_round(match, at, changes)

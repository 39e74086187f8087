"""The score that the server reports, compared with ours: it confirms, adds, picks a branch or casts doubt."""

from msgspec.structs import replace

from app.domain import facts as f
from app.domain import restarts
from app.domain.branches import Place, find_place
from app.domain.changes import MatchChanges
from app.domain.doubts import MISSING_DATA, clear_doubt, log_is_doubted
from app.domain.match import MapPlay, Match
from app.domain.rounds import (
    accept_unseen_rounds,
    count_result,
    open_round,
    raise_score_doubt,
    restore,
    void_all,
    void_current_round,
)
from app.domain.series import can_start, map_in_play, set_map_name, start_map, was_played
from app.domain.sides import infer_sides_from_score, is_side_break, scores_by_team


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
    return replace(void_current_round(match, changes, replayed=True), warmup=True)


def _after_knives(match: Match, fact: f.ScoreReported, changes: MatchChanges) -> Match:
    """The score in the next freeze shows whether a first round with knife kills only counted."""
    current = match.current
    if current is None or current.pending_result is None or not (current.knife and current.break_over):
        return match
    if fact.rounds_played == 0:
        return open_round(void_all(match, changes), fact.at, changes)
    match = count_result(match, changes)
    judged = match.current is not None and match.current.pending_result is None
    return open_round(match, fact.at, changes) if judged else match


def _compare(match: Match, fact: f.ScoreReported, changes: MatchChanges) -> Match:
    """Compare the reported score with the rounds counted. A different score comes from a restored backup if
    the map had that score before; a lower one where nothing was played comes from a restart."""
    match = infer_sides_from_score(match, fact.ct_score, fact.t_score)
    play, current = match.map, match.current
    if play is None or (current is not None and current.pending_result is not None):
        return match
    ours = (play.home_score, play.away_score)
    theirs = scores_by_team(play, fact.ct_score, fact.t_score)
    if theirs == ours:
        return _confirm_score(match, fact.at, changes)
    in_play = current is not None and current.phase != "freeze"
    awaited = match.restarting or match.restoring is not None
    if sum(theirs) < sum(ours) and in_play and not awaited:
        return match
    if (
        not sum(theirs)
        and match.restoring != 0
        and (match.restarting or play.rounds_won > restarts.DISCARDED_BY_COMMAND)
    ):
        return open_round(restarts.begin(match, changes), fact.at, changes)
    place = find_place(play, fact.ct_score, fact.t_score)
    if place is not None and (awaited or _may_be_restored(match, play, place)):
        return restore_place(match, place, fact.at, changes)
    if sum(theirs) > sum(ours):
        match = accept_unseen_rounds(match, fact.ct_score, fact.t_score, fact.at, changes)
        return match if log_is_doubted(match) else restarts.score_known(match)
    return raise_score_doubt(match, fact.ct_score, fact.t_score)


def _may_be_restored(match: Match, play: MapPlay, place: Place) -> bool:
    """Whether a backup may have been restored without a line that announced it: only in a freeze time, and
    only where the score cannot differ for another reason (rounds whose lines are missing, sides that have
    just changed)."""
    if match.current is not None and match.current.phase != "freeze":
        return False
    if sum(place.score) < play.rounds_won:
        return True
    missing = any(doubt.kind == MISSING_DATA for doubt in match.doubts)
    return not (missing or is_side_break(play) or play.home_side is None)


def restore_place(match: Match, place: Place, at: int, changes: MatchChanges) -> Match:
    """Play goes on from a place: its branch counts. In the play since a restart this ends the doubt, unless
    the place is in that play, too."""
    since = restarts.is_since_restart(match, place)
    match = restarts.score_known(restore(match, place, at, changes))
    return match if since else replace(match, restart=None)


def _confirm_score(match: Match, at: int, changes: MatchChanges) -> Match:
    """The scores are equal; after a server restart the current round begins again."""
    current = match.current
    awaited = match.restarting or match.restoring is not None
    anew = awaited and current is not None and (current.phase != "freeze" or current.gap)
    match = restarts.score_known(clear_doubt(match, "score", "restart"))
    if anew:
        return open_round(void_current_round(match, changes, replayed=True), at, changes)
    return match if match.current else open_round(match, at, changes)

"""Ends of a map that no `Game Over` reports, by the rules and by a surrender, and what contradicts an end."""

from msgspec.structs import replace

from app.domain import facts as f
from app.domain.changes import MatchChanges
from app.domain.doubts import ENDED, raise_doubt
from app.domain.match import MapPlay, Match
from app.domain.series import close_map, finish_map, map_in_play
from app.domain.sides import team_on, update_map

#: For so long (ms) the log may still report the end of a map that the rules have decided, or play may go on:
#: the freeze time of another round comes within ten seconds.
END_WAIT_MILLIS = 20_000
#: Doubts about what was played; others, such as players who have left, say nothing against the score.
_OF_THE_SCORE = ("score", "teams", "sides", "map", "rival", "restart")


def end_due_at(match: Match) -> int | None:
    """When (Unix ms) the map in play ends by the rules unless the log reports its end or another round by
    then; None where they have not decided it, or where its format, its score or its sides are in doubt."""
    play, current = match.map, match.current
    if play is None or current is None or current.phase != "over" or not play.counted:
        return None
    last, doubted = play.counted[-1], play.number in match.format_status.doubted_maps
    undecided = not play.decides(play.home_score, play.away_score) or last.number != play.rounds_won
    if undecided or doubted or match.restart or match.restarting or match.pending_map_end or match.warmup:
        return None
    if any(doubt.kind in _OF_THE_SCORE for doubt in match.doubts):
        return None
    return last.ended_at + END_WAIT_MILLIS


def end_overdue(match: Match, fact: f.EndOverdue, changes: MatchChanges) -> Match:
    """The log has not reported the end of the map: it ends by the rules."""
    play, due = match.map, end_due_at(match)
    if play is None or due is None or fact.at < due:
        return match
    match = update_map(match, replace(play, end_assumed=True))
    return finish_map(match, play.home_score, play.away_score, fact.at, changes)


def surrendered(match: Match, fact: f.Surrendered, changes: MatchChanges) -> Match:
    """A team gave up: the map is awarded to the other one, at the score as it was played."""
    play = map_in_play(match)
    if play is None:
        return match
    winner = team_on(play, fact.winner)
    if winner is None:
        return raise_doubt(match, "map", "a team surrendered, sides unknown")
    return close_map(match, replace(play, winner=winner, awarded=True), fact.at, changes)


def check_end(match: Match, fact: f.Fact) -> Match:
    """The match with a doubt if `fact` shows that the map which ended last is played on: its next round, or
    a backup of an earlier one. Its results stand until an operator changes them."""
    ended = [play for play in match.maps if play.status == "finished"]
    if match.map is not None or not ended or ended[-1].awarded:
        return match
    last = ended[-1]
    if match.loaded in ("", last.name) and _goes_on(last, fact):
        home, away = last.home_score, last.away_score
        return raise_doubt(match, ENDED, f"map {last.number} goes on after its end at {home}:{away}")
    return match


def _goes_on(play: MapPlay, fact: f.Fact) -> bool:
    """Whether `fact` continues the finished map. A first round may be one of another match."""
    if isinstance(fact, f.RestoreAnnounced):
        return 0 < fact.round <= play.rounds_won
    if not isinstance(fact, f.RoundWon) or fact.ct_score + fact.t_score != play.rounds_won + 1:
        return False
    ours = sorted((play.home_score, play.away_score))
    return sorted((fact.ct_score, fact.t_score)) in (sorted((ours[0] + 1, ours[1])), [ours[0], ours[1] + 1])

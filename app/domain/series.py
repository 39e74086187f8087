"""How a match starts, goes from map to map, and ends."""

from msgspec.structs import replace

from app.domain.changes import MapFinished, MapStarted, MatchChanges, MatchFinished, MatchStarted
from app.domain.doubts import ENDED, clear_doubt, raise_doubt, retain_doubts
from app.domain.formats import FORMAT
from app.domain.match import MapPlay, Match, PendingMapEnd, Presence, RoundKnowledge, Status, Team
from app.domain.sides import apply_named_side, apply_team_lines, scores_by_team


def map_in_play(match: Match) -> MapPlay | None:
    """The map in play, if the server has it loaded and is not in warm-up; else None."""
    play = match.map
    if play is None or match.warmup or match.loaded not in ("", play.name):
        return None
    return play


def can_start(match: Match, map_name: str) -> bool:
    """Whether a map can start now; one that was played does not start again within the match."""
    name = map_name or match.loaded
    return match.map is None and not match.warmup and not was_played(match, name)


def was_played(match: Match, name: str) -> bool:
    return bool(name) and any(play.name == name for play in match.maps if play.status == "finished")


def set_map_name(match: Match, name: str) -> Match:
    """Set the name of the map in play, where the log had not named it before: it has no name, or only the
    planned one. Its rounds are that map's."""
    play = match.map
    if play is None or not name or (match.loaded and play.name) or was_played(match, name):
        return match
    return replace(put_map(match, replace(play, name=name)), loaded=name)


def start_map(match: Match, map_name: str, at: int, changes: MatchChanges) -> Match:
    """The next map begins; with the first one the match does."""
    if match.status is not Status.LIVE:
        match = replace(match, status=Status.LIVE, started_at=at)
        changes.append(MatchStarted())
    planned = next_map(match)
    play = replace(
        planned,
        name=map_name or match.loaded or planned.name,
        status="live",
        started_at=at,
        max_rounds=match.max_rounds,
        overtime_rounds=match.overtime_rounds,
    )
    match = replace(put_map(match, play), loaded=map_name or match.loaded)
    changes.append(MapStarted(map=play.number))
    return apply_named_side(apply_team_lines(match))


def finish_map(match: Match, home_score: int, away_score: int, at: int, changes: MatchChanges) -> Match:
    """The map ends with this score; with enough maps won, the match does."""
    play = match.map
    if play is None:
        return match
    unseen = (*play.unseen, *range(play.rounds_won + 1, home_score + away_score + 1))
    winner = _leader(home_score, away_score)
    play = replace(play, home_score=home_score, away_score=away_score, unseen=unseen, winner=winner)
    return close_map(match, play, at, changes)


def close_map(match: Match, play: MapPlay, at: int, changes: MatchChanges) -> Match:
    """Finish the match's map `play`, whose winner is set; it may be one that never began."""
    play = replace(play, status="finished", finished_at=at, end_id=match.next_history_id)
    match = replace(
        put_map(match, play), next_history_id=match.next_history_id + 1, current=None, pause="", loadouts=()
    )
    match = replace(
        match,
        presence=Presence(),
        shown=RoundKnowledge(),
        score_home=match.score_home + (play.winner == "home"),
        score_away=match.score_away + (play.winner == "away"),
        restarting=False,
        restart_cause=None,
        restoring=None,
        handed_over=False,
        pending_map_end=None,
    )
    changes.append(MapFinished(map=play))
    match = clear_doubt(match, "score", "sides", "restart", "map")
    return finish_match(match, at, changes) if series_over(match) else match


def map_numbered(match: Match, number: int) -> MapPlay:
    """The match's map with this number, which has begun."""
    return next(play for play in match.maps if play.number == number)


def put_map(match: Match, play: MapPlay) -> Match:
    """Add the map, or replace the one of the same number."""
    others = tuple(other for other in match.maps if other.number != play.number)
    return replace(match, maps=tuple(sorted((*others, play), key=lambda one: one.number)))


def next_map(match: Match) -> MapPlay:
    """The map after those that have ended, as planned by the veto."""
    number = sum(play.status == "finished" for play in match.maps) + 1
    return next((play for play in match.maps if play.number == number), MapPlay(number=number))


def _leader(home: int, away: int) -> Team | None:
    if home == away:
        return None
    return "home" if home > away else "away"


def series_over(match: Match) -> bool:
    played = sum(play.status == "finished" for play in match.maps)
    most = max(match.score_home, match.score_away)
    return most > match.best_of // 2 or played >= match.best_of


def finish_match(match: Match, at: int, changes: MatchChanges, winner: Team | None = None) -> Match:
    """The match ends; `winner` is the team that won more maps, unless given. Only the doubts about the
    format and about a map's end stay: they wait for an operator."""
    winner = winner or _leader(match.score_home, match.score_away)
    changes.append(MatchFinished(winner=winner))
    match = retain_doubts(replace(match, current=None, pause="", loadouts=()), FORMAT, ENDED)
    return replace(match, status=Status.FINISHED, winner=winner, finished_at=at)


def end_map_at_score(match: Match, ct_score: int, t_score: int, at: int, changes: MatchChanges) -> Match:
    """`Game Over`: the reported score ends the map, unless it is undecided. While sides are unknown the end
    waits for them."""
    play = match.map
    if play is None:
        return match
    score = _final_score(play, ct_score, t_score)
    if score is None:
        match = replace(match, pending_map_end=PendingMapEnd(play.number, ct_score, t_score))
        return raise_doubt(match, "map", f"map ended CT {ct_score}, T {t_score}, sides unknown")
    known = play.number not in match.format_status.doubted_maps
    if known and not (play.decides(*score) or sum(score) >= play.max_rounds):
        reason = f"map ended undecided at {score[0]}:{score[1]}"
        return replace(raise_doubt(match, "map", reason), current=None)
    return finish_map(match, *score, at, changes)


def end_map_at_pending_score(match: Match, at: int, changes: MatchChanges) -> Match:
    """End the map in play with the score that waits for its sides, if there is one."""
    play, end = match.map, match.pending_map_end
    if play is None or end is None or end.map != play.number:
        return match
    return end_map_at_score(replace(match, pending_map_end=None), end.ct_score, end.t_score, at, changes)


def _final_score(play: MapPlay, ct_score: int, t_score: int) -> tuple[int, int] | None:
    """Home's and away's rounds: ours if the reported score equals them, else the reported ones by side."""
    ours = (play.home_score, play.away_score)
    if ours in ((ct_score, t_score), (t_score, ct_score)):
        return ours
    if ct_score == t_score:
        return ct_score, t_score
    return None if play.home_side is None else scores_by_team(play, ct_score, t_score)

"""How rounds begin, end, are counted by the reported score, and become void."""

from msgspec.structs import replace

from app.domain.branches import Place, branch, recount
from app.domain.changes import MatchChanges, RoundFinished, RoundLive, RoundOpened
from app.domain.doubts import MISSING_DATA, PRICE, STATISTICS, UNREAD, clear_doubt, raise_doubt
from app.domain.loadout import for_new_round, team_equipment_values
from app.domain.map_play import player_kills
from app.domain.match import CurrentRound, MapPlay, Match, Round, RoundResult
from app.domain.presence import with_available_players
from app.domain.round_totals import tally_round
from app.domain.sides import (
    clear_sides_after_break,
    infer_sides_from_score,
    is_side_break,
    scores_by_team,
    set_home_side,
    team_on,
    update_map,
)
from app.domain.timeline import add_bomb_event, bomb_site, deaths_in, release_withheld_events


def open_round(match: Match, at: int, changes: MatchChanges) -> Match:
    """The freeze time of the next round; the current round is over or void. Prices start anew: a doubt about
    them ends, and so does one about what happened in the round before."""
    match = clear_doubt(clear_sides_after_break(match), PRICE, UNREAD, STATISTICS)
    match = tally_round(match)
    play = match.map
    if play is None:
        return match
    number = play.rounds_won + 1
    gap = any(doubt.kind == MISSING_DATA for doubt in match.doubts)
    current = CurrentRound(map=play.number, number=number, opened_at=at, knife=number == 1, gap=gap)
    current = with_available_players(match, current)
    loadouts = for_new_round(match.loadouts, begins_half=begins_half(play))
    match = replace(match, current=current, loadouts=loadouts)
    changes.append(RoundOpened(map=play.number, round=number))
    return match


def begins_half(play: MapPlay) -> bool:
    """Whether the next round begins a half: nobody has equipment then."""
    return not play.rounds_won or is_side_break(play)


def go_live(match: Match, at: int, changes: MatchChanges) -> Match:
    current = match.current
    if current is None:
        return match
    changes.append(RoundLive(map=current.map, round=current.number))
    return replace(match, pause="", current=replace(current, phase="live", started_at=at))


def count_result(match: Match, changes: MatchChanges) -> Match:
    """Count the waiting result once its team is known and the score reported with it equals ours."""
    current, play = match.current, match.map
    if current is None or current.pending_result is None or play is None or _may_be_knife_round(current):
        return match
    won = current.pending_result
    match = _infer_sides_from_result(match, won)
    play = match.map or play
    if play.home_side is None:
        return raise_doubt(match, "sides", "which team plays which side is not known yet")
    if scores_by_team(play, won.ct_score, won.t_score) != _score_after(play, won):
        return raise_score_doubt(match, won.ct_score, won.t_score)
    return _finish_round(match, won, changes)


def _may_be_knife_round(current: CurrentRound) -> bool:
    return current.knife and not current.break_over


def _infer_sides_from_result(match: Match, won: RoundResult) -> Match:
    """While sides are unknown, the score before this round may show them."""
    ct_before, t_before = won.ct_score - (won.side == "CT"), won.t_score - (won.side == "T")
    return infer_sides_from_score(match, ct_before, t_before)


def _score_after(play: MapPlay, won: RoundResult) -> tuple[int, int]:
    home_won = team_on(play, won.side) == "home"
    return play.home_score + home_won, play.away_score + (not home_won)


def raise_score_doubt(match: Match, ct_score: int, t_score: int) -> Match:
    play = match.map
    ours = f"{play.home_score}:{play.away_score}" if play else "no map"
    return raise_doubt(
        match, "score", f"the log says CT {ct_score}, T {t_score}, which disagrees with {ours} counted"
    )


def _finish_round(match: Match, won: RoundResult, changes: MatchChanges) -> Match:
    match = add_bomb_event(release_withheld_events(match, changes), won, changes)
    play, current = match.map, match.current
    winner = team_on(play, won.side) if play else None
    if play is None or current is None or winner is None:
        return match
    home_score, away_score = _score_after(play, won)
    finished = Round(
        id=match.next_history_id,
        map=play.number,
        number=current.number,
        winner=winner,
        winning_side=won.side,
        win_reason=won.reason,
        home_score=home_score,
        away_score=away_score,
        started_at=current.started_at or current.opened_at,
        ended_at=won.at,
        bomb_site=bomb_site(current),
        events=tuple(event.id for event in current.events),
        gap=current.gap,
        worth=team_equipment_values(current.carried, play.home_side) if play.home_side else (None, None),
        kills=player_kills(current.events),
        previous=play.last_counted.id if play.last_counted else 0,
        other_deaths=deaths_in(match, play.number, current.number),
        doubted_by=current.doubted_by,
    )
    play = replace(play, home_score=home_score, away_score=away_score, rounds=(*play.rounds, finished))
    play = replace(play, side_before_break=play.home_side if is_side_break(play) else None)
    match = replace(
        match,
        next_history_id=match.next_history_id + 1,
        current=replace(current, phase="over", pending_result=None),
    )
    changes.append(RoundFinished(round=finished, timeline=current.events))
    return clear_doubt(update_map(match, play), "score", "sides", "restart")


def void_after(
    match: Match, home_score: int, away_score: int, changes: MatchChanges, *, replayed: bool = False
) -> Match:
    """Void the rounds after this score, and the current one. `replayed`: they are played again."""
    play, total = match.map, home_score + away_score
    if play is None:
        return match
    standing = [played for played in play.counted if played.number <= total]
    return recount(match, standing, (home_score, away_score), changes, replayed=replayed)


def void_all(match: Match, changes: MatchChanges) -> Match:
    """Void all rounds: the map is played again from its beginning."""
    return void_after(match, 0, 0, changes, replayed=True)


def void_current_round(match: Match, changes: MatchChanges, *, replayed: bool = False) -> Match:
    """Void the current round: it is not going to be finished. `replayed`: it is played again."""
    play = match.map
    return void_after(match, play.home_score, play.away_score, changes, replayed=replayed) if play else match


def restore(match: Match, place: Place, at: int, changes: MatchChanges) -> Match:
    """A backup was restored: the rounds of this place's branch count, and play goes on after them."""
    play = match.map
    if play is None:
        return match
    match = recount(match, branch(play, place.leaf), place.score, changes, replayed=True)
    match = set_home_side(match, place.home_side)
    return open_round(clear_doubt(match, "score", "restart", "sides"), at, changes)


def accept_unseen_rounds(match: Match, ct_score: int, t_score: int, at: int, changes: MatchChanges) -> Match:
    """The reported score is ahead of ours: rounds ended unseen. It replaces ours where that is safe.

    Not in the freeze after a possible change of sides, when team lines and score contradict each other;
    then the next reported score decides.
    """
    play, current = match.map, match.current
    if play is None or play.home_side is None:
        return raise_score_doubt(match, ct_score, t_score)
    home_score, away_score = scores_by_team(play, ct_score, t_score)
    ahead = replace(play, home_score=home_score, away_score=away_score)
    in_freeze = current is None or current.phase == "freeze"
    if home_score < play.home_score or away_score < play.away_score or (in_freeze and is_side_break(ahead)):
        return raise_score_doubt(match, ct_score, t_score)
    match = void_current_round(match, changes)
    numbers = range(play.rounds_won + 1, home_score + away_score + 1)
    ahead = replace(ahead, unseen=(*play.unseen, *numbers))
    ahead = replace(ahead, side_before_break=ahead.home_side if is_side_break(ahead) else None)
    match = clear_doubt(update_map(match, ahead), "score", "restart", "sides")
    if in_freeze:
        return open_round(match, at, changes)
    return replace(match, current=CurrentRound(map=ahead.number, number=ahead.rounds_won, phase="over"))


def skip_rounds(match: Match, ct_score: int, t_score: int, changes: MatchChanges) -> Match:
    """A result whose score skips rounds: it is unknown which round it was and what happened in it."""
    match = void_current_round(match, changes)
    play = match.map
    if play is not None:
        current = CurrentRound(map=play.number, number=ct_score + t_score, phase="over")
        match = replace(match, current=current)
    return raise_score_doubt(match, ct_score, t_score)


def drop_uncounted_result(match: Match, changes: MatchChanges) -> Match:
    """Play went on while the winner was unknown: the round is not counted, and its events belong to no known
    round."""
    current = match.current
    if current is None or current.pending_result is None:
        return match
    match = void_current_round(match, changes)
    return raise_score_doubt(match, current.pending_result.ct_score, current.pending_result.t_score)

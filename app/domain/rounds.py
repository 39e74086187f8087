"""How rounds begin, end, are judged against the score told, and become void."""

from msgspec.structs import replace

from app.domain.changes import Changes, RoundFinished, RoundLive, RoundOpened, RoundsVoided
from app.domain.doubts import SOURCE, clear_doubt, raise_doubt
from app.domain.equipment_value import of_teams
from app.domain.loadout import stood_up
from app.domain.match import CurrentRound, MapPlay, Match, Round, RoundResult
from app.domain.presence import with_available_players
from app.domain.sides import (
    infer_sides_from_score,
    is_break,
    open_sides_after_break,
    set_home_side,
    slot_on,
    update_map,
)
from app.domain.timeline import add_bomb_event, bomb_site, release_held_events


def open_round(match: Match, at: int, changes: Changes) -> Match:
    """The freeze time of the next round; the round in hand is over or void."""
    match = open_sides_after_break(match)
    play = match.map
    if play is None:
        return match
    number = play.rounds_won + 1
    bare = not play.rounds_won or is_break(play)
    current = with_available_players(match, fresh_round(match, play, number, at))
    sheet = stood_up(match.loadouts, bare=bare)
    match = replace(match, current=current, loadouts=sheet)
    changes.append(RoundOpened(map=play.number, round=number))
    return match


def fresh_round(match: Match, play: MapPlay, number: int, at: int) -> CurrentRound:
    gap = any(doubt.kind == SOURCE for doubt in match.doubts)
    return CurrentRound(map=play.number, number=number, opened_at=at, knife=number == 1, gap=gap)


def go_live(match: Match, at: int, changes: Changes) -> Match:
    current = match.current
    if current is None:
        return match
    changes.append(RoundLive(map=current.map, round=current.number))
    return replace(match, pause="", current=replace(current, phase="live", started_at=at))


def judge(match: Match, changes: Changes) -> Match:
    """Count the waiting result once its team is known and the score told with it is ours."""
    current, play = match.current, match.map
    if current is None or current.won is None or play is None or _still_maybe_knife(current):
        return match
    won = current.won
    match = _believe_result(match, play, won)
    play = match.map or play
    if play.home_side is None:
        return raise_doubt(match, "sides", "which team plays which side is not known yet")
    if scores_by_team(play, won.ct_score, won.t_score) != _after(play, won):
        return disagree(match, won.ct_score, won.t_score)
    return _finish(match, won, changes)


def _still_maybe_knife(current: CurrentRound) -> bool:
    return current.knife and not current.break_over


def _believe_result(match: Match, play: MapPlay, won: RoundResult) -> Match:
    """While the sides are open, the score before this round may show them."""
    ct_before, t_before = won.ct_score - (won.side == "CT"), won.t_score - (won.side == "T")
    return infer_sides_from_score(match, ct_before, t_before) if play.home_side is None else match


def _after(play: MapPlay, won: RoundResult) -> tuple[int, int]:
    home_won = slot_on(play, won.side) == "home"
    return play.home_score + home_won, play.away_score + (not home_won)


def scores_by_team(play: MapPlay, ct_score: int, t_score: int) -> tuple[int, int]:
    """Home's and away's score in a score told by side; home is taken as CT while sides are open."""
    return (t_score, ct_score) if play.home_side == "T" else (ct_score, t_score)


def disagree(match: Match, ct_score: int, t_score: int) -> Match:
    play = match.map
    ours = f"{play.home_score}:{play.away_score}" if play else "no map"
    return raise_doubt(match, "score", f"score told CT {ct_score}, T {t_score} disagrees with {ours} counted")


def _finish(match: Match, won: RoundResult, changes: Changes) -> Match:
    match = add_bomb_event(release_held_events(match, changes), won, changes)
    play, current = match.map, match.current
    winner = slot_on(play, won.side) if play else None
    if play is None or current is None or winner is None:
        return match
    home_score, away_score = _after(play, won)
    finished = Round(
        id=match.next_fact,
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
        worth=of_teams(current.carried, play.home_side) if play.home_side else (None, None),
    )
    play = replace(play, home_score=home_score, away_score=away_score, rounds=(*play.rounds, finished))
    play = replace(play, side_before_break=play.home_side if is_break(play) else None)
    match = replace(match, next_fact=match.next_fact + 1, current=replace(current, phase="over", won=None))
    changes.append(RoundFinished(round=finished, timeline=current.events))
    return clear_doubt(update_map(match, play), "score", "sides", "restart")


def void_after(
    match: Match, home_score: int, away_score: int, changes: Changes, *, replayed: bool = False
) -> Match:
    """Only the rounds up to this score stand; later ones and the round in hand are void, and `replayed` or
    not."""
    play = match.map
    if play is None:
        return match
    total = home_score + away_score
    gone = tuple(replace(played, void=True) for played in play.counted if played.number > total)
    _tell_void(match, play, gone, changes, _replayed_from(match, play, gone, total) if replayed else None)
    by_id = {played.id: played for played in gone}
    play = replace(
        play,
        rounds=tuple(by_id.get(played.id, played) for played in play.rounds),
        unseen=tuple(number for number in play.unseen if number <= total),
        home_score=home_score,
        away_score=away_score,
    )
    if gone:
        play = replace(play, home_side=gone[0].home_side, side_before_break=None)
    deaths = tuple(death for death in match.other_deaths if death.map != play.number or death.round <= total)
    return replace(update_map(match, play), current=None, other_deaths=deaths)


def void_all(match: Match, changes: Changes) -> Match:
    """The map is played again from its beginning."""
    return void_after(match, 0, 0, changes, replayed=True)


def void_current_round(match: Match, changes: Changes) -> Match:
    """The round in hand is not going to be finished."""
    play = match.map
    return void_after(match, play.home_score, play.away_score, changes) if play else match


def replay_current_round(match: Match, changes: Changes) -> Match:
    """The round in hand is played again."""
    play = match.map
    return void_after(match, play.home_score, play.away_score, changes, replayed=True) if play else match


def _replayed_from(match: Match, play: MapPlay, gone: tuple[Round, ...], total: int) -> int:
    """When the play began (Unix ms) that is void after so many rounds: when the last round that stands was
    over, the map itself where none does; else, that end being unseen, when the first void round went live."""
    stands = next((played for played in play.counted if played.number == total), None)
    if stands is not None:
        return stands.ended_at
    begun = match.current.opened_at if match.current else 0
    if not total and play.started_at is not None:
        return play.started_at
    return gone[0].started_at if gone else begun


def _tell_void(
    match: Match, play: MapPlay, voided: tuple[Round, ...], changes: Changes, replayed_from: int | None
) -> None:
    current = match.current
    unfinished = current is not None and current.number > play.rounds_won
    in_hand = tuple(event.id for event in current.events) if current and unfinished else ()
    events = sorted({*in_hand, *(id for played in voided for id in played.events)})
    if voided or events:
        changes.append(
            RoundsVoided(map=play.number, rounds=voided, events=tuple(events), replayed_from=replayed_from)
        )


def go_back(match: Match, ct_score: int, t_score: int, at: int, changes: Changes) -> Match:
    """A round was restored: what stood at the score told is what stands, if we can say what that was."""
    play = match.map
    if play is None:
        return match
    first_gone = next((played for played in play.counted if played.number > ct_score + t_score), None)
    side = first_gone.home_side if first_gone else play.home_side
    score = (ct_score, t_score) if side == "CT" else (t_score, ct_score)
    if side is None or not _stood(play, score):
        return disagree(match, ct_score, t_score)
    match = set_home_side(void_after(match, *score, changes, replayed=True), side)
    return open_round(clear_doubt(match, "score", "restart", "sides"), at, changes)


def _stood(play: MapPlay, score: tuple[int, int]) -> bool:
    """Whether the map may have stood so: no team with fewer rounds than were counted for it by then, nor
    with more than it had at the next one counted, or has now."""
    least, most = (0, 0), (play.home_score, play.away_score)
    for played in play.counted:
        if played.number > sum(score):
            most = played.score_before
            break
        least = played.home_score, played.away_score
    return all(low <= changes <= high for low, changes, high in zip(least, score, most, strict=True))


def catch_up(match: Match, ct_score: int, t_score: int, at: int, changes: Changes) -> Match:
    """The score told is ahead of ours: rounds ended unseen. It is taken as it is, where it can be.

    Not in the freeze after a possible change of sides, when team lines and score tell different
    sides; then the next telling decides.
    """
    play, current = match.map, match.current
    if play is None or play.home_side is None:
        return disagree(match, ct_score, t_score)
    home_score, away_score = scores_by_team(play, ct_score, t_score)
    ahead = replace(play, home_score=home_score, away_score=away_score)
    in_freeze = current is None or current.phase == "freeze"
    if home_score < play.home_score or away_score < play.away_score or (in_freeze and is_break(ahead)):
        return disagree(match, ct_score, t_score)
    match = void_current_round(match, changes)
    numbers = range(play.rounds_won + 1, home_score + away_score + 1)
    ahead = replace(ahead, unseen=(*play.unseen, *numbers))
    ahead = replace(ahead, side_before_break=ahead.home_side if is_break(ahead) else None)
    match = clear_doubt(update_map(match, ahead), "score", "restart", "sides")
    return open_round(match, at, changes) if in_freeze else replace(match, current=_after_unseen(ahead))


def lose_round(match: Match, ct_score: int, t_score: int, changes: Changes) -> Match:
    """A result whose score skips rounds: which round it was is unclear, and so is what happened in it."""
    match = void_current_round(match, changes)
    play = match.map
    if play is not None:
        current = CurrentRound(map=play.number, number=ct_score + t_score, phase="over")
        match = replace(match, current=current)
    return disagree(match, ct_score, t_score)


def _after_unseen(play: MapPlay) -> CurrentRound:
    return CurrentRound(map=play.number, number=play.rounds_won, phase="over")


def drop_uncounted_result(match: Match) -> Match:
    """Play goes on although nobody could say who won: the round is not ours to count."""
    current = match.current
    if current is None or current.won is None:
        return match
    return disagree(match, current.won.ct_score, current.won.t_score)

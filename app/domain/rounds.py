"""How rounds begin, end, are judged against the score told, and become void."""

from msgspec.structs import replace

from app.domain.changes import Change, RoundFinished, RoundLive, RoundOpened, RoundsVoided
from app.domain.doubts import clear_doubt, raise_doubt
from app.domain.match import MapPlay, Match, Round, RoundPlay, Win
from app.domain.sides import believe_score, is_break, leave_break, set_home_side, slot_on, update_map
from app.domain.timeline import bomb_site, end_of_bomb, release_held

Told = list[Change]


def open_round(match: Match, at: int, told: Told) -> Match:
    """The freeze time of the next round; the round in hand is over or void."""
    match = leave_break(match)
    play = match.map
    if play is None:
        return match
    number = play.rounds_won + 1
    match = replace(match, current=fresh_round(match, play, number, at))
    told.append(RoundOpened(map=play.number, round=number))
    return match


def fresh_round(match: Match, play: MapPlay, number: int, at: int) -> RoundPlay:
    gap = any(doubt.kind == "source" for doubt in match.doubts)
    return RoundPlay(map=play.number, number=number, opened_at=at, knife=number == 1, gap=gap)


def go_live(match: Match, at: int, told: Told) -> Match:
    current = match.current
    if current is None:
        return match
    told.append(RoundLive(map=current.map, round=current.number))
    return replace(match, pause="", current=replace(current, phase="live", started_at=at))


def judge(match: Match, told: Told) -> Match:
    """Count the waiting result once its team is known and the score told with it is ours."""
    current, play = match.current, match.map
    if current is None or current.won is None or play is None or _still_maybe_knife(current):
        return match
    won = current.won
    match = _believe_result(match, play, won)
    play = match.map or play
    if play.home_side is None:
        return raise_doubt(match, "sides", "which team plays which side is not known yet")
    if told_scores(play, won.ct_score, won.t_score) != _after(play, won):
        return disagree(match, won.ct_score, won.t_score)
    return _finish(match, won, told)


def _still_maybe_knife(current: RoundPlay) -> bool:
    return current.knife and not current.break_over


def _believe_result(match: Match, play: MapPlay, won: Win) -> Match:
    """While the sides are open, the score before this round may show them."""
    ct_before, t_before = won.ct_score - (won.side == "CT"), won.t_score - (won.side == "T")
    return believe_score(match, ct_before, t_before) if play.home_side is None else match


def _after(play: MapPlay, won: Win) -> tuple[int, int]:
    home_won = slot_on(play, won.side) == "home"
    return play.home_score + home_won, play.away_score + (not home_won)


def told_scores(play: MapPlay, ct_score: int, t_score: int) -> tuple[int, int]:
    """Home's and away's score in a score told by side; home is taken as CT while sides are open."""
    return (t_score, ct_score) if play.home_side == "T" else (ct_score, t_score)


def disagree(match: Match, ct_score: int, t_score: int) -> Match:
    play = match.map
    ours = f"{play.home_score}:{play.away_score}" if play else "no map"
    return raise_doubt(match, "score", f"score told CT {ct_score}, T {t_score} disagrees with {ours} counted")


def _finish(match: Match, won: Win, told: Told) -> Match:
    match = end_of_bomb(release_held(match, told), won, told)
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
    )
    play = replace(play, home_score=home_score, away_score=away_score, rounds=(*play.rounds, finished))
    play = replace(play, side_before_break=play.home_side if is_break(play) else None)
    match = replace(match, next_fact=match.next_fact + 1, current=replace(current, phase="over", won=None))
    told.append(RoundFinished(round=finished, timeline=current.events))
    return clear_doubt(update_map(match, play), "score", "sides", "restart")


def void_after(match: Match, kept: int, told: Told) -> Match:
    """Only the first `kept` rounds stand; later ones and the round in hand are void."""
    play = match.map
    if play is None:
        return match
    gone = play.counted[kept:]
    voided = tuple(replace(played, void=True) for played in gone)
    _tell_void(match, play, voided, told)
    if gone:
        play = _recounted(play, {played.id for played in gone})
        play = replace(play, home_side=gone[0].home_side, side_before_break=None)
    return replace(update_map(match, play), current=None)


def _recounted(play: MapPlay, gone: set[int]) -> MapPlay:
    rounds = tuple(replace(played, void=True) if played.id in gone else played for played in play.rounds)
    standing = [played.winner for played in rounds if not played.void]
    return replace(play, rounds=rounds, home_score=standing.count("home"), away_score=standing.count("away"))


def _tell_void(match: Match, play: MapPlay, voided: tuple[Round, ...], told: Told) -> None:
    current = match.current
    unfinished = current is not None and current.number > play.rounds_won
    in_hand = tuple(event.id for event in current.events) if current and unfinished else ()
    events = sorted({*in_hand, *(id for played in voided for id in played.events)})
    if voided or events:
        told.append(RoundsVoided(map=play.number, rounds=voided, events=tuple(events)))


def go_back(match: Match, ct_score: int, t_score: int, at: int, told: Told) -> Match:
    """A round was restored: what stood after as many rounds as the score tells is what stands."""
    play = match.map
    if play is None:
        return match
    kept = play.counted[: ct_score + t_score]
    then = (kept[-1].home_score, kept[-1].away_score) if kept else (0, 0)
    side = play.counted[len(kept)].home_side
    told_then = (ct_score, t_score) if side == "CT" else (t_score, ct_score)
    if told_then != then:
        return disagree(match, ct_score, t_score)
    match = void_after(match, len(kept), told)
    match = set_home_side(match, side)
    return open_round(clear_doubt(match, "score", "restart", "sides"), at, told)


def drop_unjudged(match: Match) -> Match:
    """Play goes on although nobody could say who won: the round is not ours to count."""
    current = match.current
    if current is None or current.won is None:
        return match
    return disagree(match, current.won.ct_score, current.won.t_score)

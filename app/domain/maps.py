"""How a map begins, and begins again: maps that are loaded, warm-up, starts of play, restarts, backups; and
how it ends where no `Game Over` reports that: by the rules, by a surrender.

Where rounds were played before, nothing is void until it is known what counts (`restarts`).
"""

from msgspec.structs import replace

from app.domain import facts as f
from app.domain import presence, restarts, round_knowledge
from app.domain.branches import place_after
from app.domain.changes import MatchChanges
from app.domain.doubts import ENDED, raise_doubt
from app.domain.match import ClockRules, CurrentRound, MapPlay, Match, RestartCause
from app.domain.reported_score import restore_place
from app.domain.rounds import open_round, void_all
from app.domain.series import close_map, finish_map, map_in_play, set_map_name, was_played
from app.domain.sides import team_on, update_map

_FEW_ROUNDS = 3  #: of a game after the match whose lines may be missing in a row


def map_loaded(match: Match, fact: f.MapLoaded, changes: MatchChanges) -> Match:
    match = round_knowledge.forget(replace(set_map_name(match, fact.name), loaded=fact.name, warmup=False))
    play = match.map
    if play is None or _awaits_sides(match, fact.name):
        return match
    if play.name == fact.name:
        return _restarted(match, "server")
    if play.decides(play.home_score, play.away_score):
        return finish_map(match, play.home_score, play.away_score, fact.at, changes)
    if not play.rounds_won and match.restart is None:
        match = void_all(match, changes)
        return update_map(match, replace(play, name=fact.name))
    return raise_doubt(
        replace(match, current=None), "map", f"{fact.name} loaded before {play.name} was decided"
    )


def _awaits_sides(match: Match, loaded: str) -> bool:
    """Whether the map in play has ended and waits for its sides: another map does not replace it."""
    return match.pending_map_end is not None and match.map is not None and match.map.name not in ("", loaded)


def _restarted(match: Match, cause: RestartCause) -> Match:
    """The map in play begins again: the next reported score shows what counts."""
    match = round_knowledge.forget(presence.reset_presence(match))
    if match.map is None or not (match.map.rounds_won or match.current):
        return match
    match = replace(match, restarting=True, current=match.current and replace(match.current, gap=True))
    match = replace(match, team_ct="", team_t="")  # only sides named from now on are those of the new play
    if match.restart_cause != "server":
        match = replace(match, restart_cause=cause)
    return raise_doubt(match, "restart", "the game server restarted the map")


def warmup_started(match: Match, fact: f.WarmupStarted, changes: MatchChanges) -> Match:
    if match.map is not None and match.map.rounds_won and not match.warmup:
        match = _restarted(match, "warmup")
    return replace(match, warmup=True)


def warmup_ended(match: Match, fact: f.WarmupEnded, changes: MatchChanges) -> Match:
    return replace(match, warmup=False)


def play_started(match: Match, fact: f.PlayStarted, changes: MatchChanges) -> Match:
    """Rounds seen before do not count, unless there are so many that a backup may be loaded, or a restart or
    a restore is under way."""
    if was_played(match, fact.map_name):
        return match
    match = set_map_name(match, fact.map_name)
    if match.map is not None and fact.map_name not in ("", match.map.name):
        match = map_loaded(match, f.MapLoaded(at=fact.at, name=fact.map_name), changes)
    match = replace(match, loaded=fact.map_name or match.loaded)
    play = match.map
    if map_in_play(match) is None or play is None or match.restarting or match.restoring is not None:
        return _restarted(match, match.restart_cause or "command") if play and play.rounds_won else match
    if match.restart is None and play.rounds_won > restarts.DISCARDED_BY_COMMAND:
        return _restarted(match, "command")
    match = replace(match, pending_map_end=None)
    unopened = is_untouched(match.current)
    if unopened and not play.rounds_won:
        return match
    match = open_round(void_all(match, changes), fact.at, changes)
    return round_knowledge.begin_freeze(match, fact.at, begins_half=True)


def is_untouched(current: CurrentRound | None) -> bool:
    """A first round in its freeze time, with nothing in it."""
    return current is not None and current.number == 1 and current.phase == "freeze" and not current.dead


def restart_announced(match: Match, fact: f.RestartAnnounced, changes: MatchChanges) -> Match:
    if map_in_play(match) is None or is_untouched(match.current):
        return match
    return raise_doubt(match, "restart", "a restart was announced")


def restore_announced(match: Match, fact: f.RestoreAnnounced, changes: MatchChanges) -> Match:
    match = check_end(match, fact)
    play = match.map
    if play is None or (fact.round > play.rounds_won and place_after(play, fact.round) is None):
        return match
    match = raise_doubt(match, "restart", f"a backup of round {fact.round} is being restored")
    return replace(match, restoring=fact.round)


def resume_without_score(match: Match, at: int, changes: MatchChanges) -> Match:
    """Play goes on, and no score has shown what counts: a backup that was named does, else nothing."""
    place = place_after(match.map, match.restoring) if match.map and match.restoring is not None else None
    return restore_place(match, place, at, changes) if place else restarts.begin(match, changes)


def source_changed(match: Match, fact: f.SourceChanged, changes: MatchChanges) -> Match:
    """Nothing is voided before the new source's score shows what counts."""
    match = replace(match, clock_rules=ClockRules())
    if match.map is None or not (match.map.rounds_won or match.current):
        return match
    match = raise_doubt(
        _restarted(match, "server"), "restart", "another log source is followed, its score is awaited"
    )
    return replace(match, handed_over=True)


#: For so long (ms) the log may still report the end of a map that the rules have decided, or play may go on:
#: the freeze time of another round comes within ten seconds.
END_WAIT_MILLIS = 20_000
#: Doubts about what was played; others, such as one about players who have left, do not concern the score.
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
    """The match with a doubt if `fact` shows that the map which ended last is played on: its next round, a
    backup of an earlier one, or, after the match, another result than it had. Its results remain until an
    operator changes them."""
    ended = [play for play in match.maps if play.status == "finished"]
    if match.map is not None or not ended or ended[-1].awarded:
        return match
    last = ended[-1]
    another = isinstance(fact, f.RoundWon | f.MapEnded) and _is_of_another_game(match, fact)
    shown = not another and (_goes_on(last, fact) or (match.over and _replayed(last, fact)))
    if match.loaded in ("", last.name) and shown:
        home, away = last.home_score, last.away_score
        return raise_doubt(match, ENDED, f"map {last.number} goes on after its end at {home}:{away}")
    return _follow_another_game(match, fact) if match.over else match


def _follow_another_game(match: Match, fact: f.Fact) -> Match:
    """The server plays on after the match: a game that the log shows from 0:0 on is another one, and not the
    match from a backup."""
    if isinstance(fact, f.MapLoaded) or (isinstance(fact, f.ScoreReported) and not _total(fact)):
        return replace(match, rounds_of_another=0)
    if isinstance(fact, f.RoundWon | f.ScoreReported) and _is_of_another_game(match, fact):
        return replace(match, rounds_of_another=_total(fact))
    return match


def _is_of_another_game(match: Match, fact: f.RoundWon | f.ScoreReported | f.MapEnded) -> bool:
    """Whether the score follows that of the other game; lines of a few rounds may be missing."""
    counted = match.rounds_of_another
    return counted is not None and counted <= _total(fact) <= counted + _FEW_ROUNDS


def _total(fact: f.RoundWon | f.ScoreReported | f.MapEnded) -> int:
    return fact.ct_score + fact.t_score


def _replayed(play: MapPlay, fact: f.Fact) -> bool:
    """Whether `fact` shows, after the match, a result that the map did not have: a round was played again
    from a backup. Lines that announce one are written for remote commands (rcon) only."""
    if isinstance(fact, f.MapEnded):
        other = _unordered(fact.ct_score, fact.t_score) != _unordered(play.home_score, play.away_score)
        return other and fact.map_name in ("", play.name)
    if not isinstance(fact, f.RoundWon):
        return False
    had = {_unordered(one.home_score, one.away_score) for one in play.rounds if not one.void}
    return (
        not play.unseen
        and _total(fact) <= play.rounds_won
        and _unordered(fact.ct_score, fact.t_score) not in had
    )


def _unordered(one: int, other: int) -> tuple[int, int]:
    """A score, whichever team is on which side."""
    return min(one, other), max(one, other)


def _goes_on(play: MapPlay, fact: f.Fact) -> bool:
    """Whether `fact` continues the finished map. A first round may be one of another match."""
    if isinstance(fact, f.RestoreAnnounced):
        return 0 < fact.round <= play.rounds_won
    if not isinstance(fact, f.RoundWon) or fact.ct_score + fact.t_score != play.rounds_won + 1:
        return False
    home, away = play.home_score, play.away_score
    next_scores = _unordered(home + 1, away), _unordered(home, away + 1)
    return _unordered(fact.ct_score, fact.t_score) in next_scores

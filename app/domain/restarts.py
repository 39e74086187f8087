"""Play since a restart at a lower score: it counts for nothing until it is known which branch is the true
one.

A server that crashes comes back at 0:0, and rounds may be played there before an operator of the server loads
a backup. So what was played before stays as it is published, the match is suspended, and the play since is
folded and stored without being published. It takes the place of what was before

- when the map ends in it;
- when it has as many rounds as were played before: the server has overwritten every backup of those;
- after a warm-up of the same run of the server, in which both teams were ready again: with its third round,
  as many as a restart by command may discard;
- or when an operator says so (`accept_restart`).

It is void when the log's score, or a backup that is loaded, continues what was before. An operator who knows
that this will happen lets what was before count (`keep_branch`): then only a score or an operator ends the
doubt.
"""

from collections.abc import Callable
from typing import TypeVar

from msgspec.structs import replace

from app.domain import changes as c
from app.domain.branches import Place, deaths_that_count, recount, report_difference
from app.domain.changes import MatchAndChanges
from app.domain.doubts import clear_doubt, raise_doubt
from app.domain.formats import apply_format
from app.domain.match import CurrentRound, MapPlay, Match, OtherDeath, Restart, RestartCause
from app.domain.series import map_numbered
from app.domain.sides import apply_team_lines
from app.domain.timeline import report_teams
from app.kit.errors import Conflict

RESTARTED = "restarted"  #: the kind of the doubt
#: A restart after so many rounds, or fewer, voids them without a doubt, unless the server restarted: a wrong
#: configuration shows in the first rounds, and nobody loads a backup of these.
DISCARDED_BY_COMMAND = 2
_AFTER_READY_UP = DISCARDED_BY_COMMAND + 1
_NOT_PUBLISHED = (c.RoundsVoided, c.RoundsReinstated, c.PlayRecorded)
T = TypeVar("T")


def begin(match: Match, changes: c.MatchChanges) -> Match:
    """Begin the play since a restart; returns the match as it is there, to be passed to `conclude`. Play
    since an earlier restart begins again. If a command or a warm-up restarted the map after
    `DISCARDED_BY_COMMAND` rounds or fewer, these are void at once."""
    cause, play = match.restart_cause or "command", match.map
    restart = match.restart
    if restart is not None:
        restart = replace(restart, cause=_graver(cause, restart.cause))
    elif play is not None and (cause == "server" or play.rounds_won > DISCARDED_BY_COMMAND):
        restart = Restart(play, cause, match.current, match.other_deaths)
    match = recount(replace(match, restart=restart), (), (0, 0), changes, replayed=True)
    return clear_doubt(score_known(apply_team_lines(match)), "restart", "score")


def score_known(match: Match) -> Match:
    """The log has shown what counts after a restart or a restore."""
    if not match.restarting and match.restoring is None:
        return match
    return replace(match, restarting=False, restart_cause=None, restoring=None)


def _graver(one: RestartCause, other: RestartCause) -> RestartCause:
    order: tuple[RestartCause, ...] = ("server", "warmup", "command")
    return min(one, other, key=order.index)


def is_since_restart(match: Match, place: Place) -> bool:
    """Whether the place is in the play since the restart; `match` is as it is there. The map's beginning is,
    unless a backup of it is loaded."""
    if match.restart is None:
        return False
    if place.leaf is None:
        return match.restoring != 0
    return place.leaf.id not in {played.id for played in match.restart.play.rounds}


def apply_to_play(
    match: Match, act: Callable[[Match, T, c.MatchChanges], Match], what: T, changes: c.MatchChanges
) -> Match:
    """Apply `act` to the match as play goes on: to the play since a restart, where there is one in doubt."""
    if match.restart is None:
        known = len(changes)
        after = act(match, what, changes)
        if after.maps is not match.maps:
            report_teams(match, after, changes)
        if after.restart is None:
            return after
        own = changes[known:]
        del changes[known:]
    else:
        own, since = [], _exchanged(match)
        after = act(since, what, own)
        report_teams(since, after, own)
    return conclude(match, after, own, changes)


def _exchanged(match: Match) -> Match:
    """The published match with the play since the restart in the place of its own, or the other way round."""
    restart = match.restart
    assert restart is not None
    return replace(
        match,
        maps=tuple(restart.play if one.number == restart.play.number else one for one in match.maps),
        current=restart.current,
        other_deaths=restart.other_deaths,
        restart=replace(
            restart,
            play=map_numbered(match, restart.play.number),
            current=match.current,
            other_deaths=match.other_deaths,
        ),
    )


def conclude(before: Match, after: Match, own: c.MatchChanges, changes: c.MatchChanges) -> Match:
    """The published match: `before`, with `after` stored beside it, or `after` in its place.

    `after` is the match as play goes on since the restart, with its `own` changes, or one whose score has
    shown which branch counts (without `restart`).
    """
    if after.restart is None or (_counts(after) and not after.restart.kept):
        return _publish(before, replace(after, restart=None), own, changes)
    _record(own, changes)
    if after.map is None:
        before = replace(before, next_history_id=after.next_history_id)
        return raise_doubt(before, "map", "the map ended in play that an operator does not count")
    match = _exchanged(after)
    for change in own:
        if isinstance(change, c.FormatChanged):
            changes.append(change)
            match = apply_format(match)
    return _doubted(match)


def _counts(after: Match) -> bool:
    """Whether the play since the restart has taken the place of what was before."""
    play, restart = after.map, after.restart
    if play is None or restart is None:
        return True
    ready_again = restart.cause == "warmup" and play.rounds_won >= _AFTER_READY_UP
    return ready_again or play.rounds_won >= restart.play.rounds_won


def _publish(before: Match, after: Match, own: c.MatchChanges, changes: c.MatchChanges) -> Match:
    play = before.map
    assert play is not None
    current, present = after.current, map_numbered(after, play.number)
    report_difference(
        play,
        before.current,
        present,
        changes,
        replayed=True,
        unfinished=[event.id for event in current.events] if current else (),
        reported=_reported(own),
    )
    if current is not None and not any(isinstance(change, c.RoundOpened) for change in own):
        changes.append(c.RoundOpened(map=current.map, round=current.number))
        if current.phase == "live" and not any(isinstance(change, c.RoundLive) for change in own):
            changes.append(c.RoundLive(map=current.map, round=current.number))
    changes.extend(change for change in own if not isinstance(change, _NOT_PUBLISHED))
    of_current = [death for death in after.other_deaths if current and _in_round(death, current)]
    deaths = (*deaths_that_count(before.other_deaths, present), *of_current)
    return clear_doubt(replace(after, other_deaths=deaths), RESTARTED)


def _reported(own: c.MatchChanges) -> frozenset[int]:
    """The ids of rounds and events that these changes report themselves."""
    rounds = [change.round.id for change in own if isinstance(change, c.RoundFinished)]
    return frozenset([*rounds, *[change.event.id for change in own if isinstance(change, c.EventAdded)]])


def _in_round(death: OtherDeath, current: CurrentRound) -> bool:
    return (death.map, death.round) == (current.map, current.number) and current.phase != "over"


def _record(own: c.MatchChanges, changes: c.MatchChanges) -> None:
    """Append what has to be stored of unpublished play."""
    rounds = [
        replace(change.round, void=True)
        for change in own
        if isinstance(change, c.RoundFinished | c.RoundAmended)
    ]
    events = [
        replace(change.event, void=True)
        for change in own
        if isinstance(change, c.EventAdded | c.EventAmended)
    ]
    if rounds or events:
        changes.append(c.PlayRecorded(rounds=tuple(rounds), events=tuple(events)))


def _doubted(match: Match) -> Match:
    """The published match, suspended as long as it is not known which branch counts."""
    play, restart = match.map, match.restart
    if play is None or restart is None:
        return match
    before, since = _score(play), _score(restart.play)
    kept = ", kept by an operator" if restart.kept else ""
    return raise_doubt(
        match, RESTARTED, f"the map was restarted at a lower score: {since} since, {before} before{kept}"
    )


def _score(play: MapPlay) -> str:
    return f"{play.home_score}:{play.away_score}"


def accept_restart(match: Match) -> MatchAndChanges:
    """Let the play since the restart take the place of what was before; raises `Conflict` without one."""
    _require_restart(match)
    changes: c.MatchChanges = []
    match = _publish(match, replace(_exchanged(match), restart=None), [], changes)
    return match, (*changes, c.DetailsChanged())


def keep_branch(match: Match) -> MatchAndChanges:
    """Let what was played before the restart count, whatever is played since, until the log's score or a
    backup shows which branch counts. Raises `Conflict` without a restart in doubt."""
    restart = _require_restart(match)
    if restart.kept:
        raise Conflict("What was played before the restart is kept already.")
    return _doubted(replace(match, restart=replace(restart, kept=True))), (c.DetailsChanged(),)


def _require_restart(match: Match) -> Restart:
    if match.restart is None or match.over:
        raise Conflict(f"There is no restart of match {match.number} that is in doubt.")
    return match.restart

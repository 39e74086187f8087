"""What an operator changes of a match's status; `Conflict`, naming the status, where it forbids them.

A map or a match that is won without being played to the end (walkover, retirement, disqualification) is
awarded: what was decided by then stays decided; rounds, events and scores stay as they were played, and the
operator names the winner.
"""

from msgspec.structs import replace

from app.domain.changes import DetailsChanged, MatchAndChanges, MatchCancelled, MatchChange
from app.domain.doubts import (
    BY_OPERATOR,
    ENDED,
    OPERATOR,
    PRICE,
    REFERENCES,
    RESTORED,
    clear_doubt,
    raise_doubt,
    retain_doubts,
)
from app.domain.match import Match, Status, Team
from app.domain.restarts import RESTARTED
from app.domain.series import close_map, finish_match, next_map
from app.kit.errors import Conflict

_ENDED_BY_OPERATORS = (OPERATOR, PRICE, REFERENCES, RESTORED, ENDED)


def schedule(match: Match, at: int) -> MatchAndChanges:
    """Set the planned start (Unix ms); a discovered match becomes an upcoming one."""
    require(match, "scheduled", Status.DISCOVERED, Status.UPCOMING)
    return replace(match, status=Status.UPCOMING, scheduled_at=at), (DetailsChanged(),)


def cancel(match: Match, at: int) -> MatchAndChanges:
    """Cancel the match, before or in play."""
    require_not_over(match, "cancelled")
    match = replace(match, status=Status.CANCELLED, finished_at=at, current=None, restart=None)
    return retain_doubts(replace(match, pause="", loadouts=())), (MatchCancelled(),)


def suspend(match: Match, reason: str) -> MatchAndChanges:
    """Suspend all offers until `unsuspend`, whatever the log reports."""
    require_not_over(match, "suspended")
    return raise_doubt(match, OPERATOR, reason or BY_OPERATOR), (DetailsChanged(),)


def unsuspend(match: Match) -> MatchAndChanges:
    """End an operator's suspension, and those for a price that moved without a cause, for reference prices
    that are too far from ours, for a restored database and for a map that was played on after its end; other
    doubts that the log raised stay."""
    require_not_over(match, "unsuspended")
    if not any(doubt.kind in _ENDED_BY_OPERATORS for doubt in match.doubts):
        raise Conflict(f"match {match.number} is not suspended by an operator")
    return clear_doubt(match, *_ENDED_BY_OPERATORS), (DetailsChanged(),)


def require(match: Match, verb: str, *allowed: Status) -> None:
    """Raise `Conflict` unless the match is in one of these states."""
    if match.status not in allowed:
        raise Conflict(f"match {match.number} is {match.status.value} and cannot be {verb}")


def require_not_over(match: Match, verb: str) -> None:
    require(match, verb, Status.DISCOVERED, Status.UPCOMING, Status.LIVE)


def award_map(match: Match, winner: Team, at: int) -> MatchAndChanges:
    """Award the map in play, else the next one, to `winner`; with enough maps won, the match too."""
    require_not_over(match, "awarded a map")
    changes: list[MatchChange] = []
    match = _close(match, winner, at, changes)
    return match, tuple(changes)


def award_match(match: Match, winner: Team, at: int) -> MatchAndChanges:
    """Award the match to `winner`, and with it the map in play. Maps that were not begun stay unplayed."""
    require_not_over(match, "awarded")
    changes: list[MatchChange] = []
    if match.map is not None:
        match = _close(match, winner, at, changes)
    if match.status is not Status.FINISHED:
        match = finish_match(match, at, changes, winner)
    elif match.winner != winner:
        changes.pop()
        match = finish_match(match, at, changes, winner)
    return replace(match, awarded=True), tuple(changes)


def _close(match: Match, winner: Team, at: int, changes: list[MatchChange]) -> Match:
    play = match.map or next_map(match)
    match = clear_doubt(replace(match, restart=None), RESTARTED)
    return close_map(match, replace(play, winner=winner, awarded=True), at, changes)

"""What an operator changes of a match's status; `Conflict`, naming the status, where it forbids them."""

from msgspec.structs import replace

from app.domain.changes import DetailsChanged, MatchCancelled, MatchChange
from app.domain.doubts import (
    BY_OPERATOR,
    ENDED,
    OPERATOR,
    PRICE,
    RESTORED,
    clear_doubt,
    raise_doubt,
    retain_doubts,
)
from app.domain.match import Match, Status
from app.kit.errors import Conflict

MatchAndChanges = tuple[Match, tuple[MatchChange, ...]]
_ENDED_BY_OPERATORS = (OPERATOR, PRICE, RESTORED, ENDED)


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
    """End an operator's suspension, and those for a price that moved without a cause, for a restored
    database and for a map that was played on after its end; other doubts that the log raised stay."""
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

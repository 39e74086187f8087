"""Which team plays which side, where an operator has to say it because the log does not."""

from msgspec.structs import replace

from app.domain.changes import Change, Changes, MatchChanged
from app.domain.doubts import clear_doubt
from app.domain.match import Match, Side, Slot
from app.domain.rounds import judge
from app.domain.series import end_map_at_pending_score
from app.domain.sides import set_home_side
from app.domain.unfollowed import reset_unfollowed_rounds
from app.kit.errors import Conflict

_UNKNOWN = ("teams", "sides")  #: the kinds of doubts that it ends


def name_sides(match: Match, ct: Slot, at: int) -> tuple[Match, tuple[Change, ...]]:
    """`ct` plays CT now; where no map is in play, at the beginning of the next one. A round whose result
    waits for it counts, and a map whose end does ends, at `at` (Unix ms). Raises `Conflict` when the match
    is over."""
    if match.over:
        raise Conflict(f"The match is {match.status}: no sides are played any more.")
    side: Side = "CT" if ct == "home" else "T"
    if any(doubt.kind in _UNKNOWN for doubt in match.doubts):
        match = reset_unfollowed_rounds(clear_doubt(match, *_UNKNOWN))
    if match.map is None:
        return replace(match, named_side=side), (MatchChanged(),)
    changes: Changes = []
    match = end_map_at_pending_score(judge(set_home_side(match, side), changes), at, changes)
    return match, (*changes, MatchChanged())

"""Which team plays which side, where an operator has to say it because the log does not."""

from msgspec.structs import replace

from app.domain.changes import Altered, Change, Told
from app.domain.doubts import clear_doubt
from app.domain.match import Match, Side, Slot
from app.domain.rounds import judge
from app.domain.sides import set_home_side
from app.kit.errors import Conflict


def name_sides(match: Match, ct: Slot) -> tuple[Match, tuple[Change, ...]]:
    """`ct` plays CT now; where no map is in play, at the beginning of the next one. A round whose result
    waits for it counts. Raises `Conflict` when the match is over."""
    if match.over:
        raise Conflict(f"The match is {match.status}: no sides are played any more.")
    side: Side = "CT" if ct == "home" else "T"
    match = clear_doubt(match, "teams", "sides")
    if match.map is None:
        return replace(match, named_side=side), (Altered(),)
    told: Told = []
    match = judge(set_home_side(match, side), told)
    return match, (*told, Altered())

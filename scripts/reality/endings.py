"""How the rounds of the snapshots ended, as far as the next round's first moment tells: who survived keeps
what they carried.

Not known of rounds at the end of a half or map. A plant between the last moment of a round and its end is not
seen: such rounds count as ended by kills without one.
"""

from collections.abc import Iterable, Mapping
from itertools import groupby, pairwise
from typing import Literal

from app.trading.round_state import SideState
from scripts.reality.labels import RoundKey
from scripts.reality.snapshots import Snapshot

Ending = Literal["defuse", "time", "ct_kills", "bomb", "t_kills", "late_kills"]
#: What five players have who were all killed: the pistols that they start with.
_PISTOLS = 1_000
#: A moment of the freeze time with more than this left is before the buying.
_FIRST_SECONDS = 169.0


def round_endings(snapshots: Iterable[Snapshot], winners: Mapping[RoundKey, bool]) -> dict[RoundKey, Ending]:
    """By round, where it is known."""
    rounds = [list(rows) for _, rows in groupby(snapshots, key=lambda row: row.key)]
    found = {}
    for rows, after in pairwise(rounds):
        first, last = after[0], rows[-1]
        same_half = first.map_index == last.map_index and first.starter_is_ct == last.starter_is_ct
        if same_half and not first.state.overtime and first.time_left > _FIRST_SECONDS:
            planted = any(row.state.phase == "planted" for row in rows)
            found[last.key] = _ending(winners[last.key], planted, first)
    return found


def _ending(ct_won: bool, planted: bool, after: Snapshot) -> Ending:
    if ct_won:
        return "defuse" if planted else "time" if _survived(after.state.t) else "ct_kills"
    if not planted:
        return "t_kills"
    return "bomb" if _survived(after.state.ct) else "late_kills"


def _survived(side: SideState) -> bool:
    return bool((side.weapons or 0) > _PISTOLS or side.armour)

"""The rates that count in the last seconds of clock and fuse (`app/trading/round_model.py`)."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import msgspec
import numpy as np

from app.trading.coefficients import RoundLimits
from scripts.fit.phases import Rows, chances, columns, everything, shares, weights
from scripts.fit.regression import Floats, loss, scaled
from scripts.fit.regression import fit as regress
from scripts.reality.labels import RoundKey
from scripts.reality.snapshots import Snapshot

#: Seconds between two moments of a round.
_STEP = 20.0
#: Rows with more left say nothing about the rate of plants; fights of the last seconds are those below.
_LAST_SECONDS, _LATE_SECONDS = 20.0, 40.0
_RATES = tuple(round(0.02 * step, 2) for step in range(2, 61))
_HIDDEN = tuple(round(0.005 * step, 4) for step in range(41))
_DIGITS = 5


class Exposure(msgspec.Struct):
    """Kills that one side made, and the seconds that its living players had for them, added up."""

    kills: float = 0.0
    seconds: float = 0.0

    def add(self, kills: int, alive: int, seconds: float) -> None:
        self.kills += kills
        self.seconds += alive * seconds

    @property
    def rate(self) -> float:
        return round(self.kills / self.seconds, _DIGITS)


def fitted(
    live: Rows, planted: Rows, free: Sequence[Snapshot], winners: Mapping[RoundKey, bool]
) -> RoundLimits:
    """All rates. `free`: moments after a plant with no T alive."""
    limits = _first(live, planted, free, winners)
    limits = _best(live, limits, "plant", _RATES, below=_LAST_SECONDS)
    for _ in range(2):
        limits = _best(planted, limits, "defuse", _RATES)
        limits = _best(planted, limits, "hidden_defuse", _HIDDEN)
    return limits


def _first(
    live: Rows, planted: Rows, free: Sequence[Snapshot], winners: Mapping[RoundKey, bool]
) -> RoundLimits:
    late = _kills(live, winners, lambda row, _: row.time_left < _LATE_SECONDS)
    fights = _kills(planted, winners, lambda _, kills: sum(kills) > 0)
    constant, slope, rate = _free_defuses(free, winners)
    return RoundLimits(
        plant=_RATES[len(_RATES) // 2],
        defuse=_RATES[len(_RATES) // 2],
        free_defuse=rate,
        unseen_defuse=(constant, slope),
        hidden_defuse=_HIDDEN[1],
        kit=round(float(np.mean([row.state.ct.kits != 0 for row in planted.rows])), _DIGITS),
        t_kills=late[1].rate,
        ct_kills=late[0].rate,
        t_fights=fights[1].rate,
        ct_fights=fights[0].rate,
    )


def _kills(
    found: Rows, winners: Mapping[RoundKey, bool], counts: Callable[[Snapshot, tuple[int, int]], bool]
) -> tuple[Exposure, Exposure]:
    """CT's and T's kills between moments of a round; of its last moment those that must have come: of all
    that lived on the side that lost by them."""
    by_ct, by_t = Exposure(), Exposure()
    for row, after in pairwise([*found.rows, None]):
        if row is None:
            continue
        ct, t = row.state.ct.alive, row.state.t.alive
        if after is not None and after.key == row.key:
            kills, seconds = (t - after.state.t.alive, ct - after.state.ct.alive), _STEP
        else:
            kills, seconds = ((t, 0) if winners[row.key] else (0, ct)), _STEP / 2
        if counts(row, kills):
            by_ct.add(max(kills[0], 0), ct, seconds)
            by_t.add(max(kills[1], 0), t, seconds)
    return by_ct, by_t


def _free_defuses(free: Sequence[Snapshot], winners: Mapping[RoundKey, bool]) -> tuple[float, float, float]:
    """Constant and slope of the logit of a defuse by the seconds to spare, and the rate while there are
    some."""
    spare = np.array([row.time_left - (10.0 if row.state.ct.kits == 0 else 5.0) for row in free])
    defused = np.array([float(winners[row.key]) for row in free])
    seen = np.column_stack([np.ones(len(free)), spare])
    constant, slope = regress(seen, defused, scaled(seen))
    enough = spare > 0
    rate = min(_RATES, key=lambda one: loss(1 - np.exp(-one * spare[enough]), defused[enough]))
    return round(float(constant), _DIGITS), round(float(slope), _DIGITS), rate


def _best(
    found: Rows, limits: RoundLimits, name: str, values: Sequence[float], below: float | None = None
) -> RoundLimits:
    """The limits with the value under which the model describes the rows best; with `below`, only rows with
    less time left are looked at."""
    seen = columns(found, everything(found.phase))
    judged = np.array([below is None or row.time_left < below for row in found.rows])
    share = shares(found, limits)
    logits = seen @ weights(found, seen, share)

    def worth(value: float) -> float:
        share = shares(_only(found, judged), msgspec.structs.replace(limits, **{name: value}))
        return loss(chances(found.phase, logits[judged], share), found.outcomes[judged])

    return msgspec.structs.replace(limits, **{name: min(values, key=worth)})


def _only(found: Rows, chosen: Floats) -> Rows:
    at = np.flatnonzero(chosen)
    return Rows(found.phase, [found.rows[index] for index in at], found.ct_logits[at], found.outcomes[at])

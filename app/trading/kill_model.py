"""A model of one round, kill by kill: how many kills will come.

Two teams lose players until one has none left, time is up or the bomb decides. The team with more
players left is likelier to get the next kill.
"""

from functools import lru_cache
from itertools import zip_longest
from math import exp

from app.trading.coefficients import load
from app.trading.model import logistic

PLAYERS = 5
#: Logits that each player more adds for the next kill.
_PER_PLAYER = 0.36
#: Logits that a planted bomb adds for T for the next kill.
_PLANTED_KILL = 0.25
#: The chance that the round ends before the next kill: evenly matched, and for each player of a lead.
_END, _END_PER_LEAD = 0.002, 0.008
#: From the logit of the round to the logit of one kill.
_KILL_PER_ROUND = 0.56
_FIRST_CT = 0.15


def first_kill(before: float, home_is_ct: bool | None) -> float:
    """Home's chance of the round's first kill; defenders shoot first a little more often."""
    lean = 0.0 if home_is_ct is None else _FIRST_CT if home_is_ct else -_FIRST_CT
    return logistic(before * _KILL_PER_ROUND + lean)


@lru_cache(maxsize=4096)
def more_kills(
    home: int, away: int, before: float, planter: int, seconds: float | None = None
) -> tuple[float, ...]:
    """The chances of 0, 1, 2, … more kills from here, up to one for each player alive. `planter` is 1
    when home planted the bomb, -1 when away did, 0 when there is none; `seconds` is what is left of the
    round, taken to pass evenly with the kills; None: enough."""
    limits = load().rounds.limits
    rate = (limits.t_kills + limits.ct_kills) / 2
    left, most = seconds or 0.0, home + away
    lean = before * _KILL_PER_ROUND + _PLANTED_KILL * planter
    known: dict[tuple[int, int], list[float]] = {}
    for ours in range(home + 1):
        for theirs in range(away + 1):
            if not ours or not theirs:
                known[ours, theirs] = [1.0]
                continue
            stop = min(_END + _END_PER_LEAD * abs(ours - theirs), 0.9)
            if seconds is not None:
                alive = ours + theirs
                stop += (1 - stop) * exp(-rate * alive * left * alive / most)
            kill = logistic(lean + _PER_PLAYER * (ours - theirs))
            known[ours, theirs] = _one_more(stop, kill, known[ours, theirs - 1], known[ours - 1, theirs])
    return tuple(known[home, away])


def _one_more(stop: float, kill: float, after_ours: list[float], after_theirs: list[float]) -> list[float]:
    """The chances of so many kills, when the round ends first with `stop`, and the next kill is ours with
    `kill`."""
    ours, theirs = (1 - stop) * kill, (1 - stop) * (1 - kill)
    return [
        stop,
        *[ours * up + theirs * down for up, down in zip_longest(after_ours, after_theirs, fillvalue=0.0)],
    ]

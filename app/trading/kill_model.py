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


def first_kill(before: float, home_is_ct: bool | None) -> float:
    """Home's chance of the round's first kill; defenders shoot first a little more often."""
    fitted = load().kills
    logit = 0.0 if home_is_ct is None else fitted.ct if home_is_ct else -fitted.ct
    return logistic(before * fitted.round + logit)


@lru_cache(maxsize=4096)
def more_kills(
    home: int, away: int, before: float, planter: int, seconds: float | None = None
) -> tuple[float, ...]:
    """The chances of 0, 1, 2, … more kills from here, up to one for each player alive. `planter` is 1
    when home planted the bomb, -1 when away did, 0 when there is none; `seconds` is what is left of the
    round, taken to pass evenly with the kills; None: enough."""
    limits, fitted = load().rounds.limits, load().kills
    rate = (limits.t_kills + limits.ct_kills) / 2
    left, most = seconds or 0.0, home + away
    logit = before * fitted.round + fitted.plant * planter
    known: dict[tuple[int, int], list[float]] = {}
    for ours in range(home + 1):
        for theirs in range(away + 1):
            if not ours or not theirs:
                known[ours, theirs] = [1.0]
                continue
            alive = ours + theirs
            stop = 0.0 if seconds is None else exp(-rate * alive * left * alive / most)
            kill = logistic(logit + fitted.player * (ours - theirs))
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

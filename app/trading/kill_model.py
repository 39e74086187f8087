"""A model of one round, kill by kill: how many kills will come.

Two teams lose players until one has none left, time is up or the bomb decides. The team with more
players left is likelier to get the next kill.
"""

from functools import lru_cache

from app.trading.model import logistic, logit

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
def more_kills(home: int, away: int, before: float, planter: int) -> tuple[float, ...]:
    """The chances of 0, 1, 2, … more kills from here, up to one for each player alive. `planter` is 1
    when home planted the bomb, -1 when away did, 0 when there is none."""
    if not home or not away:
        return (1.0,)
    stop = min(_END + _END_PER_LEAD * abs(home - away), 0.9)
    kill = logistic(before * _KILL_PER_ROUND + _PER_PLAYER * (home - away) + _PLANTED_KILL * planter)
    after_home = more_kills(home, away - 1, before, planter)
    after_away = more_kills(home - 1, away, before, planter)
    chances = [stop] + [0.0] * (home + away - 1)
    for weight, after in ((kill, after_home), (1 - kill, after_away)):
        for count, chance in enumerate(after):
            chances[count + 1] += (1 - stop) * weight * chance
    return tuple(chances)


def shifted(rate: float, lean: float, by: float) -> float:
    """A base rate moved in logits by `lean` times the surplus `by` of a chance over one half."""
    return logistic(logit(rate) + 4 * lean * by)

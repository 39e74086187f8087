"""How a round ends, given each side's chance to win it: the chance of each way, and how many kills will come.

CT win by defusing, on time or by killing every T while no bomb is planted; T by the explosion, or by killing
every CT. The ways of a side sum to its chance, so that prices of endings and of the winner agree.

Kills come one by one: two teams lose players until one has none left, time is up or the bomb decides. The
team with more players left is likelier to get the next kill.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import zip_longest
from math import exp, log, sqrt
from operator import mul
from typing import NamedTuple

from app.trading import round_model
from app.trading.coefficients import RoundLimits, load
from app.trading.model import logistic
from app.trading.round_features import FUSE_SECONDS, ROUND_SECONDS
from app.trading.round_state import RoundState, SideState

#: Beyond this chance a side is as good as certain to win: the chance no longer affects how it wins.
_LEAST = 0.02


class Endings(NamedTuple):
    """The chances of all ways that a round can end; they sum to 1. `late_kills`: T kill every CT after a
    plant."""

    defuse: float
    time: float
    ct_kills: float
    bomb: float
    t_kills: float
    late_kills: float

    @property
    def planted(self) -> float:
        return min(1.0, self.defuse + self.bomb + self.late_kills)

    @property
    def kills(self) -> float:
        return self.ct_kills + self.t_kills + self.late_kills


def endings(state: RoundState, ct_wins: float) -> Endings:
    """The ways in which the round ends from `state` on; `ct_wins`: CT's chance to win it."""
    fitted = load().rounds
    t_wins, found = 1 - ct_wins, features(state, ct_wins)
    weights = fitted.endings[kind_of(state)]
    if state.phase == "planted":
        bomb = t_wins * _explodes(state, fitted.limits, _odds(weights["bomb"], found))
        return Endings(ct_wins, 0.0, 0.0, bomb, 0.0, t_wins - bomb)
    planted = plant_share(state, fitted.limits)
    defused = ct_wins * _share(planted * _odds(weights["defuse"], found))
    time = (ct_wins - defused) * _runs_out(state, fitted.limits, _odds(weights["time"], found))
    late = t_wins * _share(planted * _odds(weights["planted"], found))
    bomb = late * _share(_odds(weights["bomb"], found))
    return Endings(defused, time, ct_wins - defused - time, bomb, t_wins - late, late - bomb)


def seconds_of_play(state: RoundState, expected: Endings) -> float | None:
    """What is left of a round, with the fuse of the bomb that may yet be planted; None before it is live and
    while the clock is not known."""
    if state.phase == "freeze" or state.seconds_left is None:
        return None
    fuse = FUSE_SECONDS * expected.planted if state.phase == "live" else 0.0
    return state.seconds_left + fuse


def kind_of(state: RoundState) -> str:
    """Which weights a state has: those of its phase, with or without a clock."""
    return (
        state.phase
        if state.seconds_left is not None or state.phase == "freeze"
        else f"{state.phase}_unclocked"
    )


def features(state: RoundState, ct_wins: float) -> list[float]:
    """What the ways of ending depend on: who is likely to win, how many live, the clock."""
    chance = min(max(ct_wins, _LEAST), 1 - _LEAST)
    found = [1.0, log(chance / (1 - chance)), float(state.pistol)]
    if state.phase == "freeze":
        return found
    found += [state.ct.alive / 5, state.t.alive / 5]
    if state.seconds_left is None:
        return found
    if state.phase == "planted":
        return [*found, state.seconds_left / FUSE_SECONDS]
    gone = 1 - state.seconds_left / ROUND_SECONDS
    return [*found, gone, gone * gone]


def plant_share(state: RoundState, limits: RoundLimits) -> float:
    """How much of the odds of a plant the clock leaves."""
    if state.phase != "live":
        return 1.0
    if not state.t.alive or not state.ct.alive:
        return 0.0
    if state.seconds_left is None:
        return 1.0
    if state.plant_seconds_left is not None and state.plant_seconds_left <= state.seconds_left:
        return 1.0
    return round_model.plants(state.seconds_left, limits)


def kill_share(state: RoundState, limits: RoundLimits) -> float:
    """How much of the odds that every opponent is killed the clock leaves: CT's before a plant, T's after
    it."""
    if state.phase == "freeze" or state.seconds_left is None:
        return 1.0
    if state.phase == "live":
        return round_model.at_least(state.t.alive, limits.ct_kills * state.ct.alive * state.seconds_left)
    return round_model.at_least(state.ct.alive, limits.t_kills * state.t.alive * state.seconds_left)


def _runs_out(state: RoundState, limits: RoundLimits, odds: float) -> float:
    """The share of time among CT's ways without a plant."""
    return 1 - _share(kill_share(state, limits) / odds) if state.t.alive else 0.0


def _explodes(state: RoundState, limits: RoundLimits, odds: float) -> float:
    """The share of the explosion among T's ways after a plant."""
    if not state.ct.alive:
        return 0.0
    return 1 - _share(kill_share(state, limits) / odds) if state.t.alive else 1.0


def _odds(weights: tuple[float, ...], found: list[float]) -> float:
    return exp(sum(map(mul, weights, found)))


def _share(odds: float) -> float:
    return odds / (1 + odds)


PLAYERS = 5


def first_kill(before: float, home_is_ct: bool | None) -> float:
    """Home's chance of the round's first kill; defenders shoot first a little more often."""
    fitted = load().kills
    logit = 0.0 if home_is_ct is None else fitted.ct if home_is_ct else -fitted.ct
    return logistic(before * fitted.round + logit)


def first_kill_and_round(first: float, win: float) -> float:
    """The chance that a team gets the first kill of a round and wins it, from its chance of either.

    What both have in common is what the round model makes of one player more (`_first_kill_odds`): the odds
    ratio of a table of two by two with these margins (Plackett 1965).
    """
    ratio = _first_kill_odds()
    total = 1 + (first + win) * (ratio - 1)
    return (total - sqrt(total * total - 4 * ratio * (ratio - 1) * first * win)) / (2 * (ratio - 1))


@lru_cache(maxsize=1)
def _first_kill_odds() -> float:
    """The odds of CT against even T with one player more, over those with one fewer."""
    more, fewer = (
        round_model.ct_wins(RoundState("live", SideState(alive=ct), SideState(alive=t), number=5), 0.0)
        for ct, t in ((PLAYERS, PLAYERS - 1), (PLAYERS - 1, PLAYERS))
    )
    return more * (1 - fewer) / ((1 - more) * fewer)


@lru_cache(maxsize=4096)
def more_kills(
    home: int, away: int, before: float, planter: int, seconds: float | None = None
) -> tuple[float, ...]:
    """The chances of 0, 1, 2, … more kills from here, up to one for each player alive. `planter` is 1
    when home planted the bomb, -1 when away did, 0 when there is none; `seconds` is what is left of the
    round, taken to pass evenly with the kills; None: enough."""
    known: dict[tuple[int, int], list[float]] = {}
    for ours, theirs, stop, kill in _next_kills(home, away, before, planter, seconds):
        if not ours or not theirs:
            known[ours, theirs] = [1.0]
        else:
            known[ours, theirs] = _one_more(stop, kill, known[ours, theirs - 1], known[ours - 1, theirs])
    return tuple(known[home, away])


@lru_cache(maxsize=4096)
def kills_of_teams(
    home: int, away: int, before: float, planter: int, seconds: float | None = None
) -> tuple[float, float]:
    """How many more kills home and away will make on average; they sum to the mean of `more_kills`."""
    known: dict[tuple[int, int], tuple[float, float]] = {}
    for ours, theirs, stop, kill in _next_kills(home, away, before, planter, seconds):
        if not ours or not theirs:
            known[ours, theirs] = 0.0, 0.0
            continue
        after_ours, after_theirs = known[ours, theirs - 1], known[ours - 1, theirs]
        of_home = kill * (1 + after_ours[0]) + (1 - kill) * after_theirs[0]
        of_away = kill * after_ours[1] + (1 - kill) * (1 + after_theirs[1])
        known[ours, theirs] = (1 - stop) * of_home, (1 - stop) * of_away
    return known[home, away]


def _next_kills(
    home: int, away: int, before: float, planter: int, seconds: float | None
) -> Iterator[tuple[int, int, float, float]]:
    """For each count of living players, fewer before more: the chance that the round ends without another
    kill, and that the next kill is home's."""
    limits, fitted = load().rounds.limits, load().kills
    rate = (limits.t_kills + limits.ct_kills) / 2
    left, most = seconds or 0.0, home + away
    logit = before * fitted.round + fitted.plant * planter
    for ours in range(home + 1):
        for theirs in range(away + 1):
            alive = ours + theirs
            stop = 0.0 if seconds is None or not alive else exp(-rate * alive * left * alive / most)
            yield ours, theirs, stop, logistic(logit + fitted.player * (ours - theirs))


def _one_more(stop: float, kill: float, after_ours: list[float], after_theirs: list[float]) -> list[float]:
    """The chances of so many kills, when the round ends first with `stop`, and the next kill is ours with
    `kill`."""
    ours, theirs = (1 - stop) * kill, (1 - stop) * (1 - kill)
    return [
        stop,
        *[ours * up + theirs * down for up, down in zip_longest(after_ours, after_theirs, fillvalue=0.0)],
    ]

"""The scale that all models share: logits of a round, the map's side, and how rounds fall into halves.

CT's chance of a round depends on its advantage in logits (`ct_logit`): skill (the difference of the teams,
from CT) plus side (the map's bias). What money and play add is each model's own.
"""

import math
from functools import lru_cache
from typing import NamedTuple

from app.domain.match import MapPlay, Side, Team, other_side
from app.trading.coefficients import ct_rates, load


def logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def logit(chance: float) -> float:
    """The inverse of `logistic`."""
    return math.log(chance / (1 - chance))


@lru_cache(maxsize=256)
def side_logit(map_name: str) -> float:
    """CT's advantage on a map, in logits between teams with as much money; an unknown map gets the pool's
    mean."""
    return load().maps.side_offset + load().maps.side_slope * logit(ct_share(map_name))


def ct_share(map_name: str) -> float:
    """CT's published share of rounds on a map; the pool's mean on an unknown one."""
    rates = ct_rates()
    return rates.get(map_name) or sum(rates.values()) / len(rates)


@lru_cache(maxsize=1024)
def half_of(index: int, max_rounds: int, overtime_rounds: int) -> tuple[int, int]:
    """(half, round within it), both from 0, of the round with this index (from 0). Halves of overtime
    count on from 2, so that the first half of every overtime is even."""
    half_length = max_rounds // 2
    if index < max_rounds:
        return divmod(index, half_length)
    half, position = divmod(index - max_rounds, max(overtime_rounds // 2, 1))
    return half + 2, position


@lru_cache(maxsize=256)
def switched(half: int) -> bool:
    """Whether home plays the other side than at the map's start. Teams stay on their sides when an
    overtime begins and change in its middle."""
    return (half + 1) // 2 % 2 == 1


def start_side(play: MapPlay) -> Side | None:
    """Home's side in the first round of the map; None while it is unknown."""
    first = next((played for played in play.rounds if not played.void), None)
    if first is not None:
        number, side = first.number, first.home_side
    elif play.home_side:
        number, side = play.rounds_won + 1, play.home_side
    else:
        return None
    half, _ = half_of(number - 1, play.max_rounds, play.overtime_rounds)
    return other_side(side) if switched(half) else side


def sign(team: Team) -> int:
    return 1 if team == "home" else -1


class Skill(NamedTuple):
    """Home's advantage in logits, and its standard deviation."""

    mean: float
    spread: float

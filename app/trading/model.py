"""How likely home is to win a round: every other price follows from it.

In logits a round is  skill + side + money  seen from home:

- skill: the difference of ratings (`skill_prior`), moved towards the rounds of this match so far.
- side: the map's bias. CT wins `ct_rate` of the rounds between even teams.
- money: who won the rounds before, within the half. A lost pistol round means a poor second round; later
  the winner has a small lead. Overtime starts with money for all.

All numbers here are estimates, fitted to published rates; `docs/pricing.md` describes how.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

from app.domain.catalogue import load
from app.domain.match import MapPlay, Match, Round, Side, Team, other_side
from app.trading.skill_prior import skill_prior

#: The map's share in a side's advantage; the rest comes from money.
_SIDE = 0.75
#: Logits for having won the round before, by the number of the round within its half (from 2).
_MONEY = (0.75, 0.78, 0.72)
_MONEY_LATER = 0.38
_OVERTIME_MONEY = 0.25


def logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def logit(chance: float) -> float:
    """The inverse of `logistic`."""
    return math.log(chance / (1 - chance))


def side_logit(map_name: str) -> float:
    """CT's advantage on a map, in logits; an unknown map gets the pool's mean."""
    rates = load().ct_rates
    rate = rates.get(map_name) or sum(rates.values()) / len(rates)
    return _SIDE * logit(rate)


def money(round_in_half: int, last_won: int, overtime: bool) -> float:
    """Logits for home. `round_in_half` counts from 1; `last_won` is 1 when home won the round before it
    in this half, -1 when away did, 0 when there was none."""
    if last_won == 0 or round_in_half < 2:
        return 0.0
    if overtime:
        return _OVERTIME_MONEY * last_won
    later = _MONEY[round_in_half - 2] if round_in_half < 2 + len(_MONEY) else _MONEY_LATER
    return later * last_won


def half_of(index: int, max_rounds: int, overtime_rounds: int) -> tuple[int, int]:
    """(half, round within it), both from 0, of the round with this index (from 0). Halves of overtime
    count on from 2, so that the first half of every overtime is even."""
    half_length = max_rounds // 2
    if index < max_rounds:
        return divmod(index, half_length)
    half, position = divmod(index - max_rounds, max(overtime_rounds // 2, 1))
    return half + 2, position


def is_pistol(half: int, position: int) -> bool:
    """The first round of a half of regulation time: all players have pistols, and the map's bias
    does not apply."""
    return position == 0 and half < 2


def switched(half: int) -> bool:
    """Whether home plays the other side than at the map's start. Teams stay on their sides when an
    overtime begins and change in its middle."""
    return (half + 1) // 2 % 2 == 1


def start_side(play: MapPlay) -> Side | None:
    """Home's side in the first round of the map; None while it is unknown."""
    counted = play.counted
    if counted:
        number, side = counted[0].number, counted[0].home_side
    elif play.home_side:
        number, side = play.rounds_won + 1, play.home_side
    else:
        return None
    half, _ = half_of(number - 1, play.max_rounds, play.overtime_rounds)
    return other_side(side) if switched(half) else side


def last_won(play: MapPlay) -> int:
    """Who won the last round of the half that the next round belongs to: 1 home, -1 away, 0 none."""
    counted = play.counted
    _, position = half_of(play.rounds_won, play.max_rounds, play.overtime_rounds)
    known = counted and counted[-1].number == play.rounds_won
    return sign(counted[-1].winner) if known and position else 0


def sign(team: Team) -> int:
    return 1 if team == "home" else -1


class Skill(NamedTuple):
    """Home's advantage in logits, and its standard deviation."""

    mean: float
    spread: float

    @property
    def ends(self) -> tuple[float, float]:
        return self.mean - self.spread, self.mean + self.spread


def skill(match: Match) -> Skill:
    """The prior from the ratings, updated by every counted round."""
    prior, variance = skill_prior(match)
    surprise, weight = 0.0, 1 / variance
    for play in match.maps:
        side = side_logit(play.name)
        for won, expected in _expectations(play.counted, play, prior, side):
            surprise += won - expected
            weight += expected * (1 - expected)
    return Skill(round(prior + surprise / weight, 3), round(weight**-0.5, 3))


def _expectations(
    rounds: Iterable[Round], play: MapPlay, prior: float, side: float
) -> Iterable[tuple[int, float]]:
    """For each round: whether home won it, and how likely that was before it."""
    before, half_before = 0, -1
    for played in rounds:
        half, position = half_of(played.number - 1, play.max_rounds, play.overtime_rounds)
        carried = before if half == half_before else 0
        bias = 0.0 if is_pistol(half, position) else side
        estimate = prior + (bias if played.home_side == "CT" else -bias)
        estimate += money(position + 1, carried, half > 1)
        yield int(played.winner == "home"), logistic(estimate)
        before, half_before = sign(played.winner), half

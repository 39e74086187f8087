"""How many kills a player gets in the rounds to come.

A player's rate is not known: what is known of all players (`coefficients.players`) is moved towards the
kills so far, the more rounds there are the more (a gamma distribution). Neither is the number of rounds to
come. Kills are then negative binomial with the mean and the variance that follow from both.
"""

from functools import lru_cache
from typing import NamedTuple

from app.trading.coefficients import load

_MOST = 60  #: kills on a map beyond which nobody gets


class Moments(NamedTuple):
    """Mean and variance."""

    mean: float
    variance: float


def rate(kills: int, rounds: int) -> Moments:
    """A player's kills a round, who so far got `kills` in `rounds`."""
    known = load().players
    weight = known.rounds + rounds
    mean = (known.rate * known.rounds + kills) / weight
    return Moments(mean, mean / weight)


def kills_to_come(of_round: Moments, rounds: Moments) -> tuple[float, ...]:
    """The chances of 0, 1, 2, … kills in so many rounds."""
    mean = of_round.mean * rounds.mean
    variance = (
        load().players.dispersion * mean
        + of_round.variance * (rounds.mean**2 + rounds.variance)
        + of_round.mean**2 * rounds.variance
    )
    if round(mean, 4) <= 0:
        return (1.0,)
    # Rounded for the cache; a rounded variance could equal the mean where few kills are to come.
    return _negative_binomial(round(mean, 4), round(max(variance / mean, 1.001), 4))


@lru_cache(maxsize=4096)
def _negative_binomial(mean: float, dispersion: float) -> tuple[float, ...]:
    """Chances of 0, 1, 2, … kills; `dispersion`, above 1, is the variance over the mean."""
    shape, odds = mean / (dispersion - 1), 1 - 1 / dispersion
    chances = [(1 - odds) ** shape]
    latest = chances[0]
    for count in range(_MOST):
        latest = latest * (count + shape) / (count + 1) * odds
        chances.append(latest)
    total = sum(chances)
    return tuple([chance / total for chance in chances])

"""A player's kills on a map: how many follow from its final score and from what the player did before.

A player gets more kills in rounds that the team wins than in those that it loses (`expected_kills`), and
some get more than others: a player's level is what they got in earlier rounds over what was expected of
them, moved towards 1 by what is known of all players (the mean of a gamma distribution). Given the final
score, kills are negative binomial with one dispersion for all; without it they are the mean over final
scores.
"""

from collections.abc import Iterable
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from app.domain.match import PlayerForm
from app.trading.coefficients import load
from app.trading.lines import Distribution, Mixture

MOST = 60  #: kills on a map beyond which nobody gets
_STEPS = 2  #: how many means of kills are computed for one kill


class PlayerRecord(NamedTuple):
    """A player's kills in some rounds, and how many were expected of anybody."""

    kills: float
    expected: float


def expected_kills(won: float, lost: float) -> float:
    """A player's kills in so many rounds that the team won, and lost."""
    known = load().players
    return known.won * won + known.lost * lost


def of_earlier_matches(account: int, matches: Iterable[tuple[int, int]]) -> PlayerForm:
    """What a player's earlier matches count now: kills and rounds of each, the newest first."""
    decay, kills, rounds, weight = load().players.decay, 0.0, 0.0, 1.0
    for one_kills, one_rounds in matches:
        weight *= decay
        kills += weight * one_kills
        rounds += weight * one_rounds
    return PlayerForm(account, round(kills, 3), round(rounds, 3))


def with_form(record: PlayerRecord, form: PlayerForm) -> PlayerRecord:
    """A record with that of earlier matches. Who won their rounds is left out: it says more about the teams
    than about the player."""
    expected = expected_kills(form.rounds / 2, form.rounds / 2)
    return PlayerRecord(record.kills + form.kills, record.expected + expected)


def level(record: PlayerRecord) -> float:
    """How many times as many kills as others the player gets."""
    prior = expected_kills(load().players.rounds / 2, load().players.rounds / 2)
    return (prior + record.kills) / (prior + record.expected)


def kill_count(means: Iterable[tuple[float, float]], seen: int = 0) -> Distribution:
    """How many kills a player may have who has `seen` so far; `means` are those of what is to come, each
    with its probability. A mean counts as its two neighbours on a grid, so that these sum to it."""
    weights = [0.0] * (_STEPS * MOST + 2)
    for mean, chance in means:
        place = min(_STEPS * mean, _STEPS * MOST)
        low = int(place)
        above = chance * (place - low)
        weights[low] += chance - above
        weights[low + 1] += above
    filled = [index for index, weight in enumerate(weights) if weight]
    first, last = filled[0], filled[-1] + 1
    return _mixture(first, last, seen).under(weights[first:last])


@lru_cache(maxsize=4096)
def _mixture(first: int, last: int, seen: int) -> Mixture:
    """Kills in all, of which so many were seen, in each case of these means."""
    cases = [_tails(index / _STEPS) for index in range(first, last)]
    columns = [column for column in zip(*cases, strict=True) if any(column)]
    return Mixture(tuple(range(seen, seen + len(columns))), [*columns, (0.0,) * len(cases)])


@lru_cache(maxsize=_STEPS * MOST + 2)
def _tails(mean: float) -> tuple[float, ...]:
    """The chance of at least 0, 1, 2, … kills."""
    if not mean:
        return (1.0, *[0.0] * MOST)
    dispersion = load().players.dispersion
    shape, odds = mean / (dispersion - 1), 1 - 1 / dispersion
    chances = [(1 - odds) ** shape]
    for count in range(MOST):
        chances.append(chances[-1] * (count + shape) / (count + 1) * odds)
    total = sum(chances)
    tails = list(accumulate(chance / total for chance in reversed(chances)))
    return tuple(reversed(tails))

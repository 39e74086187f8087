"""What both sides can afford in a round, coarsely, and how it goes on.

A side's *resources* are its money and what its players carry when a round's freeze time begins. They fall
into few levels; a state of the economy is a pair of levels, CT's and T's, as one number. Which thresholds,
what a level is worth, and which one follows a won or a lost round is fitted (`scripts/fit/maps.py`).
"""

from bisect import bisect_right
from functools import lru_cache

import msgspec

from app.trading.coefficients import MapCoefficients, Moves, load

#: Halves longer than professional ones are computed as if all players always had money: there are too many
#: ways through them.
LONGEST_HALF = 15

Move = tuple[tuple[int, float], ...]  #: the states that may follow, with their chances


class Economy(msgspec.Struct, frozen=True, eq=False):
    """The states of a kind of half. State 0 is that of its first round. Each is equal to itself alone: a
    cheap key.

    `logits` is CT's advantage in each state, between even teams on a map without bias. `first` is that in the
    first round when it differs: then the map's bias does not count there, since all players have pistols.
    `moves[class][won][state]`: where a state leads when CT lost or won, by the class of the round's position.
    """

    logits: tuple[float, ...]
    moves: tuple[tuple[tuple[Move, ...], tuple[Move, ...]], ...]
    first: float | None = None

    @property
    def size(self) -> int:
        return len(self.logits)

    def following(self, position: int, won: bool) -> tuple[Move, ...]:
        """By state: where the round at this position of the half (from 0) leads when CT won or lost it."""
        return self.moves[min(position, len(self.moves) - 1)][won]


class Economies(msgspec.Struct, frozen=True, eq=False):
    """How money goes on: in halves that begin with a pistol round, and where all always have money."""

    scarce: Economy
    rich: Economy
    thresholds: tuple[int, ...]

    def of_half(self, half: int, length: int) -> Economy:
        """In overtime there is money for all; very long halves are computed so."""
        return self.scarce if half < 2 and length <= LONGEST_HALF else self.rich

    def state(self, ct_resources: int, t_resources: int) -> int:
        """The state of the scarce economy in which the sides have these resources, in the game's money."""
        ct, t = (bisect_right(self.thresholds, resources) for resources in (ct_resources, t_resources))
        return ct * (len(self.thresholds) + 1) + t


@lru_cache(maxsize=1)
def economies() -> Economies:
    """As fitted."""
    return described(load().maps)


def described(fitted: MapCoefficients) -> Economies:
    """What these coefficients say."""
    scarce = Economy(
        tuple(ct + t for ct in fitted.ct for t in fitted.t),
        tuple(
            (_joint(ct, t, False), _joint(ct, t, True))
            for ct, t in zip(fitted.ct_moves, fitted.t_moves, strict=True)
        ),
        fitted.pistol,
    )
    stays: tuple[Move, ...] = (((0, 1.0),),)
    return Economies(scarce, Economy(scarce.logits[-1:], ((stays, stays),)), fitted.thresholds)


def _joint(ct: Moves, t: Moves, ct_won: bool) -> tuple[Move, ...]:
    """Both sides' levels move independently, given who won."""
    size = len(ct[0][0])
    return tuple(
        tuple(
            (next_ct * size + next_t, ct_chance * t_chance)
            for next_ct, ct_chance in enumerate(from_ct)
            for next_t, t_chance in enumerate(from_t)
            if ct_chance * t_chance
        )
        for from_ct in ct[ct_won]
        for from_t in t[not ct_won]
    )

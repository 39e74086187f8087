"""What must come true for a market to win, as conditions on how a match goes on.

A rule's `price` is the probability of its proposition; the probability that several come true together is
computed by `combinations`, over the same distribution.
"""

from collections.abc import Callable
from typing import NamedTuple

ScoreCondition = Callable[[int, int], bool]  #: of a score (home, away)
RoundResults = tuple[tuple[int, bool], ...]  #: numbers of rounds, each with whether home wins it

#: The ways in which a round can end, as in `round_endings.Endings`.
CT_ENDINGS = frozenset(("defuse", "time", "ct_kills"))
T_ENDINGS = frozenset(("bomb", "t_kills", "late_kills"))
PLANTED_ENDINGS = frozenset(("defuse", "bomb", "late_kills"))


class OfMatchScore(NamedTuple):
    """A condition on the match's final score in maps."""

    holds: ScoreCondition


class OfMapScore(NamedTuple):
    """A condition on the final score of a map."""

    map: int
    holds: ScoreCondition


class OfHalfScore(NamedTuple):
    """A condition on the score after a map's first half."""

    map: int
    holds: ScoreCondition


class OfRace(NamedTuple):
    """Home, or away, has `target` rounds of a map before the other team has."""

    map: int
    target: int
    home: bool


class OfRounds(NamedTuple):
    """Rounds of a map end in one of these ways, which exclude each other."""

    map: int
    ways: tuple[RoundResults, ...]


class OfEnding(NamedTuple):
    """A round ends in one of these ways, out of the six."""

    map: int
    round: int
    ways: frozenset[str]


class OfPlay(NamedTuple):
    """Something in a round that does not depend on how the round ends, given who wins it: `about` is what,
    `home_won` and `home_lost` its chance when home wins the round and when it does not. Two about the same
    exclude each other."""

    map: int
    round: int
    about: str
    home_won: float
    home_lost: float


class OfPlayer(NamedTuple):
    """A player has more kills on a map than `line`, or not more."""

    map: int
    account: int
    line: float
    over: bool


Proposition = OfMatchScore | OfMapScore | OfHalfScore | OfRace | OfRounds | OfEnding | OfPlay | OfPlayer


def negated(proposition: Proposition) -> Proposition:
    """What comes true where `proposition` does not. Of races and rounds no market is the opposite."""
    match proposition:
        case OfMatchScore(holds):
            return OfMatchScore(_not(holds))
        case OfMapScore(number, holds):
            return OfMapScore(number, _not(holds))
        case OfHalfScore(number, holds):
            return OfHalfScore(number, _not(holds))
        case OfEnding(number, round_number, ways):
            return OfEnding(number, round_number, (CT_ENDINGS | T_ENDINGS) - ways)
        case OfPlay(number, round_number, about, won, lost):
            return OfPlay(number, round_number, about, 1 - won, 1 - lost)
        case OfPlayer(number, account, line, over):
            return OfPlayer(number, account, line, not over)
        case OfRace() | OfRounds():
            raise ValueError(f"{proposition} has no opposite among the markets")


def _not(holds: ScoreCondition) -> ScoreCondition:
    return lambda home, away: not holds(home, away)

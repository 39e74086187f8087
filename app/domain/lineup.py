"""Who meets in a match, and in what, as entrants: so that a match can be told in full whatever is known.

A team or a tournament that reference data does not know has a stand-in: the match's own name for it, under a
number made from the match's, above all numbers of reference data. Whoever reads such a number can ask for it.
"""

import msgspec
from msgspec.structs import replace

from app.domain.entrants import Competitor, Tournament
from app.domain.match import Match, Slot

STAND_INS = 1_000_000_000_000  #: numbers of stand-ins lie above


class Lineup(msgspec.Struct, frozen=True):
    """The entrants of one match."""

    tournament: Tournament
    home: Competitor
    away: Competitor


def lineup(
    match: Match,
    tournament: Tournament | None = None,
    home: Competitor | None = None,
    away: Competitor | None = None,
) -> Lineup:
    """The match's entrants: what reference data knows about them, under the names that the match has."""
    first = STAND_INS + 2 * match.number
    return Lineup(
        replace(tournament or Tournament(STAND_INS + match.number, ""), name=match.event),
        replace(home or Competitor(first, ""), name=match.home),
        replace(away or Competitor(first + 1, ""), name=match.away),
    )


def match_of_tournament(number: int) -> int | None:
    """The number of the match whose tournament has this stand-in; None for no stand-in."""
    return number - STAND_INS if number > STAND_INS else None


def match_of_competitor(number: int) -> tuple[int, Slot] | None:
    """The number of the match, and which of its teams has this stand-in; None for no stand-in."""
    match, place = divmod(number - STAND_INS, 2)
    return (match, "away" if place else "home") if match > 0 else None

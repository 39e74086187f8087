"""The tournament and the competitors of a match, complete even where reference data is missing.

A team or a tournament without reference data has a stand-in: the match's own name for it, under a number
derived from the match's, above all numbers of reference data. Clients can request such a number.
"""

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from app.domain.entrants import Competitor, Player, Tournament
from app.domain.match import Match, Team, TimelineEvent

FIRST_STAND_IN = 1_000_000_000_000  #: numbers of stand-ins lie above


class TeamLogos(msgspec.Struct, frozen=True):
    """The addresses of the pictures of both teams of a match, "" for none."""

    home: str = ""
    away: str = ""


NO_LOGOS = TeamLogos()


class MatchEntrants(msgspec.Struct, frozen=True):
    """The entrants of one match."""

    tournament: Tournament
    home: Competitor
    away: Competitor


def entrants_of(
    match: Match,
    tournament: Tournament | None = None,
    home: Competitor | None = None,
    away: Competitor | None = None,
) -> MatchEntrants:
    """The match's entrants: their reference data, under the names that the match has."""
    first = FIRST_STAND_IN + 2 * match.number
    return MatchEntrants(
        replace(tournament or Tournament(FIRST_STAND_IN + match.number, ""), name=match.event),
        replace(home or Competitor(first, ""), name=match.home),
        replace(away or Competitor(first + 1, ""), name=match.away),
    )


def match_of_tournament(number: int) -> int | None:
    """The number of the match whose tournament has this stand-in; None for no stand-in."""
    return number - FIRST_STAND_IN if number > FIRST_STAND_IN else None


def match_of_competitor(number: int) -> tuple[int, Team] | None:
    """The number of the match, and which of its teams has this stand-in; None for no stand-in."""
    match, place = divmod(number - FIRST_STAND_IN, 2)
    return (match, "away" if place else "home") if match > 0 else None


def squad(match: Match, team: Team, events: Iterable[TimelineEvent]) -> tuple[Player, ...]:
    """A team's players seen in the match, by account, without a number in reference data. Their names come
    from `events` and from the loadouts. Bots have no account and are left out."""
    names = {
        one.account: one.name for event in events for one in (event.actor, event.target) if one is not None
    }
    names |= {one.account: one.name for one in match.loadouts}
    accounts = sorted(
        {seat.account for seat in match.roster if seat.team == team and seat.account} & set(names)
    )
    team_id = match.home_id if team == "home" else match.away_id
    return tuple(Player(0, names[account], account=account, team_id=team_id) for account in accounts)

"""Reference data: categories, tournaments, competitors, players, soccer's too; and the entrants of a match.

Numbers are those behind `mf:tournament:<n>`, `mf:competitor:<n>`, `mf:player:<n>` and soccer's
`<prefix>:competition:<n>`. Names are proper names, the same in every language. Times are Unix ms; `icon_url`
is an absolute address, "" for none; `external_id` is the source's own id.

The entrants of a match are complete even where reference data is missing. A team or a tournament without it
has a stand-in: the match's own name for it, under a number derived from the match's, above all numbers of
reference data. Clients can request such a number.
"""

import re
from collections.abc import Iterable
from typing import Annotated, Literal

import msgspec
from msgspec.structs import replace

from app.domain.match import Match, Team, TimelineEvent

MAX_FILE_NUMBER = 2_000_000_000  #: numbers up to it come from files, the service assigns those above
_OF_ACCOUNTS, _ACCOUNTS = 100_000_000_000_000, 2**32


def player_number(account: int) -> int:
    """The number of the player with that Steam account: the same in every match, and whatever reference data
    has of them."""
    return _OF_ACCOUNTS + account


def account_of(number: int) -> int | None:
    """The Steam account of the player who has that number; None for a number that no account gave."""
    account = number - _OF_ACCOUNTS
    return account if 0 < account < _ACCOUNTS else None


MAX_STRENGTH = 100_000.0  #: a strength is between 0 (unknown) and this
Tier = Literal["", "S", "A", "B", "C", "D"]
Weeks = Annotated[int, msgspec.Meta(ge=0, le=10_000)]
MAX_ABBREVIATION = 5  #: a derived abbreviation has at most so many
_LETTERS_OF_ONE_WORD = 3
UNNAMED_ABBREVIATION = "TBD"  #: the abbreviation of a name without letters and digits
_WORD = re.compile(r"[^\W_]+")


class Category(msgspec.Struct, frozen=True):
    """A group of tournaments: a country, a region, a series."""

    id: int
    name: str
    country_code: str = ""
    icon_url: str = ""


class Player(msgspec.Struct, frozen=True):
    """A person. `name` is the one used in the game, `full_name` the civil one, "" when unknown. `account` is
    the 32-bit Steam account number, 0 when unknown. `id` is the number in our reference data."""

    id: int
    name: str
    full_name: str = ""
    country_code: str = ""
    icon_url: str = ""
    account: int = 0
    team_id: int | None = None
    external_id: str = ""

    @property
    def number(self) -> int:
        """The number by which clients know the player."""
        return player_number(self.account) if self.account else self.id

    @property
    def display_name(self) -> str:
        """The civil name; the one used in the game where the civil one is unknown."""
        return self.full_name.strip() or self.name


class Competitor(msgspec.Struct, frozen=True):
    """A team, with its squad as far as it is known. `strength` is on the scale that trading prices by; a
    ranking is None when it is not known. `weeks_in_top30` is how long the team has been among the first 30 of
    the world ranking, as the ranking's publisher counts."""

    id: int
    name: str
    abbreviation: str = ""
    country: str = ""
    country_code: str = ""
    icon_url: str = ""
    players: tuple[Player, ...] = ()
    region: str = ""
    world_ranking: int | None = None
    valve_ranking: int | None = None
    strength: float = 0.0
    active: bool = True
    external_id: str = ""
    weeks_in_top30: Weeks | None = None

    @property
    def short_name(self) -> str:
        return self.abbreviation.strip() or abbreviate(self.name)


class Tournament(msgspec.Struct, frozen=True):
    """A tournament, with its competitors as far as they are known. `risk_tier` 1 weighs the most, 0 is
    not rated."""

    id: int
    name: str
    abbreviation: str = ""
    risk_tier: int = 0
    starts_at: int | None = None
    ends_at: int | None = None
    icon_url: str = ""
    competitors: tuple[Competitor, ...] = ()
    category_id: int | None = None
    team_ids: tuple[int, ...] = ()
    tier: Tier = ""
    is_lan: bool = False
    prize_pool_usd: int | None = None
    format: str = ""
    external_id: str = ""

    @property
    def short_name(self) -> str:
        return self.abbreviation.strip() or abbreviate(self.name)

    @property
    def on_lan(self) -> bool | None:
        """Whether it is played in one place; None where it is unknown."""
        return self.is_lan or (False if self.id <= MAX_FILE_NUMBER else None)


def abbreviate(name: str) -> str:
    """An abbreviation derived from a name: the initials of its words with their numbers ("Northern Cup 4":
    NC4), or the first letters of its only word. It has 1 to `MAX_ABBREVIATION` letters and digits and is
    always the same for a name; two names may share one."""
    words = _WORD.findall(name)
    if len(words) > 1:
        short = "".join(word if word.isdecimal() else word[0] for word in words)[:MAX_ABBREVIATION]
    else:
        short = "".join(words)[:_LETTERS_OF_ONE_WORD]
    return short.upper()[:MAX_ABBREVIATION] or UNNAMED_ABBREVIATION


def with_dates(tournament: Tournament, first: int | None, last: int | None) -> Tournament:
    """The tournament with the dates that it lacks: those of its `first` and `last` match (Unix ms, None where
    no match has one). It never ends before it begins."""
    starts, ends = tournament.starts_at, tournament.ends_at
    if starts is None:
        starts = first if ends is None or first is None else min(first, ends)
    if ends is None:
        ends = last if starts is None or last is None else max(starts, last)
    return replace(tournament, starts_at=starts, ends_at=ends)


Gender = Literal["", "men", "women", "mixed"]


class SoccerCompetitor(msgspec.Struct, frozen=True):
    """A club or a national team; `icon_path` is its crest or flag."""

    id: int
    name: str
    country: str = ""
    country_code: str = ""
    abbreviation: str = ""
    is_national: bool = False
    gender: Gender = ""
    icon_path: str = ""


class Country(msgspec.Struct, frozen=True):
    """The category of a tournament."""

    name: str
    code: str = ""


class Season(msgspec.Struct, frozen=True):
    """From the first day to the last, as ISO dates; "" while unknown."""

    name: str
    starts_on: str = ""
    ends_on: str = ""


class SoccerTournament(msgspec.Struct, frozen=True):
    """A competition. `parent` names the one that it is part of; `season` is the latest known;
    `competitor_ids` are those who take part in it. `risk_tier` 1 weighs the most, 0 is not rated."""

    id: int
    name: str
    parent: str = ""
    gender: Gender = ""
    category: Country | None = None
    season: Season | None = None
    risk_tier: int = 0
    icon_path: str = ""
    competitor_ids: tuple[int, ...] = ()


FIRST_STAND_IN = 1_000_000_000_000  #: the numbers of stand-ins are above this


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

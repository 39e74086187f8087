"""Who plays, and in what: tournaments, competitors and players as values.

Numbers are those behind `mf:tournament:<n>`, `mf:competitor:<n>` and `mf:player:<n>`. Names are proper names,
the same in every language. Times are Unix ms; `icon_url` is an absolute address, "" for none.
"""

import msgspec


class Player(msgspec.Struct, frozen=True):
    """A person. `name` is the one used in the game, `full_name` the civil one, "" when unknown."""

    id: int
    name: str
    full_name: str = ""
    country_code: str = ""
    icon_url: str = ""


class Competitor(msgspec.Struct, frozen=True):
    """A team, with its squad as far as it is known."""

    id: int
    name: str
    abbreviation: str = ""
    country: str = ""
    country_code: str = ""
    icon_url: str = ""
    players: tuple[Player, ...] = ()


class Tournament(msgspec.Struct, frozen=True):
    """A tournament, with those who take part as far as they are known. `risk_tier` 1 weighs the most, 0 is
    not rated."""

    id: int
    name: str
    abbreviation: str = ""
    risk_tier: int = 0
    starts_at: int | None = None
    ends_at: int | None = None
    icon_url: str = ""
    competitors: tuple[Competitor, ...] = ()

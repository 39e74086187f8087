"""Soccer's competitors and tournaments: profiles only, nothing is played or offered.

Numbers are those behind `<prefix>:competitor:<n>` and `<prefix>:competition:<n>`. Names are proper names.
"""

from typing import Literal

import msgspec

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

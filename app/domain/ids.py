"""How things are named towards clients (design decision 15)."""

import re

SPORT = "2"  #: CyberSport: the fifth section of every routing key
CATEGORY = "3"  #: Counter-Strike 2 in the facade's list of sports
PREFIX = "mf"

_MATCH = re.compile(r"od:match:([1-9][0-9]{0,17})\Z")


def match_urn(number: int) -> str:
    return f"od:match:{number}"


def tournament_urn(number: int) -> str:
    return f"{PREFIX}:tournament:{number}"


def competitor_urn(number: int) -> str:
    return f"{PREFIX}:competitor:{number}"


def player_urn(number: int) -> str:
    return f"{PREFIX}:player:{number}"


def match_number(text: str) -> int | None:
    """The number in `od:match:<n>`, or None when `text` is not of that form."""
    found = _MATCH.match(text)
    return int(found[1]) if found else None

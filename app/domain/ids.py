"""The ids that clients see (docs/decisions/0015)."""

import re
from uuid import UUID

SPORT = "2"  #: CyberSport: the fifth section of a routing key about a match, not the producer
CATEGORY = "3"  #: Counter-Strike 2 in the facade's list of sports
PREFIX = "mf"

_MATCH = re.compile(r"od:match:([1-9][0-9]{0,17})\Z")
_UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\Z")
_ENTRANT = re.compile(r"(?:[A-Za-z][A-Za-z0-9_-]*:([a-z]+):)?([1-9][0-9]{0,17})\Z")


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


def match_uuid(text: str) -> UUID | None:
    """The UUID, or None when `text` is not of the published form: other spellings would give one match many
    addresses."""
    return UUID(text) if _UUID.match(text) else None


def entrant_number(text: str, *kinds: str) -> int | None:
    """The number in `text`: a bare one, or the end of a URN of one of these kinds, with any prefix
    (``mf:competitor:<n>``); None when `text` is of neither form."""
    found = _ENTRANT.match(text)
    return int(found[2]) if found and (found[1] is None or found[1] in kinds) else None


def is_entrant_reference(text: str) -> bool:
    """Whether `text` is a number or a URN of any kind that ends in one."""
    return _ENTRANT.match(text) is not None

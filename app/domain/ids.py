"""Ids and numbers that clients see (docs/decisions/0015), and the sports' namespaces."""

import re
from uuid import UUID

import msgspec

SPORT = "2"  #: CyberSport: the fifth section of a routing key about a match, not the producer
CATEGORY = "3"  #: Counter-Strike 2 in the facade's list of sports
PREFIX = "mf"

_MATCH = re.compile(r"od:match:([1-9][0-9]{0,17})\Z")
_NODE_OR_REQUEST = re.compile(r"[1-9][0-9]{0,63}\Z")
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


def is_node_or_request_id(text: str) -> bool:
    """Whether `text` is an id that a client gives a recovery or one of its nodes: up to 64 digits, the first
    one not 0."""
    return _NODE_OR_REQUEST.match(text) is not None


def entrant_number(text: str, *kinds: str) -> int | None:
    """The number in `text`: a bare one, or the end of a URN of one of these kinds, with any prefix
    (``mf:competitor:<n>``); None when `text` is of neither form."""
    found = _ENTRANT.match(text)
    return int(found[2]) if found and (found[1] is None or found[1] in kinds) else None


def is_entrant_reference(text: str) -> bool:
    """Whether `text` is a number or a URN of any kind that ends in one."""
    return _ENTRANT.match(text) is not None


class Sport(msgspec.Struct, frozen=True):
    """A namespace of addresses under `base_url`. `capabilities` says what it has, separated by commas: `odds`
    (markets and settlements on REST and the stream), `feed` (AMQP, with recovery), `statistics`, `profiles`
    (teams and tournaments), `matches` (fixtures, results and standings, without prices)."""

    slug: str
    name: str
    api_version: str
    base_url: str
    capabilities: str


CS2 = Sport("cs2", "Counter-Strike 2", "v1", "/cs2/v1", "odds,feed,statistics")
SOCCER = Sport("soccer", "Soccer", "v1", "/soccer/v1", "profiles,matches")
#: The sports whose namespaces are live; a namespace absent here is not public (spec, Versioning).
LIVE_SPORTS = (CS2, SOCCER)


def limits_of(path: str) -> str:
    """What to say beside that nothing is at this path: in a namespace without odds, what it has; else
    nothing."""
    for sport in LIVE_SPORTS:
        if path.startswith(f"{sport.base_url}/") and "odds" not in sport.capabilities:
            has = " and ".join(sport.capabilities.split(","))
            return (
                f" {sport.name} has {has} here, without prices: no markets, settlements, stream, feed or "
                "recovery. /v1/sports lists what each sport has."
            )
    return ""


# Numbers only rise and are never used again. A database that was restored from a backup lacks the last ones,
# so after a restore each counter goes on from a number computed from the time, `now` in Unix ms. That number
# rises faster than any counter, so it is above all that can have been published (docs/decisions/0046).
_BEGINNING = 1_577_836_800_000  #: 2020-01-01, the time that has the number 0


def seq_at(now: int) -> int:
    """The number of this time in the change log, and in every other 64-bit counter: one each microsecond.
    Exact as a 64-bit floating-point number until 2305."""
    return (now - _BEGINNING) * 1000


def number_in_match_at(now: int) -> int:
    """The number of this time in the counters within a match (`next_history_id`, `revision`): one each
    second, so that 31 bits last until 2088."""
    return (now - _BEGINNING) // 1000


def match_number_at(now: int) -> int:
    """The match number of this time: one every ten seconds."""
    return (now - _BEGINNING) // 10_000

"""Scopes, the bundles that expand into them (spec, Authentication 6), and how far a tenant sees by them.

A bundle is shorthand at issuance: it expands to a flat scope set and is never stored. What a tenant's people
may be shown of matches is never more than what its keys and its vhost show.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

LIST = "cs2:matches:list"
READ = "cs2:matches:read"
DETAIL = "cs2:matches:detail"
SCOREBOARD = "cs2:matches:scoreboard"
INTERNALS = "cs2:matches:internals"
MARKETS = "cs2:markets:read"
SETTLEMENTS = "cs2:markets:settlements"
TOURNAMENTS_LIST = "cs2:tournaments:list"
TOURNAMENTS_READ = "cs2:tournaments:read"
TEAMS_LIST = "cs2:teams:list"
TEAMS_READ = "cs2:teams:read"
PLAYERS_LIST = "cs2:players:list"
PLAYERS_READ = "cs2:players:read"
MAPS = "cs2:maps:read"
STREAM_MATCHES = "cs2:stream:matches"
STREAM_MARKETS = "cs2:stream:markets"
STREAM_SCOREBOARD = "cs2:stream:scoreboard"
RECOVERY = "cs2:recovery:initiate"

_MATCHES = {LIST, READ, DETAIL}
_ENTRANTS = {TOURNAMENTS_LIST, TOURNAMENTS_READ, TEAMS_LIST, TEAMS_READ, PLAYERS_LIST, PLAYERS_READ}

ALL = frozenset(
    _MATCHES
    | _ENTRANTS
    | {SCOREBOARD, INTERNALS, MARKETS, SETTLEMENTS, MAPS}
    | {STREAM_MATCHES, STREAM_MARKETS, STREAM_SCOREBOARD, RECOVERY}
)

OPERATOR_BUNDLE = "cs2.operator"
FINISHED_ONLY_BUNDLE = "cs2.scoretock"

BUNDLES: dict[str, frozenset[str]] = {
    "cs2.odds.basic": frozenset(
        _MATCHES | _ENTRANTS | {MARKETS, SETTLEMENTS, STREAM_MATCHES, STREAM_MARKETS, RECOVERY}
    ),
    "cs2.odds.scoreboard-addon": frozenset({SCOREBOARD, STREAM_SCOREBOARD}),
    "cs2.stats": frozenset(_MATCHES | _ENTRANTS | {MAPS}),
    FINISHED_ONLY_BUNDLE: frozenset(_MATCHES | {TEAMS_READ, PLAYERS_READ, TOURNAMENTS_READ}),
    OPERATOR_BUNDLE: ALL,
}


def as_bundles(granted: frozenset[str], *, finished_only: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The bundles that these scopes contain wholly, and the scopes that are in none of those. The bundle that
    limits a key to finished matches is named only for a key with that limit, operators' never."""
    bundles = [name for name in BUNDLES if name != OPERATOR_BUNDLE and BUNDLES[name] <= granted]
    named = tuple(name for name in bundles if finished_only or name != FINISHED_ONLY_BUNDLE)
    return named, tuple(sorted(granted.difference(*(BUNDLES[name] for name in named))))


def receives_feed(scopes: frozenset[str], sports: frozenset[str], *, finished_only: bool) -> bool:
    """Whether a key with these rights may receive the feed over AMQP, in which all matches are live."""
    return RECOVERY in scopes and "cs2" in sports and not finished_only


class Reach(StrEnum):
    """Which matches a tenant sees under one scope."""

    NOTHING = "nothing"
    FINISHED = "finished"  #: finished matches: its keys with the scope are finished-only keys
    BOOKED = "booked"  #: matches that it has booked: it has a vhost, and no key with the scope
    EVERYTHING = "everything"


class KeyRights(NamedTuple):
    """What one active key may do; `sports` are namespaces (`cs2`)."""

    scopes: frozenset[str]
    sports: frozenset[str]
    finished_only: bool


def reach(scope: str, keys: Iterable[KeyRights], *, amqp: bool) -> Reach:
    """How far a tenant with these active keys sees under a scope; `amqp`: it has a vhost, to which odds and
    settlements of booked matches are published whatever the scopes of its keys."""
    sport = scope.partition(":")[0]
    finished_only = [each.finished_only for each in keys if scope in each.scopes and sport in each.sports]
    if not all(finished_only):
        return Reach.EVERYTHING
    if amqp:
        return Reach.BOOKED
    return Reach.FINISHED if finished_only else Reach.NOTHING


def narrowest(found: Iterable[Reach]) -> Reach:
    """The narrowest of these. They never contain both `FINISHED` and `BOOKED`: a tenant has one of them
    only."""
    order = list(Reach)
    return min(found, key=order.index)

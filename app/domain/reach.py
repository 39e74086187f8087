"""How far a tenant sees: what its people may be shown of matches, never more than its keys and its vhost
show."""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple


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
    """What of these a tenant sees at least: of `FINISHED` and `BOOKED` it has one only."""
    order = list(Reach)
    return min(found, key=order.index)

"""Which fields a key sees: field groups by scope (spec, "Match fields"). The same for every format.

A field outside the key's groups is absent, never null; null means that there is no value.
"""

from enum import StrEnum
from functools import lru_cache

from app.domain import scopes


class Group(StrEnum):
    """A group of match fields that the same scopes open."""

    BASIC = "basic"
    READ = "read"
    DETAIL = "detail"
    MARKETS = "markets"
    SCOREBOARD = "scoreboard"
    INTERNALS = "internals"


_NEEDS: dict[Group, tuple[str, ...]] = {
    Group.BASIC: (scopes.LIST, scopes.READ),
    Group.READ: (scopes.READ,),
    Group.DETAIL: (scopes.DETAIL,),
    Group.MARKETS: (scopes.MARKETS,),
    Group.SCOREBOARD: (scopes.SCOREBOARD,),
    Group.INTERNALS: (scopes.INTERNALS,),
}
Groups = frozenset[Group]


@lru_cache(maxsize=1024)
def groups(granted: frozenset[str]) -> Groups:
    """The field groups that these scopes open."""
    return frozenset(group for group, needed in _NEEDS.items() if any(scope in granted for scope in needed))

"""Scopes and the bundles that expand into them (spec, Authentication 6).

A bundle is shorthand at issuance: it expands to a flat scope set and is never stored.
"""

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

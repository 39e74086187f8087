"""Search by name over matches, teams, players and tournaments, under /cs2/v1/search."""

from collections.abc import Iterator, Mapping, Set
from typing import Annotated, Any

from litestar.params import QueryParameter

from app.channels.rest.dependencies import Rest
from app.domain import scopes
from app.domain.tenant import Grant
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.kit.errors import Field
from app.store import entrants, search
from app.store.entrants import E, EntrantTable, folded
from app.store.transaction import Tx
from app.wire.views.search import (
    HitView,
    Kind,
    SearchView,
    match_hit,
    player_hit,
    search_view,
    team_hit,
    tournament_hit,
)

#: The scope that each type requires; also the order of types at equal scores.
_NEEDS: dict[Kind, str] = {
    "match": scopes.LIST,
    "team": scopes.TEAMS_LIST,
    "player": scopes.PLAYERS_LIST,
    "tournament": scopes.TOURNAMENTS_LIST,
}


def _wrong(query: Mapping[str, str]) -> Iterator[Field]:
    q, types = query.get("q"), query.get("types")
    if q is not None and len(folded(q)) < search.MIN_QUERY_LENGTH:
        yield Field(("query", "q"), "Give at least two letters.", "too_short", q)
    if not _requested(types) <= _NEEDS.keys():
        what = "The types are match, team, player and tournament, with commas between."
        yield Field(("query", "types"), what, "unknown_type", types)


_OPT: dict[str, Any] = {"sport": "cs2", "query_rule": _wrong}
_NAMES = 50  #: teams and tournaments by which matches are found


@get("/cs2/v1/search", opt=_OPT)
async def search_names(
    request: AuthenticatedRequest,
    rest: Rest,
    q: Annotated[str, QueryParameter(min_length=2, max_length=100, description="At least two letters.")],
    types: Annotated[
        str | None,
        QueryParameter(description="Only these, with commas between: match, team, player, tournament."),
    ] = None,
    limit: Annotated[int, QueryParameter(ge=1, le=50, description="Hits at most.")] = 20,
) -> SearchView:
    """Matches, teams, players and tournaments by name, the best first; types that the key may not list are
    left out."""
    requested = _requested(types)
    searched = tuple(
        kind for kind, scope in _NEEDS.items() if kind in requested and scope in request.auth.scopes
    )
    async with rest.store.snapshot() as tx:
        hits = [hit for kind in searched for hit in await _FINDERS[kind](tx, request.auth, q, limit)]
    best = sorted(hits, key=lambda hit: -hit.score)[:limit]
    return search_view(q, searched, tuple(best))


def _requested(types: str | None) -> Set[str]:
    return _NEEDS.keys() if types is None else frozenset(types.split(","))


async def _teams(tx: Tx, grant: Grant, q: str, limit: int) -> list[HitView]:
    found = await _named(tx, entrants.TEAMS, grant, q, limit)
    return [team_hit(team, score) for team, score in found]


async def _tournaments(tx: Tx, grant: Grant, q: str, limit: int) -> list[HitView]:
    found = await _named(tx, entrants.TOURNAMENTS, grant, q, limit)
    return [tournament_hit(tournament, score) for tournament, score in found]


async def _players(tx: Tx, grant: Grant, q: str, limit: int) -> list[HitView]:
    found = await _named(tx, entrants.PLAYERS, grant, q, limit)
    teams = await entrants.by_number(tx, entrants.TEAMS, [player.team_id for player, _ in found])
    return [player_hit(player, teams.get(player.team_id), score) for player, score in found]


async def _matches(tx: Tx, grant: Grant, q: str, limit: int) -> list[HitView]:
    teams = await _named(tx, entrants.TEAMS, grant, q, _NAMES)
    tournaments = await _named(tx, entrants.TOURNAMENTS, grant, q, _NAMES)
    found = await search.matches(
        tx,
        {team.id: score for team, score in teams},
        {tournament.id: score for tournament, score in tournaments},
        limit=limit,
        finished_only=grant.finished_only,
    )
    return [match_hit(match, score) for match, score in found]


async def _named(tx: Tx, table: EntrantTable[E], grant: Grant, q: str, limit: int) -> list[tuple[E, float]]:
    return await search.named(tx, table, q, limit=limit, finished_only=grant.finished_only)


_FINDERS = {"match": _matches, "team": _teams, "player": _players, "tournament": _tournaments}

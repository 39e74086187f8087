"""Players, under /cs2/v1/players."""

from collections.abc import Iterator, Mapping
from typing import Annotated

from litestar.params import FromPath, QueryParameter

from app.channels.rest.dependencies import (
    Cursor,
    Limit,
    Rest,
    Window,
    after_cursor,
    find_player,
    options,
    page,
)
from app.domain import scopes
from app.domain.analytics import window_start
from app.domain.ids import entrant_number
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.kit.errors import Field
from app.store import entrants, statistics
from app.wire.views.entrants import PlayerView, player_view
from app.wire.views.meta import Many, Single
from app.wire.views.profiles import PlayerDetailView, player_detail_view

_TEAM = ("competitor", "team")  #: the kinds of a team's URN


def _wrong_team(query: Mapping[str, str]) -> Iterator[Field]:
    ref = query.get("team_id")
    if ref is not None and entrant_number(ref, *_TEAM) is None:
        what = "A team is named by its number, or by a URN that ends in it."
        yield Field(("query", "team_id"), what, "entrant_id", ref)


_LISTING = options(scopes.PLAYERS_LIST) | {"query_rule": _wrong_team}
_DETAIL = options(scopes.PLAYERS_READ)
_MAPS = 5000  #: the newest maps of a player that are counted


@get("/cs2/v1/players", opt=_LISTING)
async def list_players(
    request: AuthenticatedRequest,
    rest: Rest,
    team_id: Annotated[
        str | None, QueryParameter(description="Players of this team only: its number or its URN.")
    ] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Many[PlayerView]:
    """Players: those of files by their numbers there, then in the order in which matches first had them; none
    for an unknown team."""
    parents = None if team_id is None else [_team(team_id)]
    async with rest.store.snapshot() as tx:
        found = await entrants.listing(
            tx,
            entrants.PLAYERS,
            after=after_cursor(cursor),
            limit=limit + 1,
            finished_only=request.auth.finished_only,
            parents=parents,
        )
        teams = await entrants.by_number(tx, entrants.TEAMS, [player.team_id for player in found])
    return page(found, limit, lambda player: player_view(player, teams.get(player.team_id)))


def _team(ref: str) -> int:
    return min(entrant_number(ref, *_TEAM) or 0, 2**31 - 1)


@get("/cs2/v1/players/{player_id:str}", opt=_DETAIL)
async def get_player(
    request: AuthenticatedRequest, rest: Rest, player_id: FromPath[str], time_filter: Window = "3months"
) -> Single[PlayerDetailView]:
    """A player, with statistics for each map."""
    since = window_start(time_filter, rest.clock())
    async with rest.store.snapshot() as tx:
        player = await find_player(tx, request.auth, player_id)
        teams = await entrants.by_number(tx, entrants.TEAMS, [player.team_id])
        tallies = await statistics.of_players(tx, [player.account], since=since, limit=_MAPS)
    counts = [(tally.map_name, tally.tally) for tally in tallies]
    return Single(player_detail_view(player, teams.get(player.team_id), time_filter, counts))

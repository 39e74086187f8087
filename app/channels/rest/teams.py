"""Teams, under /cs2/v1/teams: profiles, and statistics of their finished maps."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

from litestar.params import FromPath, QueryParameter

from app.channels.rest.dependencies import Cursor, Limit, Rest, Window, after_cursor, find_team, options, page
from app.domain import scopes
from app.domain.analytics import window_start
from app.domain.match import Match
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.kit.errors import Field, Invalid
from app.store import entrants, listings, statistics
from app.store.transaction import Tx
from app.wire.views.entrants import TeamView, named_player, team_view
from app.wire.views.meetings import HeadToHeadView, head_to_head_view
from app.wire.views.meta import Many, Single
from app.wire.views.profiles import ExtrasView, TeamDetailView, Venue, extras_view, team_detail_view

_TEAM = "/cs2/v1/teams/{team_id:str}"
_READ, _LISTING = options(scopes.TEAMS_READ), options(scopes.TEAMS_LIST)
_MAPS = 5000  #: the newest maps of a team that are counted
_MATCHES = 1000  #: and its newest matches
_VENUES: dict[bool | None, Venue] = {True: "lan", False: "online", None: "unknown"}


@get("/cs2/v1/teams", opt=_LISTING)
async def list_teams(
    request: AuthenticatedRequest,
    rest: Rest,
    region: Annotated[
        str | None, QueryParameter(max_length=100, description="The region, as teams show it, in any case.")
    ] = None,
    is_active: Annotated[
        bool | None, QueryParameter(description="Teams that still play (true), or no longer (false).")
    ] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Many[TeamView]:
    """Teams by number."""
    async with rest.store.snapshot() as tx:
        found = await entrants.listing(
            tx,
            entrants.TEAMS,
            after=after_cursor(cursor),
            limit=limit + 1,
            finished_only=request.auth.finished_only,
            region=region,
            active=is_active,
        )
    return page(found, limit, team_view)


@get(_TEAM, opt=_READ)
async def get_team(
    request: AuthenticatedRequest, rest: Rest, team_id: FromPath[str], time_filter: Window = "3months"
) -> Single[TeamDetailView]:
    """A team, its squad, and its statistics for each map."""
    since = window_start(time_filter, rest.clock())
    async with rest.store.snapshot() as tx:
        team = await find_team(tx, request.auth, team_id)
        lines = await statistics.of_team(tx, team.id, since=since, limit=_MAPS)
    counts = [(line.map_name, line.line) for line in lines]
    return Single(team_detail_view(team, time_filter, map(named_player, team.players), counts))


@get(f"{_TEAM}/extras", opt=_READ)
async def get_team_extras(
    request: AuthenticatedRequest, rest: Rest, team_id: FromPath[str], time_filter: Window = "3months"
) -> Single[ExtrasView]:
    """Statistics computed at each call: races, headshots, conversions, overtimes, venues and vetoes."""
    since = window_start(time_filter, rest.clock())
    async with rest.store.snapshot() as tx:
        team = await find_team(tx, request.auth, team_id)
        lines = await statistics.of_team(tx, team.id, since=since, limit=_MAPS)
        played = await listings.of_team(tx, team.id, since=since, limit=_MATCHES)
        venues = await _venues(tx, team.id, played)
    return Single(extras_view(team, time_filter, [line.line for line in lines], venues, played))


async def _venues(tx: Tx, team: int, played: Sequence[Match]) -> dict[Venue, tuple[int, int]]:
    """Matches played and won, by venue."""
    tournaments = await entrants.by_number(
        tx, entrants.TOURNAMENTS, [match.tournament_id for match in played]
    )
    counted, won = Counter[Venue](), Counter[Venue]()
    for match in played:
        tournament = tournaments.get(match.tournament_id)
        venue = _VENUES[tournament.on_lan if tournament else None]
        counted[venue] += 1
        won[venue] += match.winner == ("home" if match.home_id == team else "away")
    return {venue: (counted[venue], won[venue]) for venue in counted}


@get(f"{_TEAM}/h2h/{{opponent_id:str}}", opt=_READ)
async def get_head_to_head(
    request: AuthenticatedRequest,
    rest: Rest,
    team_id: FromPath[str],
    opponent_id: FromPath[str],
    time_filter: Window = "all",
    limit: Annotated[int, QueryParameter(ge=1, le=50, description="Matches to show at most.")] = 10,
) -> Single[HeadToHeadView]:
    """Two teams' finished matches against each other, as the first sees them."""
    since = window_start(time_filter, rest.clock())
    async with rest.store.snapshot() as tx:
        team = await find_team(tx, request.auth, team_id)
        opponent = await find_team(tx, request.auth, opponent_id, parameter="opponent_id")
        if team.id == opponent.id:
            what = "A team does not play against itself."
            raise Invalid(Field(("path", "opponent_id"), what, "same_team", opponent_id))
        met = await listings.head_to_head(tx, team.id, opponent.id, since=since, limit=_MATCHES)
        ids = [match.id for match in met]
        lines = [
            [line.line for line in await statistics.of_matches(tx, one.id, ids)] for one in (team, opponent)
        ]
    view = head_to_head_view(team, opponent, time_filter, met, (lines[0], lines[1]), shown=limit)
    return Single(view)

"""Soccer profiles, under /soccer/v1, for every key that may use the sport."""

from typing import Any

from litestar.params import FromPath

from app.channels.rest.dependencies import (
    Cursor,
    Limit,
    Rest,
    after_cursor,
    found_or_404,
    page,
    parse_reference,
)
from app.http.handlers import get
from app.store import entrants
from app.store.entrants import SOCCER_COMPETITORS, SOCCER_TOURNAMENTS
from app.wire.views.meta import Many, Single
from app.wire.views.soccer import (
    SoccerCompetitorView,
    SoccerTournamentDetailView,
    SoccerTournamentView,
    soccer_competitor_view,
    soccer_tournament_detail_view,
    soccer_tournament_view,
)

_READ: dict[str, Any] = {"sport": "soccer"}


@get("/soccer/v1/competitors", opt=_READ)
async def list_soccer_competitors(
    rest: Rest, cursor: Cursor = None, limit: Limit = 50
) -> Many[SoccerCompetitorView]:
    """Clubs and national teams by number."""
    async with rest.store.autocommit() as tx:
        found = await entrants.listing(tx, SOCCER_COMPETITORS, after=after_cursor(cursor), limit=limit + 1)
    return page(found, limit, lambda one: soccer_competitor_view(one, rest.soccer_prefix))


@get("/soccer/v1/competitors/{competitor_id:str}", opt=_READ)
async def get_soccer_competitor(rest: Rest, competitor_id: FromPath[str]) -> Single[SoccerCompetitorView]:
    """A club or a national team."""
    number = parse_reference("competitor", competitor_id, "competitor")
    async with rest.store.autocommit() as tx:
        found = found_or_404(await entrants.get(tx, SOCCER_COMPETITORS, number), "competitor", competitor_id)
    return Single(soccer_competitor_view(found, rest.soccer_prefix))


@get("/soccer/v1/tournaments", opt=_READ)
async def list_soccer_tournaments(
    rest: Rest, cursor: Cursor = None, limit: Limit = 50
) -> Many[SoccerTournamentView]:
    """Competitions by number."""
    async with rest.store.autocommit() as tx:
        found = await entrants.listing(tx, SOCCER_TOURNAMENTS, after=after_cursor(cursor), limit=limit + 1)
    return page(found, limit, lambda one: soccer_tournament_view(one, rest.soccer_prefix))


@get("/soccer/v1/tournaments/{tournament_id:str}", opt=_READ)
async def get_soccer_tournament(
    rest: Rest, tournament_id: FromPath[str]
) -> Single[SoccerTournamentDetailView]:
    """A competition and its participants."""
    number = parse_reference("tournament", tournament_id, "competition", "tournament")
    async with rest.store.snapshot() as tx:
        found = found_or_404(await entrants.get(tx, SOCCER_TOURNAMENTS, number), "tournament", tournament_id)
        playing = await entrants.by_ids(tx, SOCCER_COMPETITORS, found.competitor_ids)
    return Single(soccer_tournament_detail_view(found, playing, rest.soccer_prefix))

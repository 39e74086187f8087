"""Tournaments, under /cs2/v1/tournaments."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Annotated

from litestar.params import FromPath, QueryParameter

from app.channels.rest.dependencies import (
    Cursor,
    Limit,
    Rest,
    after_cursor,
    find_category,
    find_tournament,
    options,
    page,
)
from app.domain import scopes
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.kit.errors import Field
from app.store import entrants
from app.store.transaction import Tx
from app.wire.views.entrants import (
    TournamentDetailView,
    TournamentView,
    tournament_detail_view,
    tournament_view,
)
from app.wire.views.meta import Many, Single


def _wrong_day(query: Mapping[str, str]) -> Iterator[Field]:
    day = query.get("from")
    try:
        if day is not None:
            _begin(day)
    except ValueError:
        yield Field(("query", "from"), "A day looks like 2031-04-02.", "date", day)


_LISTING = options(scopes.TOURNAMENTS_LIST) | {"query_rule": _wrong_day}
_DETAIL = options(scopes.TOURNAMENTS_READ)


@get("/cs2/v1/tournaments", opt=_LISTING)
async def list_tournaments(
    request: AuthenticatedRequest,
    rest: Rest,
    tier: Annotated[
        str | None, QueryParameter(pattern="^[SABCDsabcd]$", description="S, A, B, C or D, in any case.")
    ] = None,
    is_lan: Annotated[
        bool | None, QueryParameter(description="Those played in one place (true), or online (false).")
    ] = None,
    region: Annotated[
        str | None,
        QueryParameter(max_length=100, description="The region or country they are sorted under."),
    ] = None,
    first_day: Annotated[
        str | None,
        QueryParameter(
            name="from", description="Those that begin on this day (UTC) or later, as in 2031-04-02."
        ),
    ] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Many[TournamentView]:
    """Tournaments by number. One without the value that a filter needs is left out."""
    async with rest.store.snapshot() as tx:
        found = await entrants.listing(
            tx,
            entrants.TOURNAMENTS,
            after=after_cursor(cursor),
            limit=limit + 1,
            finished_only=request.auth.finished_only,
            tier=tier and tier.upper(),
            is_lan=is_lan,
            parents=None if region is None else await _categories(tx, region),
            starts_from=None if first_day is None else _begin(first_day),
        )
        regions = await entrants.by_number(tx, entrants.CATEGORIES, [one.category_id for one in found])
    return page(found, limit, lambda one: tournament_view(one, regions.get(one.category_id)))


async def _categories(tx: Tx, name: str) -> list[int]:
    return [one.id for one in await entrants.named(tx, entrants.CATEGORIES, [name])]


def _begin(day: str) -> int:
    return int(datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=UTC).timestamp() * 1000)


@get("/cs2/v1/tournaments/{tournament_id:str}", opt=_DETAIL)
async def get_tournament(
    request: AuthenticatedRequest, rest: Rest, tournament_id: FromPath[str]
) -> Single[TournamentDetailView]:
    """A tournament and its participating teams."""
    async with rest.store.snapshot() as tx:
        found = await find_tournament(tx, request.auth, tournament_id)
        region = await find_category(tx, found)
    return Single(tournament_detail_view(found, region))

"""The markets of a match, and of each its price and suspensions through time, as a table and as a plot; and
as the file that REST has, of one market and of all.

A history reaches back as far as the change log, which is retained for some hours.
"""

from collections.abc import AsyncIterator
from typing import NamedTuple
from uuid import UUID

from litestar import Response
from litestar.params import FromPath, FromQuery
from litestar.response import Stream

from app.access.reach import match_within, reach_of
from app.domain import scopes
from app.domain.ids import match_urn
from app.domain.market import Market, MarketKey, key_of_name, market_name
from app.domain.match import Match
from app.domain.tenant import Tenant
from app.http.handlers import get
from app.kit.csv_rows import CSV_WITH_HEADER
from app.kit.errors import Field, Invalid, NotFound
from app.sites.pages.forms import NEWEST, Before
from app.sites.pages.market_history import CHANGES, POINTS, PriceHistory, kind_of_change, price_history
from app.sites.pages.market_names import names_of
from app.sites.pages.rendering import HEADERS, download_headers, page, texts_for
from app.sites.pages.sessions import SignedInRequest
from app.sites.portal.dependencies import Portal
from app.sites.portal.site import market_path, markets_path, new_claim_path, prices_path
from app.store import market_history as history
from app.store import markets
from app.store.transaction import Tx
from app.wire.views.prices import price_views, prices_csv

_MARKETS = 100  #: rows of a page
_FILE_ROWS = 100  #: changes read at a time: other requests are served between two pieces
_FIRST: MarketKey = (0, "")


class MarketRow(NamedTuple):
    """A market of the list."""

    market: Market
    name: str
    path: str


@get("/matches/{ref:str}/markets", opt={"query": ("after",)})
async def match_markets(
    request: SignedInRequest, portal: Portal, ref: FromPath[str], after: FromQuery[str] = ""
) -> Response[str]:
    """The markets that a match ever had, by type and specifiers."""
    start = key_of_name(after) if after else _FIRST
    if start is None:
        raise Invalid(Field(("query", "after"), "Follow the links of this page.", "position", after[:100]))
    async with portal.store.snapshot() as tx:
        match = await _match(tx, request, ref)
        found = await markets.page_of_match(
            tx, match.id, request.auth.tenant.offer, after=start, limit=_MARKETS + 1
        )
        names = await names_of(tx, texts_for(request), (each.key for each in found))
    shown = found[:_MARKETS]
    rows = [
        MarketRow(each, names.name(each.key, match.home, match.away), market_path(match.number, each.key))
        for each in shown
    ]
    return page(
        request,
        "match_markets.html",
        match=match,
        urn=match_urn(match.number),
        rows=rows,
        path=markets_path(match.number),
        file=prices_path(match.number),
        after=market_name(*shown[-1].key) if len(found) > _MARKETS else "",
    )


@get("/matches/{ref:str}/markets/{name:str}", opt={"query": ("before",)})
async def market_history(
    request: SignedInRequest, portal: Portal, ref: FromPath[str], name: FromPath[str], before: Before = NEWEST
) -> Response[str]:
    """What the change log has of a market, newest first, and where its plot is."""
    tenant = request.auth.tenant
    async with portal.store.snapshot() as tx:
        match = await _match(tx, request, ref)
        market = await _market(tx, tenant, match, name)
        found = await history.newest(tx, tenant, match.id, market.key, before=before, limit=CHANGES)
        begins_at = await history.begins_at(tx)
        names = await names_of(tx, texts_for(request), [market.key])
    return page(
        request,
        "market_history.html",
        match=match,
        urn=match_urn(match.number),
        market=market,
        market_name=names.name(market.key, match.home, match.away),
        own_path=market_path(match.number, market.key),
        markets_path=markets_path(match.number),
        claim_path=new_claim_path(match.number, market.key),
        begins_at=begins_at,
        rows=[(each, kind_of_change(each)) for each in found.changes],
        older=found.older,
    )


@get("/matches/{ref:str}/markets/{name:str}/history.json")
async def market_plot(
    request: SignedInRequest, portal: Portal, ref: FromPath[str], name: FromPath[str]
) -> Response[PriceHistory]:
    """What the plot shows, times in Unix ms."""
    tenant = request.auth.tenant
    async with portal.store.snapshot() as tx:
        match = await _match(tx, request, ref)
        market = await _market(tx, tenant, match, name)
        found = await history.newest(tx, tenant, match.id, market.key, limit=POINTS)
    plotted = await price_history(found, texts_for(request).locale)
    return Response(plotted, media_type="application/json", headers=dict(HEADERS))


@get("/matches/{ref:str}/markets/{name:str}/prices.csv", opt={"concurrency_limited": True})
async def market_file(
    request: SignedInRequest, portal: Portal, ref: FromPath[str], name: FromPath[str]
) -> Stream:
    """The history of a market, oldest first, as CSV."""
    async with portal.store.snapshot() as tx:
        match = await _match(tx, request, ref)
        market = await _market(tx, request.auth.tenant, match, name)
    return _file(request, portal, match, market.key)


@get("/matches/{ref:str}/prices.csv", opt={"concurrency_limited": True})
async def match_file(request: SignedInRequest, portal: Portal, ref: FromPath[str]) -> Stream:
    """The history of all markets of a match, oldest first, as CSV."""
    async with portal.store.snapshot() as tx:
        match = await _match(tx, request, ref)
    return _file(request, portal, match, None)


def _file(request: SignedInRequest, portal: Portal, match: Match, key: MarketKey | None) -> Stream:
    return Stream(
        _lines(portal, request.auth.tenant, match.id, key),
        media_type=CSV_WITH_HEADER,
        headers=download_headers(f"prices-{match.number}.csv"),
    )


async def _lines(portal: Portal, tenant: Tenant, match_id: UUID, key: MarketKey | None) -> AsyncIterator[str]:
    """The lines of the file, in pieces, up to what is the newest change when they are read."""
    yield prices_csv(())
    since, more = 0, True
    while more:
        async with portal.store.snapshot() as tx:
            found = await history.following(tx, tenant, match_id, key, after=since, limit=_FILE_ROWS)
        since, more = found.reached, found.more
        views = price_views(found.changes, probabilities=tenant.probabilities, settlements=True)
        yield prices_csv(views, header=False)


async def _match(tx: Tx, request: SignedInRequest, ref: str) -> Match:
    tenant = request.auth.tenant
    reach = await reach_of(tx, tenant, scopes.MARKETS, scopes.SETTLEMENTS)
    return await match_within(tx, tenant.id, reach, ref)


async def _market(tx: Tx, tenant: Tenant, match: Match, name: str) -> Market:
    """The market as the tenant sees it now. Raises `NotFound`, also for one that was never offered to it."""
    key = key_of_name(name)
    shown = await markets.offered_now(tx, match.id, key, tenant.offer) if key else None
    if shown is None:
        urn = match_urn(match.number)
        raise NotFound(f"{urn} has no market {name!r}.", code="no_market", match=urn, market=name)
    return shown

"""The prices of a match through time, under /cs2/v1/matches/{id}/prices.

Who polls it has read up to a number of the change log, which numbers what every channel publishes: a request
costs what is new, and is not cached.
"""

from typing import Annotated

from litestar.params import FromPath, QueryParameter

from app.channels.rest.dependencies import Rest, WantedMarkets, options, visible_match, wanted_markets
from app.domain import scopes
from app.domain.ids import match_urn
from app.domain.market import MarketKey, market_name
from app.domain.match import Match
from app.domain.tenant import Tenant
from app.http import response
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.http.representation import Format, ResponseBody, response_format
from app.http.response import RenderedResponse
from app.kit.errors import NotFound
from app.store import market_history, markets
from app.store.transaction import Tx
from app.wire.views.prices import PriceList, PriceMeta, price_views, prices_csv

_ROWS, _MOST = 200, 1000
_SINCE = (
    "The `next_since_seq` of the answer before, or the `x-seq` of the last message that you have; 0: none."
)
_HEADERS = ("X-Next-Since-Seq", "X-More", "X-Complete-From")


@get(
    "/cs2/v1/matches/{match_id:str}/prices",
    opt=options(scopes.MARKETS) | {"csv_response": True, "response_headers": _HEADERS},
)
async def list_match_prices(
    request: AuthenticatedRequest,
    rest: Rest,
    match_id: FromPath[str],
    market: WantedMarkets = None,
    since_seq: Annotated[int, QueryParameter(ge=0, le=2**63 - 1, description=_SINCE)] = 0,
    limit: Annotated[int, QueryParameter(ge=1, le=_MOST, description="Changes at most.")] = _ROWS,
) -> RenderedResponse[PriceList]:
    """Every price, suspension, settlement, void and rollback of the markets of a match, in the order in which
    you could receive them live.

    Results are for keys that may read settlements, too. While a market type was off for you there is nothing
    but results of what was offered before. The history reaches back as far as the change log is retained:
    `complete_from` says from which `seq` on nothing is missing.

    Repeat it with `next_since_seq`: at once while there are `more`, and then whenever you want what is new.
    As CSV (`Accept: text/csv`) it has the same fields in columns, and the headers have what `meta` has.
    """
    tenant = request.auth.tenant
    async with rest.store.snapshot() as tx:
        match = await visible_match(tx, request.auth, match_id)
        wanted = wanted_markets(market)
        if isinstance(wanted, tuple):
            await _check_offered(tx, tenant, match, wanted)
        found = await market_history.following(tx, tenant, match.id, wanted, after=since_seq, limit=limit)
        complete_from = await market_history.complete_from(tx, match)
    views = tuple(
        price_views(
            found.changes,
            probabilities=tenant.probabilities,
            settlements=scopes.SETTLEMENTS in request.auth.scopes,
        )
    )
    if response_format(request.scope) is Format.CSV:
        meta = (found.reached, str(found.more).lower(), complete_from)
        body = ResponseBody(prices_csv(views).encode(), Format.CSV)
        return RenderedResponse(body, extra=dict(zip(_HEADERS, map(str, meta), strict=True)))
    page = PriceMeta(len(views), limit, found.reached, found.more, complete_from)
    return response.negotiated(request, PriceList(views, page))


async def _check_offered(tx: Tx, tenant: Tenant, match: Match, key: MarketKey) -> None:
    """Raise `NotFound` for a market that the match does not have, or that was never offered to the tenant."""
    if await markets.offered_now(tx, match.id, key, tenant.offer) is None:
        urn, name = match_urn(match.number), market_name(*key)
        raise NotFound(f"{urn} has no market {name!r}.", code="no_market", match=urn, market=name)

"""What a page of all matches in play reads: which of them have changed, and how many of their markets are on
offer.
"""

from collections.abc import Collection
from typing import Any, NamedTuple
from uuid import UUID

from piccolo.query import Select
from piccolo.query.functions import Count
from piccolo.querystring import QueryString

from app.domain.market import MarketStatus
from app.domain.status import Status
from app.store.prepared import prepared
from app.store.sql import OPEN_CODES, any_of, literals
from app.store.tables.match import Market, Match
from app.store.transaction import Tx


class MarketCount(NamedTuple):
    """How many open markets of a match have a status, for a reason."""

    status: MarketStatus
    reason: str
    markets: int


async def versions(tx: Tx) -> dict[UUID, str]:
    """The live matches, each with the version of its row: another one after every change of the match, or of
    its markets, and on a server that may have assigned numbers of versions again."""
    return {row["id"]: f"{tx.history}/{row['version']}" for row in await tx.run(_versions())}


async def market_counts(tx: Tx, ids: Collection[UUID]) -> dict[UUID, list[MarketCount]]:
    """The open markets of each of these matches, counted; most frequent first."""
    found: dict[UUID, list[MarketCount]] = {one: [] for one in ids}
    if found:
        for row in await tx.run(_market_counts(list(ids))):
            count = MarketCount(MarketStatus(row["status"]), row["reason"], row["markets"])
            found[row["match_id"]].append(count)
    return found


@prepared
def _versions() -> Select[Any]:
    version = QueryString("xmin::text", alias="version")
    live = Match.status.is_in(literals((Status.LIVE,)))
    return Match.select(Match.id, version).where(live)


@prepared
def _market_counts(ids: Collection[UUID]) -> Select[Any]:
    columns = (Market.match_id, Market.status, Market.reason)
    query = Market.select(*columns, Count(alias="markets")).where(any_of(Market.match_id, ids))
    query = query.where(Market.status.is_in(OPEN_CODES)).group_by(*columns)
    return query.order_by(QueryString("count(*) DESC, {}, {}", Market.status, Market.reason))

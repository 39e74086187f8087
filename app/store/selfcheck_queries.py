"""The open markets of one tenant's matches, in the few columns that a self-check compares."""

from collections.abc import Collection
from uuid import UUID

from app.domain.match import Status
from app.domain.selfcheck import Quotes
from app.store.matches import MatchPosition
from app.store.sql import OPEN_MARKETS, booked
from app.store.transaction import Tx

_BOOKED = f"""
SELECT m.id, m.number, m.last_seq AS seq FROM match m
WHERE {booked("$1")}
AND (NOT $2::bool OR m.status = '{Status.FINISHED}')
"""
_NAMED = "(m.number = ANY($3::bigint[]) OR m.id = ANY($4::uuid[]))"
_OFFERED = f"EXISTS (SELECT FROM market k WHERE k.match_id = m.id AND k.status IN {OPEN_MARKETS})"
#: The codes of open markets are 1 and -1, the sign in `Quotes`; names are `market_name`s.
_QUOTES = f"""
SELECT match_id, type_id || ':' || specifiers AS market, status * (odds * 1000)::int AS quote FROM market
WHERE match_id = ANY($1) AND status IN {OPEN_MARKETS}
"""


async def positions(
    tx: Tx,
    tenant_id: UUID,
    *,
    finished_only: bool,
    numbers: Collection[int],
    ids: Collection[UUID],
    everything: bool,
) -> list[MatchPosition]:
    """The booked matches with these numbers or ids, by number; with `everything` also all other booked ones
    that have an open market."""
    wanted = f"({_NAMED} OR {_OFFERED})" if everything else _NAMED
    sql = f"{_BOOKED} AND {wanted} ORDER BY m.number"
    rows = await tx.fetch(sql, tenant_id, finished_only, list(numbers), list(ids))
    return [MatchPosition(**row) for row in rows]


async def open_quotes(tx: Tx, match_ids: Collection[UUID]) -> dict[UUID, Quotes]:
    """The open markets of these matches; a match without any is omitted."""
    found: dict[UUID, Quotes] = {}
    for row in await tx.fetch(_QUOTES, list(match_ids)):
        found.setdefault(row["match_id"], {})[row["market"]] = row["quote"]
    return found

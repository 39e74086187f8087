"""The settlement ledger of all matches, under /cs2/v1/settlements; that of one match is in `matches`."""

from typing import Annotated, Any

from litestar.di import NamedDependency
from litestar.params import QueryParameter

from app.channels.rest.dependencies import RestDependencies
from app.channels.rest.parameters import Limit
from app.domain import scopes
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.store import history
from app.wire.views.meta import ListMeta, Many
from app.wire.views.offers import SettlementView, settlement_view

_OPT: dict[str, Any] = {
    "sport": "cs2",
    "scopes": (scopes.SETTLEMENTS,),
    "query": ("since_id", "limit"),
}


@get("/cs2/v1/settlements", opt=_OPT)
async def list_settlements(
    request: AuthenticatedRequest,
    rest: NamedDependency[RestDependencies],
    since_id: Annotated[
        int,
        QueryParameter(ge=0, le=2**63 - 1, description="The `id` of the last entry that you have; 0: none."),
    ] = 0,
    limit: Limit = 50,
) -> Many[SettlementView]:
    """Entries after `since_id`, oldest first. Entries are only ever appended: the last row's `id` is the next
    `since_id`; without a row, repeat the same one."""
    async with rest.store.autocommit() as tx:
        found = await history.ledger_since(
            *(tx, since_id, limit, request.auth.tenant.types_off), finished_only=request.auth.finished_only
        )
    shown = tuple(settlement_view(*each) for each in found)
    return Many(shown, ListMeta(len(shown), limit))

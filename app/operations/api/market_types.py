"""The market types that are on or off for a tenant, under /ops/v1/tenants/{slug}/market-types."""

from typing import Any

import msgspec
from litestar import put
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody

from app.access.feed_selection import TypeState, market_types_of, set_market_types
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.kit.clock import iso_millis
from app.operations.api.dependencies import OperatorDependencies
from app.operations.api.shared import OPERATOR, audit_fields, many
from app.operations.api.tenants import TENANT
from app.wire.views.meta import Many, Single

_TYPES = f"{TENANT}/market-types"


class TypeView(msgspec.Struct, frozen=True):
    """A market type: whether it is `on` for the tenant, and when it was switched last (null: never)."""

    id: int
    name: str
    on: bool
    since: str | None


class Switch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    on: bool


@get(_TYPES, opt=OPERATOR)
async def list_market_types(
    ops: NamedDependency[OperatorDependencies], slug: FromPath[str]
) -> Many[TypeView]:
    """Every market type, and whether it is on for the tenant."""
    async with ops.store.autocommit() as tx:
        return many([_view(each) for each in await market_types_of(tx, slug)])


@put(f"{_TYPES}/{{type_id:int}}", opt=OPERATOR)
async def switch_market_type(
    request: AuthenticatedRequest,
    ops: NamedDependency[OperatorDependencies],
    slug: FromPath[str],
    type_id: FromPath[int],
    data: JSONBody[Switch],
) -> Single[TypeView]:
    """Switch a market type on or off for a tenant. Off: its open markets are suspended for the tenant, new
    ones are not offered to it, and results of those that were still arrive."""
    async with ops.grants.changing() as tx:
        states = await set_market_types(tx, slug, (type_id,), data.on, **audit_fields(request, ops.clock))
    (switched,) = (each for each in states if each.type.id == type_id)
    return Single(_view(switched))


def _view(state: TypeState) -> TypeView:
    since = None if state.since is None else iso_millis(state.since)
    return TypeView(state.type.id, state.type.name.en, state.on, since)


HANDLERS: tuple[Any, ...] = (list_market_types, switch_market_type)

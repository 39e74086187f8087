"""The signed ledger under /v1/ledger: heads, leaves, proofs, and the keys that sign.

`docs/ledger.md` says how to verify them. What is shown of leaves depends on the key (`app.ledger.reading`).
"""

from datetime import date
from typing import Annotated

from litestar.params import QueryParameter

from app.channels.rest.dependencies import Rest, options
from app.domain import scopes
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.ledger import reading
from app.store import ledger
from app.wire.views.ledger import (
    ConsistencyProofView,
    HeadView,
    InclusionProofView,
    LeafView,
    LedgerKeyView,
    head_view,
)
from app.wire.views.meta import Many, Single, many

_ROWS, _MOST = 200, 1000
_SCOPES = options(scopes.SETTLEMENTS)
#: The tree of a large day takes a third of a second, on the one thread that other tenants wait for, too.
_PROOF = _SCOPES | {"concurrency_limited": True}
Day = Annotated[date, QueryParameter(description="The day (UTC) whose tree it is.")]
Size = Annotated[int, QueryParameter(ge=1, le=2**31 - 1, description="Leaves of the tree.")]


@get("/v1/ledger/heads", opt=_SCOPES)
async def list_ledger_heads(
    rest: Rest,
    after: Annotated[
        int, QueryParameter(ge=0, le=2**63 - 1, description="The number of the last head that you have.")
    ] = 0,
    limit: Annotated[int, QueryParameter(ge=1, le=_MOST, description="Heads at most.")] = _ROWS,
) -> Many[HeadView]:
    """The signed heads of the ledger after one, oldest first: each hour, and at the end of each day (UTC),
    how many leaves the day has, and the root of their tree."""
    async with rest.store.autocommit() as tx:
        found = await ledger.heads(tx, after, limit=limit)
    return many(map(head_view, found), limit)


@get("/v1/ledger/leaves", opt=_SCOPES)
async def list_ledger_leaves(
    request: AuthenticatedRequest,
    rest: Rest,
    day: Day,
    first: Annotated[
        int, QueryParameter(name="from", ge=0, le=2**31 - 1, description="The index of the first leaf.")
    ] = 0,
    limit: Annotated[int, QueryParameter(ge=1, le=_MOST, description="Leaves at most.")] = _ROWS,
) -> Many[LeafView]:
    """Leaves of a day in order: one for each entry of the settlement ledger. One that is not yours to see has
    its hash alone. `total` is the number of leaves that the day has now."""
    async with rest.store.snapshot() as tx:
        found = await reading.leaves(tx, request.auth, str(day), first, limit)
        total = await ledger.size(tx, str(day))
    return many(found, limit, total)


@get("/v1/ledger/inclusion", opt=_PROOF)
async def get_ledger_inclusion_proof(
    rest: Rest,
    day: Day,
    index: Annotated[int, QueryParameter(ge=0, le=2**31 - 1, description="The leaf's index.")],
    size: Size,
) -> Single[InclusionProofView]:
    """Proof that a leaf is in the tree of a day's first leaves, whose size a head names."""
    return Single(await reading.inclusion_proof(rest.store, str(day), index, size))


@get("/v1/ledger/consistency", opt=_PROOF)
async def get_ledger_consistency_proof(
    rest: Rest,
    day: Day,
    first: Annotated[int, QueryParameter(ge=0, le=2**31 - 1, description="Leaves of the earlier tree.")],
    second: Size,
) -> Single[ConsistencyProofView]:
    """Proof that the tree of one head is the beginning of that of a later head of the same day."""
    return Single(await reading.consistency_proof(rest.store, str(day), first, second))


@get("/v1/ledger/keys", opt={"open": True})
async def list_ledger_keys(rest: Rest) -> Many[LedgerKeyView]:
    """The public keys of the ledger, oldest first; the last one signs. Needs no key."""
    return many(await rest.ledger_keys.latest())


@get("/.well-known/matchfeed-ledger-keys", opt={"open": True})
async def list_well_known_ledger_keys(rest: Rest) -> Many[LedgerKeyView]:
    """The same as `/v1/ledger/keys`."""
    return many(await rest.ledger_keys.latest())

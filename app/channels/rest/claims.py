"""Claims that a result is wrong, under /cs2/v1/claims: make one, follow it, withdraw it."""

from functools import partial
from typing import Annotated
from uuid import UUID

from litestar import post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, QueryParameter
from msgspec import UNSET

from app.channels.rest.dependencies import CreatedCursor, Limit, created_after, options
from app.claims.request import ClaimService, WantedClaim
from app.domain import scopes
from app.domain.claims import ClaimState
from app.domain.market import market_type
from app.domain.match import Match
from app.domain.tenant import Grant
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.kit.errors import Field, Invalid
from app.store import matches
from app.store.claims import ClaimFilter
from app.store.transaction import Tx
from app.wire.views.claims import ClaimView, NewClaim, claim_view
from app.wire.views.meta import Many, Single, many

_BODY_BYTES = 32_768  #: evidence of the longest, in any script, is half of that
_OPT = options(scopes.SETTLEMENTS)
_STATES = f"^({'|'.join(ClaimState)})$"
_CLAIM = "/cs2/v1/claims/{claim_id:uuid}"


@post("/cs2/v1/claims", status_code=201, opt=_OPT, request_max_body_size=_BODY_BYTES)
async def request_claim(
    request: AuthenticatedRequest, claims: NamedDependency[ClaimService], data: JSONBody[NewClaim]
) -> Single[ClaimView]:
    """Claim that the result of a market is wrong: of a match that this key may see, which has a result or a
    void now. A market has one undecided claim of yours at a time, and the number of all of them is limited.
    Its steps are sent as frames `claim.*`, to you alone."""
    key = market_type(data.market_offer_id), data.market_offer_id.partition(":")[2]
    wanted = WantedClaim(
        key=key,
        expected=data.expected,
        reason=data.reason,
        evidence=data.evidence,
        request_id=None if data.request_id is UNSET else data.request_id,
    )
    grant = request.auth
    made = await claims.make(grant.tenant, partial(_match, grant, data.match), wanted, by=grant.actor)
    return Single(claim_view(made))


@get("/cs2/v1/claims", opt=_OPT)
async def list_claims(
    request: AuthenticatedRequest,
    claims: NamedDependency[ClaimService],
    in_state: Annotated[
        str | None, QueryParameter(name="state", pattern=_STATES, description="All, if left out.")
    ] = None,
    cursor: CreatedCursor = None,
    limit: Limit = 50,
) -> Many[ClaimView]:
    """Your claims as they stand, newest first. `next_cursor` leads to the next page and is absent on the
    last."""
    grant = request.auth
    wanted = ClaimFilter(
        tenant_id=grant.tenant.id,
        state=ClaimState(in_state) if in_state else None,
        finished_only=grant.finished_only,
    )
    found, following = await claims.page(wanted, limit, created_after(cursor))
    after = f"{following[0]}.{following[1]}" if following else UNSET
    return many(map(claim_view, found), limit, next_cursor=after)


@get(_CLAIM, opt=_OPT)
async def get_claim(
    request: AuthenticatedRequest, claims: NamedDependency[ClaimService], claim_id: FromPath[UUID]
) -> Single[ClaimView]:
    """One of your claims as it stands."""
    grant = request.auth
    found = await claims.get(grant.tenant, claim_id, finished_only=grant.finished_only)
    return Single(claim_view(found))


@post(f"{_CLAIM}/withdraw", status_code=200, opt=_OPT)
async def request_claim_withdrawal(
    request: AuthenticatedRequest, claims: NamedDependency[ClaimService], claim_id: FromPath[UUID]
) -> Single[ClaimView]:
    """Withdraw one of your claims, while it is open. A repeated request changes nothing."""
    grant = request.auth
    after = await claims.withdraw(grant.tenant, claim_id, by=grant.actor, finished_only=grant.finished_only)
    return Single(claim_view(after))


async def _match(grant: Grant, ref: str, tx: Tx) -> Match:
    match = await matches.find(tx, ref, finished_only=grant.finished_only)
    if match is None:
        raise Invalid(Field(("body", "match"), f"There is no match {ref!r}.", "unknown_match", ref))
    return match

"""Claims of tenants that results are wrong, under /ops/v1/claims: list them, take one, answer it, uphold it.

To uphold one is the command `uphold_claim` on its match: `POST /ops/v1/matches/{id}/commands/preview` shows
what it would do.
"""

from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from litestar import Response, post
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter
from msgspec import UNSET, Meta, UnsetType

from app.claims import answer, steps
from app.commands.execution import Sender
from app.commands.match_commands import UpholdClaim, Words
from app.domain.claims import Claim
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.http.response import ViewResponse
from app.kit.names import Name
from app.operations.api.dependencies import MATCH, OPERATOR, Limit, Operators, wrong_match
from app.operations.api.views import ConsentView, consent_view
from app.store import claims, matches, tenants
from app.store.claims import ClaimFilter
from app.store.consent_requests import ConsentRequest
from app.wire.views.claims import ClaimView, claim_view
from app.wire.views.meta import Many, Single, many
from app.wire.views.offers import SettlementView, settlement_view

_CLAIM = "/ops/v1/claims/{claim_id:uuid}"
_LISTED: dict[str, Any] = OPERATOR | {
    "query": ("undecided", "tenant", "match", "limit"),
    "query_rule": wrong_match,
}
_MAY_WAIT: dict[str, Any] = OPERATOR | {"accepted": Single[ConsentView]}


class OperatorClaimView(msgspec.Struct, frozen=True, kw_only=True):
    """A claim as its `tenant` sees it, and who has done what (actors as in the audit log, null: nobody).
    `consent_id` is the command that waits, or waited, for consent; `late`: undecided past its deadline."""

    claim: ClaimView
    tenant: str
    opened_by: str
    taken_by: str | None
    answered_by: str | None
    consent_id: int | None
    late: bool


class ClaimEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """A claim beside every entry that the ledger has of its market, in order. `outdated`: the result that it
    contests was changed since, so that it can only be answered."""

    claim: OperatorClaimView
    ledger: tuple[SettlementView, ...]
    outdated: bool


class TakeClaim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The sender works on the claim from now on. `instead_of`: who has it, as the sender knows."""

    instead_of: Annotated[str, Meta(max_length=400)] = ""


class ClaimAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The result stands, for the reason in `answer`, which the tenant reads."""

    answer: Annotated[str, Meta(min_length=1, max_length=500)]


class Uphold(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Correct the result: to `result`, or as the tenant expects it. `reason`, for the ledger, is seen by
    every tenant, `answer` by this one. `request_id` and `revision` as of every command."""

    reason: Annotated[str, Meta(min_length=1, max_length=500)]
    result: Literal["won", "lost", "void"] | UnsetType = UNSET
    void_reason_id: Literal[4, 14, 15] = 4
    answer: Words = ""
    request_id: Name | None = None
    revision: Annotated[int, Meta(ge=0)] | None = None


@get("/ops/v1/claims", opt=_LISTED)
async def show_claims(
    ops: Operators,
    undecided: Annotated[bool | None, QueryParameter(description="Both, if left out.")] = None,
    tenant: FromQuery[str | None] = None,
    match: FromQuery[str | None] = None,
    limit: Limit = 100,
) -> Many[OperatorClaimView]:
    """The claims of tenants, newest first."""
    async with ops.store.autocommit() as tx:
        about = None if match is None else await matches.by_ref(tx, match, parameter=MATCH)
        owner = None if tenant is None else await tenants.by_slug(tx, tenant)
        wanted = ClaimFilter(
            tenant_id=owner.id if owner else None,
            match_id=about.id if about else None,
            undecided=undecided,
        )
        found = await claims.page(tx, wanted, limit=limit)
    now = ops.clock()
    return many(_view(each, now) for each in found)


@get(_CLAIM, opt=OPERATOR)
async def show_claim(ops: Operators, claim_id: FromPath[UUID]) -> Single[ClaimEvidence]:
    """A claim, with the evidence of the settlement beside it."""
    async with ops.store.snapshot() as tx:
        shown = await steps.show(tx, claim_id)
    claim = shown.claim
    entries = tuple(settlement_view(claim.match_id, claim.number, each) for each in shown.ledger)
    view = _view(claim, ops.clock())
    return Single(ClaimEvidence(claim=view, ledger=entries, outdated=shown.outdated))


@post(f"{_CLAIM}/take", opt=OPERATOR, status_code=200)
async def take_claim(
    request: AuthenticatedRequest, ops: Operators, claim_id: FromPath[UUID], data: JSONBody[TakeClaim]
) -> Single[OperatorClaimView]:
    """Take an undecided claim."""
    now = ops.clock()
    after = await answer.take(ops.store, claim_id, by=request.auth.actor, now=now, instead_of=data.instead_of)
    return Single(_view(after, now))


@post(f"{_CLAIM}/answer", opt=OPERATOR, status_code=200)
async def answer_claim(
    request: AuthenticatedRequest, ops: Operators, claim_id: FromPath[UUID], data: JSONBody[ClaimAnswer]
) -> Single[OperatorClaimView]:
    """Answer an undecided claim: the result stands."""
    now = ops.clock()
    after = await answer.answer(ops.store, claim_id, data.answer, by=request.auth.actor, now=now)
    return Single(_view(after, now))


@post(f"{_CLAIM}/uphold", opt=_MAY_WAIT, status_code=200)
async def uphold_claim(
    request: AuthenticatedRequest, ops: Operators, claim_id: FromPath[UUID], data: JSONBody[Uphold]
) -> Response[Single[OperatorClaimView]]:
    """Correct the result that a claim contests, with the command `uphold_claim`; returns the claim after it.
    One that needs the consent of a second person is stored, and waits (202)."""
    async with ops.store.autocommit() as tx:
        claim = await claims.get(tx, claim_id)
    if claim is None:
        raise steps.unknown(claim_id)
    command = UpholdClaim(
        claim=claim_id,
        market_id=claim.type_id,
        specifiers=claim.specifiers,
        result=claim.expected.value if data.result is UNSET else data.result,
        **{name: getattr(data, name) for name in ("reason", "void_reason_id", "answer")},
        **{name: getattr(data, name) for name in ("request_id", "revision")},
    )
    caller, now = request.auth, ops.clock()
    sender = Sender(caller.actor, caller.owner)
    found = await ops.commands.send(str(claim.match_id), command, sender, now)
    if isinstance(found, ConsentRequest):
        waiting: Any = Single(consent_view(found, now))
        return ViewResponse(waiting, status_code=202)
    async with ops.store.autocommit() as tx:
        after = await claims.get(tx, claim_id)
    return ViewResponse(Single(_view(after or claim, now)))


def _view(claim: Claim, now: int) -> OperatorClaimView:
    return OperatorClaimView(
        claim=claim_view(claim),
        tenant=claim.tenant,
        opened_by=claim.opened_by,
        taken_by=claim.taken_by,
        answered_by=claim.answered_by,
        consent_id=claim.consent_id,
        late=claim.late(now),
    )

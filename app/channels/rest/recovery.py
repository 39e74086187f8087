"""For clients that keep a book: recoveries, under /cs2/v1/recovery, replay it over AMQP; the self-check
compares it with what is on offer."""

from typing import Annotated

from litestar import post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, QueryParameter

from app.access.selfcheck import BODY_BYTES, compare
from app.channels.rest.dependencies import NodeId, Rest, options
from app.domain import scopes
from app.domain.recovery import RecoveryKind
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.http.request_data import wrong_fields
from app.recovery.request import RecoveryParameters, RecoveryService
from app.wire.views.meta import Single
from app.wire.views.recovery import RecoveryStateView, RecoveryView, recovery_state_view, recovery_view
from app.wire.views.selfcheck import Digest, SelfCheckView

_PROGRESS = options(scopes.RECOVERY)
_REQUEST = _PROGRESS | {
    "required": ("request_id",),
    "handler_checks_query": True,  # the window of `after` depends on what is stored
}
_CHECK = options(scopes.MARKETS) | {"concurrency_limited": True}


@post("/cs2/v1/recovery/initiate_request", status_code=202, opt=_REQUEST)
async def request_recovery(
    request: AuthenticatedRequest,
    recoveries: NamedDependency[RecoveryService],
    after: Annotated[
        str | None, QueryParameter(description="Unix ms of the last processed message; 0: full snapshot.")
    ] = None,
    request_id: Annotated[
        str | None, QueryParameter(description="Digits; repeated in every envelope.")
    ] = None,
    node_id: NodeId = None,
) -> Single[RecoveryView]:
    """Replay the present markets, and what was settled or voided since `after`, over AMQP."""
    parameters = RecoveryParameters(after, request_id, node_id, tuple(wrong_fields(request.scope)))
    job = await recoveries.accept(
        request.auth.tenant, RecoveryKind.REST_FULL, parameters, by=request.auth.actor
    )
    return Single(recovery_view(job))


@get("/cs2/v1/recovery/{request_id:str}", opt=_PROGRESS)
async def get_recovery(
    request: AuthenticatedRequest,
    recoveries: NamedDependency[RecoveryService],
    request_id: FromPath[str],
    node_id: Annotated[str | None, QueryParameter(description="Which of several with one id.")] = None,
) -> Single[RecoveryStateView]:
    """The newest recovery with that request id, and its progress."""
    job = await recoveries.find(request.auth.tenant, request_id, node_id)
    return Single(recovery_state_view(job))


@post("/cs2/v1/selfcheck", status_code=200, opt=_CHECK, request_max_body_size=BODY_BYTES)
async def compare_book(
    request: AuthenticatedRequest, rest: Rest, data: JSONBody[Digest]
) -> Single[SelfCheckView]:
    """Compare a digest of the client's open markets with what is on offer to it at this moment.

    What the client has open on a match that it may not see is `extra`, and what it has active on one that
    the tenant has unbooked: of that the last message suspended everything. Equal books give count 0.
    """
    grant = request.auth
    return Single(await compare(rest.store, grant.tenant.id, data, finished_only=grant.finished_only))

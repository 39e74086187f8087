"""Recovery requests: for everything, or for the odds or the settlements of one match."""

from typing import Annotated, Any

from litestar import post
from litestar.di import NamedDependency
from litestar.params import FromPath, QueryParameter

from app.channels.facade.dependencies import Facade, FacadeDependencies, NodeId, check_product, options
from app.domain import scopes
from app.domain.recovery import RecoveryKind
from app.http.auth import AuthenticatedRequest
from app.http.response import RenderedResponse, as_xml
from app.kit.errors import NotFound
from app.recovery.request import RecoveryParameters, RecoveryService
from app.wire.xml.dialect import SPECIFICATION
from app.wire.xml.responses import Acknowledgement, recovery_accepted

_OPT = options(scopes.RECOVERY)
_ACTION = {
    RecoveryKind.FACADE_FULL: "recovery of {0}",
    RecoveryKind.EVENT_ODDS: "odds recovery of {0}",
    RecoveryKind.EVENT_STATEFUL: "recovery of settlements and cancellations of {0}",
}
#: Path segments in a product's place with which other paths begin.
_OTHER_PREFIXES = ("custombet", "descriptions", "probabilities", "replay", "schemas", "sports")
_MESSAGES = ("recovery", "odds", "stateful_messages")
_After = Annotated[
    str | None, QueryParameter(description="Unix ms of the last processed message; 0: full snapshot.")
]
_RequestId = Annotated[str | None, QueryParameter(description="Digits; repeated in every envelope.")]


@post(
    "/v1/{product:str}/recovery/initiate_request",
    status_code=SPECIFICATION.accepted_status,
    opt=_OPT | {"required": ("request_id",), "remembered_when_refused": True},
)
async def request_facade_recovery(
    request: AuthenticatedRequest,
    facade: Facade,
    recoveries: NamedDependency[RecoveryService],
    product: FromPath[str],
    after: _After = None,
    request_id: _RequestId = None,
    node_id: NodeId = None,
) -> RenderedResponse[Any]:
    """Replay the present markets, and what changed since `after`, over AMQP."""
    check_product(product, facade.producer)
    return await _accept(
        facade, recoveries, request, RecoveryKind.FACADE_FULL, RecoveryParameters(after, request_id, node_id)
    )


@post(
    "/v1/{product:str}/odds/events/{event_id:str}/initiate_request",
    status_code=SPECIFICATION.accepted_status,
    opt=_OPT,
)
async def request_facade_event_odds(
    request: AuthenticatedRequest,
    facade: Facade,
    recoveries: NamedDependency[RecoveryService],
    product: FromPath[str],
    event_id: FromPath[str],
    request_id: _RequestId = None,
    node_id: NodeId = None,
) -> RenderedResponse[Any]:
    """Replay the open markets of one match, active and suspended, over AMQP; without a request id, one
    is generated and returned."""
    check_product(product, facade.producer)
    parameters = RecoveryParameters(None, request_id, node_id)
    return await _accept(facade, recoveries, request, RecoveryKind.EVENT_ODDS, parameters, event_id)


@post(
    "/v1/{product:str}/stateful_messages/events/{event_id:str}/initiate_request",
    status_code=SPECIFICATION.accepted_status,
    opt=_OPT,
)
async def request_facade_event_results(
    request: AuthenticatedRequest,
    facade: Facade,
    recoveries: NamedDependency[RecoveryService],
    product: FromPath[str],
    event_id: FromPath[str],
    request_id: _RequestId = None,
    node_id: NodeId = None,
) -> RenderedResponse[Any]:
    """Replay the settlements and cancellations of one match over AMQP; without a request id, one is
    generated."""
    check_product(product, facade.producer)
    parameters = RecoveryParameters(None, request_id, node_id)
    return await _accept(facade, recoveries, request, RecoveryKind.EVENT_STATEFUL, parameters, event_id)


async def _accept(
    facade: FacadeDependencies,
    recoveries: RecoveryService,
    request: AuthenticatedRequest,
    kind: RecoveryKind,
    parameters: RecoveryParameters,
    event_id: str | None = None,
) -> RenderedResponse[Any]:
    grant = request.auth
    job = await recoveries.accept(
        grant.tenant,
        kind,
        parameters,
        event_id,
        by=grant.actor,
        finished_only=grant.finished_only,
        dialect=facade.dialect,
    )
    acknowledgement = Acknowledgement(
        request_id=job.request.request_id,
        action=_ACTION[kind].format(event_id or "all matches"),
        scheduled_at=job.accepted_at,
        node_id=job.request.node_id,
        after=job.request.after if event_id is None else None,
    )
    return as_xml(recovery_accepted(acknowledgement), facade.dialect.accepted_status)


@post(
    [
        *(f"/v1/{prefix}/recovery/initiate_request" for prefix in _OTHER_PREFIXES),
        *(
            f"/v1/{prefix}/{{messages:str}}/events/{{event_id:str}}/initiate_request"
            for prefix in _OTHER_PREFIXES
        ),
    ],
    opt=_OPT,
    include_in_schema=False,
)
async def unknown_product(request: AuthenticatedRequest, facade: Facade) -> None:
    """Refuse such a segment as an unknown product; the framework would route it to the other paths."""
    segment, messages = request.scope["path"].split("/")[2:4]
    if messages in _MESSAGES:
        check_product(segment, facade.producer)
    raise NotFound("There is nothing at this address.")

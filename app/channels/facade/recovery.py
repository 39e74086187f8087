"""Being told again: everything, or the odds or the settlements of one match."""

from typing import Annotated, Any

from litestar import post
from litestar.di import NamedDependency
from litestar.params import FromPath, QueryParameter

from app.channels.facade import route_options
from app.channels.facade.dependencies import FacadeDependencies
from app.channels.facade.path_parameters import check_product
from app.domain import scopes
from app.domain.recovery import RecoveryKind
from app.http.auth import Caller
from app.http.response import RenderedResponse, as_xml
from app.kit.errors import NotFound
from app.recovery.request import RecoveryParameters, RecoveryService
from app.wire.envelopes.dialect import ACCEPTED_STATUS
from app.wire.envelopes.responses import Acknowledgement, accepted

_ASKING = route_options.options(scopes.RECOVERY)
_ACTION = {
    RecoveryKind.GLOBAL: "recovery of {0}",
    RecoveryKind.EVENT_ODDS: "odds recovery of {0}",
    RecoveryKind.EVENT_STATEFUL: "recovery of settlements and cancellations of {0}",
}
#: The words in a product's place that other paths begin with.
_WORDS = ("descriptions", "schemas", "sports")
_MESSAGES = ("recovery", "odds", "stateful_messages")
_After = Annotated[
    str | None, QueryParameter(description="Unix ms of the last processed message; 0: full snapshot.")
]
_RequestId = Annotated[str | None, QueryParameter(description="Digits; repeated in every envelope.")]
_NodeId = Annotated[str | None, QueryParameter(description="Digits; ends every routing key.")]


@post(
    "/v1/{product:str}/recovery/initiate_request",
    status_code=ACCEPTED_STATUS,
    opt=_ASKING | {"required": ("request_id",)},
)
async def everything(
    request: Caller,
    facade: NamedDependency[FacadeDependencies],
    recoveries: NamedDependency[RecoveryService],
    product: FromPath[str],
    after: _After = None,
    request_id: _RequestId = None,
    node_id: _NodeId = None,
) -> RenderedResponse[Any]:
    """Have the present markets, and what changed since `after`, told again over AMQP."""
    check_product(product, facade.producer)
    return await _accept(
        recoveries, request, RecoveryKind.GLOBAL, RecoveryParameters(after, request_id, node_id)
    )


@post(
    "/v1/{product:str}/odds/events/{event_id:str}/initiate_request", status_code=ACCEPTED_STATUS, opt=_ASKING
)
async def odds(
    request: Caller,
    facade: NamedDependency[FacadeDependencies],
    recoveries: NamedDependency[RecoveryService],
    product: FromPath[str],
    event_id: FromPath[str],
    request_id: _RequestId = None,
    node_id: _NodeId = None,
) -> RenderedResponse[Any]:
    """Have the active odds of one match told again; without a request id, one is made and told."""
    check_product(product, facade.producer)
    return await _accept(
        recoveries, request, RecoveryKind.EVENT_ODDS, RecoveryParameters(None, request_id, node_id), event_id
    )


@post(
    "/v1/{product:str}/stateful_messages/events/{event_id:str}/initiate_request",
    status_code=ACCEPTED_STATUS,
    opt=_ASKING,
)
async def stateful(
    request: Caller,
    facade: NamedDependency[FacadeDependencies],
    recoveries: NamedDependency[RecoveryService],
    product: FromPath[str],
    event_id: FromPath[str],
    request_id: _RequestId = None,
    node_id: _NodeId = None,
) -> RenderedResponse[Any]:
    """Have the settlements and cancellations of one match told again; an id is made where none was sent."""
    check_product(product, facade.producer)
    return await _accept(
        recoveries,
        request,
        RecoveryKind.EVENT_STATEFUL,
        RecoveryParameters(None, request_id, node_id),
        event_id,
    )


async def _accept(
    recoveries: RecoveryService,
    request: Caller,
    kind: RecoveryKind,
    parameters: RecoveryParameters,
    event_id: str | None = None,
) -> RenderedResponse[Any]:
    grant = request.auth
    job = await recoveries.accept(grant.tenant, kind, parameters, event_id, finished_only=grant.finished_only)
    taken_on = Acknowledgement(
        request_id=job.request.request_id,
        action=_ACTION[kind].format(event_id or "all matches"),
        scheduled_at=job.scheduled_at,
        node_id=job.request.node_id,
        after=job.request.after if event_id is None else None,
    )
    return as_xml(accepted(taken_on), ACCEPTED_STATUS)


@post(
    [
        *(f"/v1/{word}/recovery/initiate_request" for word in _WORDS),
        *(f"/v1/{word}/{{messages:str}}/events/{{event_id:str}}/initiate_request" for word in _WORDS),
    ],
    opt=_ASKING,
    include_in_schema=False,
)
async def no_product(request: Caller, facade: NamedDependency[FacadeDependencies]) -> None:
    """Such a word is no product, either; the framework would not look for one where a path begins with it."""
    word, messages = request.scope["path"].split("/")[2:4]
    if messages in _MESSAGES:
        check_product(word, facade.producer)
    raise NotFound("There is nothing at this address.")


HANDLERS = (everything, odds, stateful, no_product)

"""Replays: the list of matches to replay, and the player. Each node has its own.

Parameters are those that clients send; one without a node sends no `node_id`.
"""

from typing import Annotated, Any

from litestar import delete, post, put
from litestar.di import NamedDependency
from litestar.params import FromPath, QueryParameter

from app.channels.facade.dependencies import Facade, NodeId, check_product, options
from app.domain import scopes
from app.domain.ids import match_urn
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.http.response import RenderedResponse, as_xml
from app.replay.request import ReplayParameters, ReplayService, options_of
from app.wire.xml import replay

_OPT = options(scopes.RECOVERY)
Replays = NamedDependency[ReplayService]
_EVENT = "/v1/replay/events/{event_id:str}"


@get("/v1/replay", opt=_OPT)
async def list_facade_replay_matches(
    request: AuthenticatedRequest, facade: Facade, replays: Replays, node_id: NodeId = None
) -> RenderedResponse[Any]:
    """The list of matches to replay, in order."""
    grant = request.auth
    found = await replays.present(grant.tenant, node_id, finished_only=grant.finished_only)
    return facade.respond(replay.replay_set_content([match_urn(one.number) for one in found.matches]))


@get("/v1/replay/status", opt=_OPT)
async def get_facade_replay_status(
    request: AuthenticatedRequest, facade: Facade, replays: Replays, node_id: NodeId = None
) -> RenderedResponse[Any]:
    """Whether the list is being replayed."""
    grant = request.auth
    found = await replays.present(grant.tenant, node_id, finished_only=grant.finished_only)
    return facade.respond(replay.player_status(found.job))


@put(_EVENT, status_code=200, opt=_OPT)
async def request_facade_replay_match(
    request: AuthenticatedRequest, replays: Replays, event_id: FromPath[str], node_id: NodeId = None
) -> RenderedResponse[Any]:
    """Add a match to the end of the list: one that is over, booked, and kept whole."""
    grant = request.auth
    await replays.add(grant.tenant, node_id, event_id, finished_only=grant.finished_only)
    return _done(f"add {event_id}", "The match is in the list.")


@delete(_EVENT, status_code=200, opt=_OPT)
async def request_facade_replay_removal(
    request: AuthenticatedRequest, replays: Replays, event_id: FromPath[str], node_id: NodeId = None
) -> RenderedResponse[Any]:
    """Remove a match from the list."""
    await replays.remove(request.auth.tenant, node_id, event_id)
    return _done(f"remove {event_id}", "The match is no longer in the list.")


@post("/v1/replay/play", status_code=200, opt=_OPT)
async def request_facade_replay(
    request: AuthenticatedRequest,
    facade: Facade,
    replays: Replays,
    node_id: NodeId = None,
    speed: Annotated[str | None, QueryParameter(description="Factor; 10 if it is not sent.")] = None,
    max_delay: Annotated[
        str | None,
        QueryParameter(description="Longest pause between two messages in ms; 10000 if it is not sent."),
    ] = None,
    use_replay_timestamp: Annotated[
        str | None, QueryParameter(description="true: timestamps are those of the replay.")
    ] = None,
    run_parallel: Annotated[
        str | None, QueryParameter(description="true: all matches begin at once.")
    ] = None,
    product: Annotated[str | None, QueryParameter(description="A producer by its id or name.")] = None,
) -> RenderedResponse[Any]:
    """Replay the list to the exchange `oddinreplay` of the tenant's vhost."""
    if product is not None:
        check_product(product, facade.producer)
    wanted = options_of(ReplayParameters(speed, max_delay, run_parallel, use_replay_timestamp))
    grant = request.auth
    job = await replays.play(
        grant.tenant, node_id, wanted, by=grant.actor, where="query", finished_only=grant.finished_only
    )
    return _done("play", f"Replay {job.id} has been started: {len(job.match_ids)} matches.")


@post("/v1/replay/stop", status_code=200, opt=_OPT)
async def request_facade_replay_stop(
    request: AuthenticatedRequest, replays: Replays, node_id: NodeId = None
) -> RenderedResponse[Any]:
    """Stop the replay; the list stays."""
    await replays.stop(request.auth.tenant, node_id)
    return _done("stop", "Nothing is being replayed.")


@post("/v1/replay/clear", status_code=200, opt=_OPT)
async def request_facade_replay_clearing(
    request: AuthenticatedRequest, replays: Replays, node_id: NodeId = None
) -> RenderedResponse[Any]:
    """Stop the replay, and empty the list."""
    await replays.clear(request.auth.tenant, node_id)
    return _done("clear", "Nothing is being replayed, and the list is empty.")


def _done(action: str, message: str) -> RenderedResponse[Any]:
    return as_xml(replay.replay_accepted(action, message))

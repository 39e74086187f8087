"""Replays of matches that are over, under /cs2/v1/replay: choose them, start and stop them. They are
published over AMQP, to an exchange of their own."""

from typing import Annotated

from litestar import delete, post, put
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, QueryParameter
from msgspec import UNSET

from app.channels.rest.dependencies import NEXT_CURSOR, Limit, NodeId, options
from app.domain import scopes
from app.domain.tenant import Grant
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.replay.request import ReplayService
from app.wire.views.meta import Many, Single, many
from app.wire.views.replay import (
    NewReplay,
    NodeReplayView,
    ReplayableMatchView,
    ReplayStateView,
    node_replay_view,
    replay_options,
    replay_state_view,
    replayable_match_view,
)

_OPT = options(scopes.RECOVERY)
_BODY_BYTES = 32_768
Replays = NamedDependency[ReplayService]
_EVENT = "/cs2/v1/replay/events/{event_id:str}"


@get("/cs2/v1/replay/matches", opt=_OPT)
async def list_replayable_matches(
    request: AuthenticatedRequest,
    replays: Replays,
    limit: Limit = 50,
    cursor: Annotated[
        str | None,
        QueryParameter(pattern=r"^[0-9]{1,18}\.[0-9]{1,18}$", description=NEXT_CURSOR),
    ] = None,
) -> Many[ReplayableMatchView]:
    """The matches that can be replayed, newest first: over, booked, and kept whole. A page may be short while
    there is a next one."""
    at, _, number = (cursor or "").partition(".")
    grant, after = request.auth, (int(at), int(number)) if cursor else None
    found = await replays.replayable(grant.tenant, limit, after, finished_only=grant.finished_only)
    following = ".".join(map(str, found.following)) if found.following else UNSET
    return many(map(replayable_match_view, found.rows), limit, next_cursor=following)


@get("/cs2/v1/replay", opt=_OPT)
async def get_replay(
    request: AuthenticatedRequest, replays: Replays, node_id: NodeId = None
) -> Single[NodeReplayView]:
    """The list of matches to replay, and how far the replay is that was started last."""
    return await _present(replays, request.auth, node_id)


@put(_EVENT, status_code=200, opt=_OPT)
async def request_replay_match(
    request: AuthenticatedRequest, replays: Replays, event_id: FromPath[str], node_id: NodeId = None
) -> Single[NodeReplayView]:
    """Add a match to the end of the list: one that is over, booked, and kept whole."""
    grant = request.auth
    await replays.add(grant.tenant, node_id, event_id, finished_only=grant.finished_only)
    return await _present(replays, grant, node_id)


@delete(_EVENT, status_code=200, opt=_OPT)
async def request_replay_removal(
    request: AuthenticatedRequest, replays: Replays, event_id: FromPath[str], node_id: NodeId = None
) -> Single[NodeReplayView]:
    """Remove a match from the list. A replay that runs goes on with it."""
    await replays.remove(request.auth.tenant, node_id, event_id)
    return await _present(replays, request.auth, node_id)


@post("/cs2/v1/replay/play", status_code=202, opt=_OPT, request_max_body_size=_BODY_BYTES)
async def request_replay(
    request: AuthenticatedRequest, replays: Replays, data: JSONBody[NewReplay]
) -> Single[ReplayStateView]:
    """Replay the list to the exchange `oddinreplay` of the tenant's vhost: the messages of then, with their
    own timestamps unless they are rewritten, under routing keys that end with the node."""
    node = None if data.node_id is UNSET else data.node_id
    grant = request.auth
    job = await replays.play(
        grant.tenant, node, replay_options(data), by=grant.actor, finished_only=grant.finished_only
    )
    return Single(replay_state_view(job))


@post("/cs2/v1/replay/stop", status_code=200, opt=_OPT)
async def request_replay_stop(
    request: AuthenticatedRequest, replays: Replays, node_id: NodeId = None
) -> Single[NodeReplayView]:
    """Stop the replay; the list stays."""
    await replays.stop(request.auth.tenant, node_id)
    return await _present(replays, request.auth, node_id)


@post("/cs2/v1/replay/clear", status_code=200, opt=_OPT)
async def request_replay_clearing(
    request: AuthenticatedRequest, replays: Replays, node_id: NodeId = None
) -> Single[NodeReplayView]:
    """Stop the replay, and empty the list."""
    await replays.clear(request.auth.tenant, node_id)
    return await _present(replays, request.auth, node_id)


async def _present(replays: ReplayService, grant: Grant, node_id: str | None) -> Single[NodeReplayView]:
    found = await replays.present(grant.tenant, node_id, finished_only=grant.finished_only)
    return Single(node_replay_view(node_id, found.matches, found.job))

"""Frames about a tenant's claims. Tenants with the same rights share all other frames, so these are merged
into what a connection of the tenant is sent, by seq: no other tenant's batch ever has them."""

from collections.abc import Callable, Sequence
from heapq import merge
from operator import attrgetter
from uuid import UUID

from app.channels.stream.connection import StreamConnection
from app.channels.stream.frames import Entitlements, Frame, FrameBatch, MatchLookup, encode_frame, join_batch
from app.channels.stream.updates import Update
from app.domain import frame_types
from app.store.changes import CLAIM

Due = list[tuple[StreamConnection, FrameBatch | None]]  #: connections, each with its batch


def with_claims(due: Due, updates: Sequence[Update], lookup: Callable[[Entitlements], MatchLookup]) -> Due:
    """The connections of `due`, those of tenants with claims among the updates with batches of their own."""
    claims = [one for one in updates if one.kind == CLAIM]
    if not claims:
        return due
    own: dict[tuple[Entitlements, UUID], FrameBatch | None] = {}
    for connection, batch in due:
        tenant_id, entitlements = connection.presented.grant.tenant.id, connection.entitlements
        if (entitlements, tenant_id) not in own:
            frames = merge_claims(
                batch.frames if batch else (), claims, entitlements, tenant_id, lookup(entitlements)
            )
            own[entitlements, tenant_id] = join_batch(frames) if frames else batch
    return [(one, own[one.entitlements, one.presented.grant.tenant.id]) for one, _ in due]


def merge_claims(
    frames: Sequence[Frame],
    updates: Sequence[Update],
    entitlements: Entitlements,
    tenant_id: UUID,
    lookup: MatchLookup,
) -> list[Frame]:
    """These frames, and those of the tenant's claims among the updates, in order."""
    own = [_frame(one) for one in updates if _visible(one, entitlements, tenant_id, lookup)]
    return list(merge(frames, own, key=attrgetter("seq")))


def _visible(update: Update, entitlements: Entitlements, tenant_id: UUID, lookup: MatchLookup) -> bool:
    if update.kind != CLAIM or update.tenant_id != tenant_id:
        return False
    if frame_types.REQUIRED_SCOPES[update.frame] not in entitlements.stream_scopes:
        return False
    return not entitlements.finished_only or lookup(update.match_id) is not None


def _frame(update: Update) -> Frame:
    update.wire = update.wire or encode_frame(update.frame, update.data or b"{}", update.at, update.seq)
    return Frame(update.seq, update.wire)

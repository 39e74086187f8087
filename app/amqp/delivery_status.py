"""The delivery of the feed to each tenant, for operators: what the store and the broker know of it."""

import msgspec

from app.broker.management import Management, QueueCounts
from app.broker.provisioning import LOST
from app.kit.errors import Unavailable
from app.store import cursors
from app.store.connections import Store
from app.store.cursors import CursorStatus

CONNECTED = "connected"


class QueueDepth(msgspec.Struct, frozen=True):
    """A queue of the tenant's: messages ready, and messages that its consumers have not acknowledged yet."""

    name: str
    ready: int
    unacknowledged: int
    consumers: int


class TenantStatus(msgspec.Struct, frozen=True):
    """The delivery to one tenant. `state` is `connected` or says what is wrong; `behind` counts envelopes not
    yet published to it, the oldest of them written `behind_seconds` ago; `dropped` messages were lost by its
    own queues. `queues` is null while the broker does not respond."""

    tenant: str
    state: str
    holder: str | None
    cursor: int
    behind: int
    behind_seconds: float
    alive_seconds_ago: float
    dropped: int
    queues: tuple[QueueDepth, ...] | None


async def tenant_statuses(store: Store, management: Management) -> list[TenantStatus]:
    """Every tenant with a vhost, by slug. Raises `Unavailable` without the database."""
    async with store.autocommit() as tx:
        statuses = await cursors.statuses(tx)
    try:
        queues: list[QueueCounts] | None = await management.queues()
    except Unavailable:
        queues = None
    return [_tenant_status(each, queues) for each in statuses]


def _tenant_status(status: CursorStatus, queues: list[QueueCounts] | None) -> TenantStatus:
    held = status.holder is not None and status.remaining > 0
    return TenantStatus(
        tenant=status.slug,
        state=(status.state or CONNECTED) if held else "no feed process publishes to it",
        holder=status.holder if held else None,
        cursor=status.seq,
        behind=status.behind,
        behind_seconds=(status.oldest or 0) / 1000,
        alive_seconds_ago=status.silent / 1000,
        dropped=status.dropped,
        queues=None if queues is None else queue_depths(queues, status.slug),
    )


def queue_depths(queues: list[QueueCounts], vhost: str) -> tuple[QueueDepth, ...]:
    """The tenant's own queues in its vhost."""
    return tuple(
        QueueDepth(each.name, each.ready, each.unacknowledged, each.consumers)
        for each in queues
        if each.vhost == vhost and each.name != LOST
    )

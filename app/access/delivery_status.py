"""How far each tenant has been told over AMQP, for operators: as the store and the broker see it."""

import msgspec

from app.broker.management import Management, QueueCounts
from app.broker.provisioning import LOST
from app.kit.errors import Unavailable
from app.store import cursors
from app.store.connections import Store
from app.store.cursors import CursorStatus

CONNECTED = "connected"


class QueueDepth(msgspec.Struct, frozen=True):
    """A queue of the tenant's: messages that wait, messages that its consumers have not acknowledged yet."""

    name: str
    ready: int
    unacknowledged: int
    consumers: int


class TenantStatus(msgspec.Struct, frozen=True):
    """How one tenant is told. `state` is `connected` or says what is wrong; `behind` counts envelopes that
    it has not been told, the oldest of them written `behind_seconds` ago; `dropped` messages were lost by its
    own queues. `queues` is null while the broker cannot be asked."""

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
    async with store.reading() as tx:
        standings = await cursors.statuses(tx)
    try:
        queues: list[QueueCounts] | None = await management.queues()
    except Unavailable:
        queues = None
    return [_tenant_status(each, queues) for each in standings]


def _tenant_status(standing: CursorStatus, queues: list[QueueCounts] | None) -> TenantStatus:
    held = standing.holder is not None and standing.remaining > 0
    return TenantStatus(
        tenant=standing.slug,
        state=(standing.state or CONNECTED) if held else "no feed process tells it",
        holder=standing.holder if held else None,
        cursor=standing.seq,
        behind=standing.behind,
        behind_seconds=(standing.oldest or 0) / 1000,
        alive_seconds_ago=standing.silent / 1000,
        dropped=standing.dropped,
        queues=None if queues is None else queue_depths(queues, standing.slug),
    )


def queue_depths(queues: list[QueueCounts], vhost: str) -> tuple[QueueDepth, ...]:
    """The queues of one vhost that are the tenant's."""
    return tuple(
        QueueDepth(each.name, each.ready, each.unacknowledged, each.consumers)
        for each in queues
        if each.vhost == vhost and each.name != LOST
    )

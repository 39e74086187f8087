"""The delivery of the feed to each tenant, for operators and for its own people: what the store and the
broker know of it."""

from uuid import UUID

import msgspec

from app.broker.management import Management, QueueCounts
from app.broker.provisioning import LOST
from app.domain.recovery import RecoveryJob, RecoveryState
from app.kit.errors import Unavailable
from app.kit.grouping import grouped
from app.store import cursors, delivery_minutes, envelopes, recovery_jobs
from app.store.connections import Store
from app.store.cursors import CursorStatus
from app.store.delivery_minutes import MINUTE_MILLIS, MinuteTotal
from app.store.transaction import Tx

CONNECTED = "connected"
_RATE_MILLIS = 60_000  #: over how long the rate of envelopes is counted
HOUR_MINUTES = 60
_RECOVERIES = 50  #: the newest ones, which are looked at
_NEWEST = 2**63 - 1


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


class RecoverySpan(msgspec.Struct, frozen=True, array_like=True):
    """A recovery, from its first run or, before that, its acceptance (`since`) to its end (`until`; None: it
    is not over), both Unix ms; how far it is, as in `RecoveryJob`."""

    since: int
    until: int | None
    request_id: str
    job_id: int
    state: RecoveryState
    steps: int
    steps_done: int


class DeliveryHistory(msgspec.Struct, frozen=True):
    """The delivery in the minutes from `since` until `until` (Unix ms), which is the beginning of the present
    minute; and the recoveries that were not over by `since`, newest first."""

    since: int
    until: int
    minutes: list[MinuteTotal]
    recoveries: list[RecoverySpan]

    @property
    def lag(self) -> float:
        """The longest lag, in seconds."""
        return max((each.lag for each in self.minutes), default=0) / 1000

    @property
    def dropped(self) -> int:
        """How many messages the tenant's queues dropped."""
        return sum(each.dropped for each in self.minutes)

    @property
    def notices(self) -> int:
        """How many loss notices were published."""
        return sum(each.notices for each in self.minutes)

    @property
    def running(self) -> RecoverySpan | None:
        """The oldest recovery that is not over."""
        return next((each for each in reversed(self.recoveries) if each.until is None), None)


class TenantDelivery(msgspec.Struct, frozen=True):
    """The delivery to one tenant, for its own people. `held`: a feed process publishes to it, and is
    `connected` to its vhost. `unbound`: live messages are routed to no queue of its, though there was one;
    `notice_pending`: it has missed something and receives `alive subscribed="0"` next. `rate` is envelopes of
    its booked matches a second, over the last minute; `history` is the last hour."""

    status: TenantStatus
    held: bool
    connected: bool
    unbound: bool
    notice_pending: bool
    rate: float
    history: DeliveryHistory


async def tenant_delivery(
    store: Store, management: Management, tenant_id: UUID, now: int
) -> TenantDelivery | None:
    """The delivery to one tenant; None while nothing is published to it. Reads the queues of its own vhost
    only. Raises `Unavailable` without the database."""
    async with store.autocommit() as tx:
        cursor = await cursors.status_of(tx, tenant_id)
        if cursor is None:
            return None
        envelope_count = await envelopes.count_since(tx, tenant_id, now - _RATE_MILLIS)
        history = await _history(tx, tenant_id, now)
    try:
        queues: list[QueueCounts] | None = await management.queues(cursor.vhost)
    except Unavailable:
        queues = None
    status = _tenant_status(cursor, queues)
    return TenantDelivery(
        status=status,
        held=status.holder is not None,
        connected=status.state == CONNECTED,
        unbound=cursor.unbound,
        notice_pending=cursor.notice_pending,
        rate=envelope_count * 1000 / _RATE_MILLIS,
        history=history,
    )


async def delivery_history(store: Store, tenant_id: UUID, now: int) -> DeliveryHistory:
    """The last hour of one tenant's delivery. Raises `Unavailable` without the database."""
    async with store.autocommit() as tx:
        return await _history(tx, tenant_id, now)


async def _history(tx: Tx, tenant_id: UUID, now: int) -> DeliveryHistory:
    until = now // MINUTE_MILLIS * MINUTE_MILLIS
    since = until - HOUR_MINUTES * MINUTE_MILLIS
    minutes = await delivery_minutes.totals(tx, tenant_id, since)
    jobs = [each.job for each in await recovery_jobs.listing(tx, tenant_id, _NEWEST, _RECOVERIES)]
    spans = [_span(each) for each in jobs if each.finished_at is None or each.finished_at >= since]
    return DeliveryHistory(since, until, [each for each in minutes if each.minute < until], spans)


def _span(job: RecoveryJob) -> RecoverySpan:
    begun = job.accepted_at if job.started_at is None else job.started_at
    end, request_id = job.finished_at, job.request.request_id
    return RecoverySpan(begun, end, request_id, job.id, job.state, job.steps, job.steps_done)


async def tenant_statuses(store: Store, management: Management) -> list[TenantStatus]:
    """Every tenant with a vhost, by slug. Raises `Unavailable` without the database."""
    async with store.autocommit() as tx:
        statuses = await cursors.statuses(tx)
    try:
        queues: list[QueueCounts] | None = await management.queues()
    except Unavailable:
        queues = None
    own = grouped((queue.vhost, queue) for queue in queues or ())
    return [_tenant_status(each, None if queues is None else own.get(each.vhost, [])) for each in statuses]


def _tenant_status(status: CursorStatus, queues: list[QueueCounts] | None) -> TenantStatus:
    """`queues` are those of its vhost."""
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
        queues=None if queues is None else _queue_depths(queues),
    )


def _queue_depths(queues: list[QueueCounts]) -> tuple[QueueDepth, ...]:
    """The tenant's own queues, of all in its vhost."""
    return tuple(
        QueueDepth(each.name, each.ready, each.unacknowledged, each.consumers)
        for each in queues
        if each.name != LOST
    )

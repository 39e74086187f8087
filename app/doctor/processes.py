"""Our processes, as the database knows them: heartbeats, parked batches, the delivery to each tenant."""

from collections.abc import Sequence

from app.amqp.delivery_status import CONNECTED, TenantStatus, tenant_statuses
from app.broker.management import Management
from app.channels.feed import health as feed_health
from app.doctor.findings import Finding, judged, unknown
from app.http.health import OK
from app.ingest import health as ingest_health
from app.kit.clock import Clock
from app.store.connections import Store

_BEHIND_SECONDS = 30.0
DEPENDENT = ("ingest process", "feed process", "log batches", "tenants' delivery")


async def examine(
    store: Store, management: Management, clock: Clock, dead_seconds: int, *, broker_answers: bool
) -> list[Finding]:
    ingest = await ingest_health.worker_beats(store, clock, dead_seconds)
    feed = await feed_health.process_state(store, clock)
    parked = await ingest_health.nothing_parked(store)
    return [
        _beats("ingest process", ingest, "Start `matchfeed ingest`; read its log."),
        _beats("feed process", feed, "Start `matchfeed feed`; read its log."),
        judged(
            "log batches",
            [] if parked == OK else [parked],
            "all could be applied",
            "`matchfeed alerts --kind parked_batch` names the matches; ingest's log has the error.",
        ),
        _delivery(await tenant_statuses(store, management), feeds=feed == OK and broker_answers),
    ]


def _beats(part: str, state: str, action: str) -> Finding:
    return judged(part, [] if state == OK else [state], "it sends heartbeats", action)


def _delivery(tenants: Sequence[TenantStatus], *, feeds: bool) -> Finding:
    """Without a feed process, or without the broker, nothing is delivered, which has findings of its own."""
    if not feeds:
        return unknown(
            "tenants' delivery", "nothing is published now", "See the broker and the feed process."
        )
    wrong = [f"{each.tenant}: {reason}" for each in tenants if (reason := _trouble(each))]
    action = "`matchfeed feed status` shows all tenants; read the feed process's log."
    return judged("tenants' delivery", wrong, f"{len(tenants)} tenants are up to date", action)


def _trouble(tenant: TenantStatus) -> str:
    if tenant.state != CONNECTED:
        return tenant.state
    if tenant.behind_seconds > _BEHIND_SECONDS:
        return f"{tenant.behind} messages, {tenant.behind_seconds:.0f} s behind"
    return ""

"""PostgreSQL: whether it answers, is migrated and agrees with our clock; and what it has stored of our
processes: heartbeats, parked batches, the delivery to each tenant.
"""

from collections.abc import Awaitable, Callable, Sequence

from app.amqp.delivery_status import CONNECTED, TenantStatus, tenant_statuses
from app.broker.management import Management
from app.channels.feed import process_watch as feed_health
from app.http.health import OK
from app.ingest import worker as ingest_health
from app.kit.clock import Clock, iso_seconds
from app.kit.errors import Unavailable
from app.operations.doctor.findings import Finding, ill, judged, unknown, well
from app.store import alerts, server_state
from app.store.alerts import AlertKind
from app.store.connections import Store, open_store
from app.store.migrations import pending_migrations
from app.store.transaction import Tx

_START = "Start PostgreSQL, or set DATABASE_URL; the processes wait for it by themselves."
_MIGRATE = "Run `matchfeed migrate`."
_CLOCK_MILLIS = 1000
_CONNECTIONS_USED = 0.9
_UNANALYZED = 1_000_000  #: rows; autovacuum, which comes once a minute, comes after a tenth of a table
_LATE_MILLIS = 600_000  #: pruning runs each minute; so much later it has not run
#: These have findings of their own.
_OTHERWISE_FOUND = (AlertKind.DEAD_PROCESS, AlertKind.PARKED_BATCH)
_BEHIND_SECONDS = 30.0
OF_PROCESSES = ("ingest process", "feed process", "log batches", "tenants' delivery")
DEPENDENT = ("clock", "database connections", "autovacuum", "change log", "open alerts", "backups")


async def opened(database_url: str) -> tuple[Store | None, Finding]:
    """A store with few connections, or None; and the finding about that."""
    try:
        store = await open_store(database_url, 2)
    except Unavailable as error:
        action = _MIGRATE if "matchfeed migrate" in error.detail else _START
        return None, ill("database", error.detail, action)
    try:
        async with store.autocommit() as tx:
            state = await server_state.read(tx)
    except Unavailable as error:
        await store.close()
        return None, ill("database", error.detail, _START)
    if state.standby:
        promote = "Set DATABASE_URL to the primary, or promote this one."
        return store, ill("database", "it is a standby and accepts no writes", promote)
    size = f"{state.size / 2**20:.0f} MiB"
    return store, well("database", f"PostgreSQL {state.version} answers; {size}")


async def migrations(store: Store) -> Finding:
    async with store.autocommit() as tx:
        pending = await pending_migrations(tx)
    missing = [f"{len(pending)} migrations are missing"] if pending else ()
    return judged("migrations", missing, "the schema is this version's", _MIGRATE)


async def examine(store: Store, now: Callable[[], int], retained_millis: int) -> list[Finding]:
    """What needs a migrated database."""
    checks: tuple[Callable[[Tx], Awaitable[Finding]], ...] = (_connections, _autovacuum, _alerts, _backups)
    async with store.autocommit() as tx:
        found = [await _clock(tx, now), await _change_log(tx, now(), retained_millis)]
        return found + [await check(tx) for check in checks]


async def _clock(tx: Tx, now: Callable[[], int]) -> Finding:
    before = now()
    theirs = (await server_state.read(tx)).now
    after = now()
    difference = before - theirs if theirs < before else max(0, theirs - after)
    wrong = [f"it differs from PostgreSQL's by {difference} ms"] if difference > _CLOCK_MILLIS else ()
    action = "Synchronise the clocks of both machines (NTP): heartbeats and lag are compared across them."
    return judged("clock", wrong, f"it differs from PostgreSQL's by {difference} ms at most", action)


async def _connections(tx: Tx) -> Finding:
    state = await server_state.read(tx)
    used = f"{state.connections} of {state.max_connections} connections are open"
    wrong = [used] if state.connections > _CONNECTIONS_USED * state.max_connections else ()
    action = "Lower DATABASE_POOL_SIZE of the processes, or raise max_connections of PostgreSQL."
    return judged("database connections", wrong, used, action)


async def _autovacuum(tx: Tx) -> Finding:
    """Without it statements are planned for tables as they were long ago, and deleted rows take space."""
    found = await server_state.unanalyzed(tx, _UNANALYZED)
    wrong = [f"it has not come to {each.name} since {each.changed:,} rows changed" for each in found]
    action = (
        "Set autovacuum = on in PostgreSQL, and run VACUUM ANALYZE once. Its log says why it does not come."
    )
    return judged("autovacuum", wrong, "it keeps up with what changes", action)


async def _change_log(tx: Tx, now: int, retained_millis: int) -> Finding:
    """The log is one table without partitions, which the feed processes prune each minute."""
    extent = await server_state.log_extent(tx)
    if not extent.newest:
        return well("change log", "it is empty")
    # The newest envelope always stays, however old it is.
    late = extent.oldest < now - retained_millis - _LATE_MILLIS and extent.oldest != extent.newest
    wrong = [f"it is not pruned: its oldest row is of {iso_seconds(extent.oldest)}"] if late else ()
    action = "Read the feed process's log: it deletes old rows each minute."
    return judged("change log", wrong, f"from {iso_seconds(extent.oldest)} on", action)


async def _alerts(tx: Tx) -> Finding:
    count = await alerts.open_count(tx)
    wrong = [f"{kind}: {count[kind]}" for kind in AlertKind if kind in count and kind not in _OTHERWISE_FOUND]
    action = "`matchfeed alerts` lists them; docs/operators.md says what ends each."
    return judged("open alerts", wrong, "none", action)


async def _backups(tx: Tx) -> Finding:
    """Only archiving is known to the server; when somebody last made a dump is not."""
    archiving = await server_state.archiving(tx)
    if not archiving.on:
        what = "PostgreSQL archives no write-ahead log; whether dumps are made is not known here"
        return unknown("backups", what, "See docs/deploy.md, and try a restore.")
    if archiving.failed_at > archiving.archived_at:
        what = f"archiving of the write-ahead log has failed since {iso_seconds(archiving.failed_at)}"
        return ill("backups", what, "See PostgreSQL's log for the failure of archive_command.")
    since = iso_seconds(archiving.archived_at) if archiving.archived_at else "never yet"
    what = f"write-ahead log last archived: {since}; base backups are not known here"
    return unknown("backups", what, "See that base backups are made, and try a restore.")


async def examine_processes(
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

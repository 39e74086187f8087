"""All that puts a restored database in order, step by step."""

from collections.abc import Callable

import msgspec

from app.access.admin import BrokerConfig
from app.access.second_factor import last_usable_step
from app.domain.published_numbers import match_number_at, seq_at
from app.kit.clock import Clock, system_clock
from app.kit.errors import Conflict
from app.restoration import checks, idle_check, suspension, tenant_vhosts
from app.restoration.checks import Audit
from app.restoration.suspension import Suspended
from app.restoration.tenant_vhosts import RebuiltTenants, ShowUrl
from app.store import audit, restoration, tenants, timeline
from app.store.audit import AuditRecord
from app.store.connections import Store
from app.store.restoration import Ended, KnownNumbers
from app.store.timeline import Change

IDLE_SECONDS = 3.0  #: processes that lost the database try to connect again each second


class RestoreOptions(msgspec.Struct, frozen=True, kw_only=True):
    """`published_seq`: the highest seq that a client is known to have received, 0 if that is not known.
    `despite_differences`: go on although ledger and change log are not sound. `by`: who runs it."""

    by: str
    internal_vhost: str
    published_seq: int = 0
    despite_differences: bool = False
    idle_seconds: float = IDLE_SECONDS


class Restored(msgspec.Struct, frozen=True):
    """What was found and done. `mark` is the seq from which everything is published again; numbers above
    `known.head` and below `mark` belong to what was lost."""

    known: KnownNumbers
    audit: Audit
    vhosts: RebuiltTenants
    mark: int
    ended: Ended
    suspended: Suspended
    tenants_notified: int
    active_keys: int


async def put_in_order(
    store: Store,
    broker: BrokerConfig,
    options: RestoreOptions,
    show_url: ShowUrl,
    show_audit: Callable[[Audit], None] = lambda _: None,
    clock: Clock = system_clock,
) -> Restored:
    """Do it; safe to repeat. Raises `Conflict`, with what to do, when something forbids it: while processes
    of the service are alive, for a database that is not sound or does not fit; `Unavailable` when PostgreSQL
    or the broker is. `store` has one connection."""
    await _require_idle(store, broker, options, options.idle_seconds)
    known = await checks.require_usable(store, clock())
    found = await checks.audit(store)
    show_audit(found)
    if found.wrong and not options.despite_differences:
        raise Conflict(
            "The database is not sound, and nothing was changed: restore another backup, or go on with "
            "--despite-differences and correct these settlements afterwards (docs/operators.md)."
        )
    vhosts = await tenant_vhosts.rebuild(store, broker, show_url)
    mark, ended, notified, keys = await _go_on(store, known, options, clock())
    suspended = await suspension.suspend_unfinished(store, clock())
    await _require_idle(store, broker, options, 0)
    return Restored(known, found, vhosts, mark, ended, suspended, notified, keys)


async def _require_idle(store: Store, broker: BrokerConfig, options: RestoreOptions, seconds: float) -> None:
    async with store.autocommit() as tx:
        vhosts = {tenant.vhost for tenant in await tenants.listing(tx)}
    await idle_check.require_idle(store, broker.management, vhosts, options.internal_vhost, seconds=seconds)


async def _go_on(
    store: Store, known: KnownNumbers, options: RestoreOptions, now: int
) -> tuple[int, Ended, int, int]:
    """The mark, what has ended, how many tenants are to be notified, and how many keys are active."""
    seq = max(known.seq, options.published_seq, seq_at(now))
    match_number = max(known.match_number, match_number_at(now))
    async with store.transaction() as tx:
        mark = await restoration.go_on_from(tx, seq, match_number, now, expelled=True)
        server = await timeline.read(tx)
        change = Change(mark, now, known.head, known.newest_at, options.published_seq, known_at=0)
        await timeline.store(tx, server.present, change)
        ended = await restoration.end_past(tx, now, last_usable_step(now))
        details = {"last_seq": known.head, "last_at": known.newest_at, "next_seq": mark}
        await audit.add(tx, AuditRecord(now, options.by, "database.restored", "database", None, details))
        return mark, ended, await restoration.notified_tenants(tx), await restoration.active_keys(tx)

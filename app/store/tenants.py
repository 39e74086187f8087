"""Tenants and their bookings: every match is booked, except those that a tenant has unbooked."""

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

import asyncpg
import msgspec
from piccolo.columns.combination import WhereRaw
from piccolo.query import Delete, Insert, Select, Update

from app.domain.profiles import ProfileChange, ProfileChanges
from app.domain.tenant import Tenant
from app.domain.tenant_offer import NO_CHANGES, TenantOffer
from app.domain.types_off import Intervals, TypeOff
from app.kit.errors import Conflict, NotFound
from app.store import notifications
from app.store.prepared import prepared, reading, reading_ids, reading_row, reading_rows, writing
from app.store.row_mapping import RowMapping, Stored
from app.store.sql import any_of, holds, not_exists
from app.store.tables.change import KeptChange
from app.store.tables.tenant import BookingGap, Unbooked
from app.store.tables.tenant import Tenant as TenantTable
from app.store.transaction import Row, Statement, Tx

_NO_END = 2**63 - 1
_decode_intervals = msgspec.json.Decoder(tuple[TypeOff, ...]).decode
_decode_profiles = msgspec.json.Decoder(tuple[ProfileChange, ...]).decode


def decode_intervals(text: bytes) -> tuple[TypeOff, ...]:
    """A tenant's `types_off` as stored."""
    return () if text == b"[]" else _decode_intervals(text)


def decode_profiles(text: bytes) -> tuple[ProfileChange, ...]:
    """A tenant's `profiles` as stored."""
    return () if text == b"[]" else _decode_profiles(text)


ROWS = RowMapping(
    TenantTable,
    Tenant,
    beside=("created_at",),
    lasting=("slug", "types_off", "named_vhost", "profiles"),
    stored={
        "types_off": Stored(msgspec.json.encode, decode_intervals),
        "profiles": Stored(msgspec.json.encode, decode_profiles),
    },
)


async def insert(tx: Tx, tenant: Tenant, now: int) -> None:
    """Add a tenant; raises `Conflict` when its slug (or id) is in use."""
    try:
        await tx.change(ROWS.insert(tenant, now))
    except asyncpg.UniqueViolationError as error:
        raise Conflict(f"There is a tenant {tenant.slug!r} already.", code="tenant_there") from error
    await notifications.notify(tx, notifications.TENANTS, str(tenant.id))


@reading_row(ROWS.read)
def get(tenant_id: UUID, /) -> Select[Any]:
    return TenantTable.select(*ROWS.columns).where(TenantTable.id == tenant_id)


async def by_slug(tx: Tx, slug: str) -> Tenant:
    """The tenant with that slug; raises `NotFound`."""
    return _known(slug, await _by_slug(tx, slug, lock=False))


async def lock(tx: Tx, slug: str) -> Tenant:
    """`by_slug`, and its row locked until the transaction ends."""
    return _known(slug, await _by_slug(tx, slug, lock=True))


@reading_row(ROWS.read)
def _by_slug(slug: str, /, *, lock: bool) -> Select[Any]:
    query = TenantTable.select(*ROWS.columns).where(TenantTable.slug == slug)
    return query.lock_rows("UPDATE") if lock else query


def _known(slug: str, found: Tenant | None) -> Tenant:
    if found is None:
        raise NotFound(f"There is no tenant {slug!r}.")
    return found


@reading_rows(ROWS.read)
def listing() -> Select[Any]:
    """Every tenant, by slug."""
    return TenantTable.select(*ROWS.columns).order_by(TenantTable.slug)


async def save(tx: Tx, tenant: Tenant) -> None:
    """Write name, `amqp`, `active`, `probabilities`, `bet_stop` and `max_queues` of a known tenant; raises
    `NotFound`."""
    if not await tx.change(ROWS.update(tenant)):
        raise NotFound(f"There is no tenant {tenant.slug!r}.")
    await _notify_changed(tx, tenant.id)


@reading(lambda rows: {row["id"] for row in rows})
def with_probabilities() -> Select[Any]:
    """The tenants that receive probabilities with the odds."""
    return TenantTable.select(TenantTable.id).where(holds(TenantTable.probabilities))


@reading(lambda rows: {row["id"] for row in rows})
def with_bet_stop() -> Select[Any]:
    """The tenants that receive `bet_stop`."""
    return TenantTable.select(TenantTable.id).where(holds(TenantTable.bet_stop))


_OFFER = (TenantTable.types_off, TenantTable.profiles)


def _offer(row: Row) -> TenantOffer:
    return TenantOffer(decode_intervals(row["types_off"]), decode_profiles(row["profiles"]))


def _first_offer(rows: Sequence[Row]) -> TenantOffer:
    return _offer(rows[0]) if rows else NO_CHANGES


@reading(lambda rows: {row["id"]: _offer(row) for row in rows})
def offers() -> Select[Any]:
    """What each tenant is offered for which anything was ever changed."""
    query = TenantTable.select(TenantTable.id, *_OFFER)
    return query.where(WhereRaw("{}::text <> '[]' OR {}::text <> '[]'", *_OFFER))


@reading(_first_offer)
def offer_of(tenant_id: UUID, /) -> Select[Any]:
    """What the tenant is offered."""
    return TenantTable.select(*_OFFER).where(TenantTable.id == tenant_id)


@reading(_first_offer)
def lock_offer(tenant_id: UUID, /) -> Select[Any]:
    """What the tenant is offered; it is not changed until the transaction ends.

    Key-share locks wait for `lock`, which a change takes, and not for each other nor for the lock with which
    a recovery is accepted: a recovery that is held up must not delay the acceptance of another."""
    return TenantTable.select(*_OFFER).where(TenantTable.id == tenant_id).lock_rows("KEY SHARE")


@reading_ids
def lock_jobs(tenant_id: UUID, /) -> Select[Any]:
    """Until the transaction ends, no other adds a job of the tenant."""
    return TenantTable.select(TenantTable.id).where(TenantTable.id == tenant_id).lock_rows("NO KEY UPDATE")


async def save_types_off(tx: Tx, tenant_id: UUID, intervals: Intervals) -> None:
    """Write when market types were switched off for a tenant."""
    await tx.change(_save_types_off(tenant_id, msgspec.json.encode(intervals)))
    await _notify_changed(tx, tenant_id)


async def save_profiles(tx: Tx, tenant_id: UUID, changes: ProfileChanges) -> None:
    """Write by which profiles a tenant's odds were made since when."""
    await tx.change(_save_profiles(tenant_id, msgspec.json.encode(changes)))
    await _notify_changed(tx, tenant_id)


async def _notify_changed(tx: Tx, tenant_id: UUID) -> None:
    await notifications.notify(tx, notifications.TENANTS, str(tenant_id))
    await notifications.notify(tx, notifications.GRANTS, str(tenant_id))


@reading_rows(ROWS.read)
def broker_access_pending() -> Select[Any]:
    """The tenants with a vhost whose access at the broker differs from `active`, by slug."""
    differs = TenantTable.active != TenantTable.broker_access_applied
    query = TenantTable.select(*ROWS.columns).where(holds(TenantTable.amqp), differs)
    return query.order_by(TenantTable.slug)


@writing
def set_broker_access(tenant_id: UUID, admitted: bool, /) -> Update[Any]:
    """Record whether the broker accepts the tenant's logins."""
    return TenantTable.update({TenantTable.broker_access_applied: admitted}).where(
        TenantTable.id == tenant_id
    )


async def book(tx: Tx, tenant_id: UUID, match_id: UUID, seq: int = 0) -> bool:
    """Book the match again, which is published to the tenant again after the change `seq`; whether that
    changed anything."""
    if seq:
        for row in await tx.run(_unbooked_of(tenant_id, [match_id])):
            await tx.change(_add_booking_gap(tenant_id, match_id, row["seq"], seq))
    return await _rebooked(tx, tenant_id, _book(tenant_id, match_id))


async def unbook(tx: Tx, tenant_id: UUID, match_id: UUID, seq: int = 0) -> bool:
    """Unbook the match, which is published to the tenant up to the change `seq`; whether that changed
    anything."""
    return await _rebooked(tx, tenant_id, _unbook(tenant_id, match_id, seq))


async def booked(tx: Tx, tenant_id: UUID, match_ids: Collection[UUID]) -> set[UUID]:
    """Those of `match_ids` that the tenant has booked."""
    if not match_ids:
        return set()
    rows = await tx.run(_unbooked_of(tenant_id, list(match_ids)))
    return set(match_ids) - {row["match_id"] for row in rows}


@reading(lambda rows: [row["slug"] for row in rows])
def receivers(match_id: UUID, /) -> Select[Any]:
    """The slugs of the tenants to whose vhosts a match is published."""
    given_back = Unbooked.select(Unbooked.match_id).where(
        Unbooked.tenant_id == TenantTable.id, Unbooked.match_id == match_id
    )
    query = TenantTable.select(TenantTable.slug).where(holds(TenantTable.active), holds(TenantTable.amqp))
    return query.where(WhereRaw("{}", not_exists(given_back))).order_by(TenantTable.slug)


@reading(lambda rows: {(row["tenant_id"], row["match_id"]): row["seq"] for row in rows})
def unbooked() -> Select[Any]:
    """Every unbooked (tenant, match), with the change up to which it is published."""
    return Unbooked.select(Unbooked.tenant_id, Unbooked.match_id, Unbooked.seq)


async def booking_gaps(tx: Tx) -> dict[tuple[UUID, UUID], list[tuple[int, int]]]:
    """The parts of the change log that are not published, by (tenant, match): the changes after the first seq
    up to the second."""
    found: dict[tuple[UUID, UUID], list[tuple[int, int]]] = {
        key: [(seq, _NO_END)] for key, seq in (await unbooked(tx)).items()
    }
    for row in await tx.run(_booking_gaps()):
        own = found.setdefault((row["tenant_id"], row["match_id"]), [])
        own.append((row["after_seq"], row["until_seq"]))
    return found


def booked_at(gaps: Sequence[tuple[int, int]], seq: int) -> bool:
    """Whether a match with these gaps (one of `booking_gaps`) was published to the tenant at the change
    `seq`."""
    return not any(after < seq <= until for after, until in gaps)


@writing
def prune_booking_gaps(oldest: int, /) -> Delete:
    """Delete the gaps that end before the log's `oldest` change, and in which no kept change is; how many."""
    kept = KeptChange.select(KeptChange.match_id).where(
        KeptChange.match_id == BookingGap.match_id, KeptChange.last_seq > BookingGap.after_seq
    )
    return BookingGap.delete().where(BookingGap.until_seq < oldest, WhereRaw("{}", not_exists(kept)))


async def _rebooked(tx: Tx, tenant_id: UUID, query: Statement) -> bool:
    changed = bool(await tx.change(query))
    if changed:
        await notifications.notify(tx, notifications.TENANTS, str(tenant_id))
        await notifications.notify_shown(tx)
    return changed


@prepared
def _save_types_off(tenant_id: UUID, intervals: bytes) -> Update[Any]:
    return TenantTable.update({TenantTable.types_off: intervals}).where(TenantTable.id == tenant_id)


@prepared
def _save_profiles(tenant_id: UUID, changes: bytes) -> Update[Any]:
    return TenantTable.update({TenantTable.profiles: changes}).where(TenantTable.id == tenant_id)


@prepared
def _book(tenant_id: UUID, match_id: UUID) -> Delete:
    return Unbooked.delete().where(Unbooked.tenant_id == tenant_id, Unbooked.match_id == match_id)


@prepared
def _unbook(tenant_id: UUID, match_id: UUID, seq: int) -> Insert[Any]:
    return Unbooked.insert(Unbooked(tenant_id=tenant_id, match_id=match_id, seq=seq)).on_conflict(
        target=(Unbooked.tenant_id, Unbooked.match_id), action="DO NOTHING"
    )


@prepared
def _unbooked_of(tenant_id: UUID, match_ids: Collection[UUID]) -> Select[Any]:
    query = Unbooked.select(Unbooked.match_id, Unbooked.seq)
    return query.where(Unbooked.tenant_id == tenant_id, any_of(Unbooked.match_id, match_ids))


@prepared
def _add_booking_gap(tenant_id: UUID, match_id: UUID, after: int, until: int) -> Insert[Any]:
    gap = BookingGap(until_seq=until, after_seq=after, tenant_id=tenant_id, match_id=match_id)
    return BookingGap.insert(gap)


@prepared
def _booking_gaps() -> Select[Any]:
    gaps = BookingGap
    return gaps.select(gaps.tenant_id, gaps.match_id, gaps.after_seq, gaps.until_seq)

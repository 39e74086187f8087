"""What a tenant's feed carries: the matches that the tenant has booked, and the market types that are on
for it.

What is unbooked or switched off is suspended in the tenant's feed; what is booked or switched on again is
listed with its present state. Either has a place of its own in the change log and a fresh timestamp, which
makes the message newer than all before it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from uuid import UUID

import msgspec

from app.domain import catalogue, frame_types, tenant_offer, types_off
from app.domain.catalogue import MarketType
from app.domain.ids import match_urn
from app.domain.market import Market, MarketStatus
from app.domain.match import Match, summarize
from app.domain.tenant import Tenant
from app.domain.types_off import TypeOff
from app.kit.errors import Field, Invalid
from app.store import audit, changes, markets, matches, recovery_queries, tenants
from app.store.changes import BOOKING, SWITCH, ChangeDraft, Place
from app.store.transaction import Tx

_encode = msgspec.json.Encoder().encode


async def set_booked(tx: Tx, slug: str, ref: str, booked: bool, *, by: str, now: int) -> bool:
    """Book or unbook the match `ref` (UUID or `od:match:<n>`) for the tenant; whether that changed anything.

    It appends to the change log, so it must be called once in a transaction, as its last statement. Raises
    `NotFound`.
    """
    tenant = await tenants.lock(tx, slug)
    match = await matches.by_ref(tx, ref)
    if bool(await tenants.booked(tx, tenant.id, [match.id])) is booked:
        return False
    action = "match.book" if booked else "match.unbook"
    await audit.add(tx, audit.AuditRecord(now, by, action, str(match.id), tenant.id, {}))
    await _rebook(tx, tenant, match.id, booked, now)
    await _update_stream(tx, match, now)
    return True


async def _rebook(tx: Tx, tenant: Tenant, match_id: UUID, booked: bool, now: int) -> None:
    """A fresh timestamp makes the tenant's message newer than all before it; assigning it locks the match, so
    that its markets are those at the place that is taken next."""
    await recovery_queries.assign_timestamps(tx, [match_id], now)
    listed = await _listed(tx, tenant, match_id, booked)
    place = await changes.take_place(tx)
    if booked:
        await tenants.book(tx, tenant.id, match_id, place)
    else:  # its last message is the group of rows that follows the place
        await tenants.unbook(tx, tenant.id, match_id, place + len(listed))
    changed = {match_id: listed} if listed else {}
    await changes.append_for_tenant(tx, Place(place, BOOKING), tenant.id, changed, now)


async def _listed(tx: Tx, tenant: Tenant, match_id: UUID, booked: bool) -> Sequence[Market]:
    """What the tenant's message lists: every open market when the match is booked again; when it is unbooked
    those that the tenant has as active, suspended."""
    if not tenant.amqp:
        return ()
    shown = tenant.offer.now.markets_in_list(await markets.open_of_match(tx, match_id))
    if booked:
        return shown
    return [
        msgspec.structs.replace(one, status=MarketStatus.SUSPENDED)
        for one in shown
        if one.status is MarketStatus.ACTIVE
    ]


async def _update_stream(tx: Tx, match: Match, now: int) -> None:
    """The stream has every match, with its booking status for the keys that may see it."""
    summary = _encode(summarize(match))
    draft = ChangeDraft("match", match_urn(match.number), frame_types.UPDATED, "", summary)
    await changes.append(tx, match, [draft], now)


class TypeState(msgspec.Struct, frozen=True):
    """A market type, and whether it is on for a tenant. `since` is when it was switched last (Unix ms); None:
    never."""

    type: MarketType
    on: bool
    since: int | None


async def market_types_of(tx: Tx, slug: str) -> list[TypeState]:
    """Every market type for the tenant, in the catalogue's order. Raises `NotFound`."""
    return type_states(await tenants.by_slug(tx, slug))


def type_states(tenant: Tenant) -> list[TypeState]:
    """Every market type for this tenant, in the catalogue's order."""
    last = {one.type_id: one for one in tenant.types_off}
    return [_state(each, last.get(each.id)) for each in catalogue.load().markets]


def _state(kind: MarketType, last: TypeOff | None) -> TypeState:
    if last is None:
        return TypeState(kind, True, None)
    on = last.on_at is not None
    return TypeState(kind, on, last.on_at if on else last.off_at)


async def set_market_types(
    tx: Tx, slug: str, type_ids: Collection[int], on: bool, *, by: str, now: int
) -> list[TypeState]:
    """Switch these market types on or off for the tenant; every type as it is now. What is switched so
    already stays as it is.

    It appends to the change log, so it must be called once in a transaction, as its last statement. Raises
    `NotFound` for an unknown tenant, `Invalid` for a type that the catalogue lacks.
    """
    _check_known(type_ids)
    tenant = await tenants.lock(tx, slug)
    off = types_off.off_now(tenant.types_off)
    wanted = sorted({each for each in type_ids if (each in off) is on})
    if wanted:
        action = "tenant.market_types_on" if on else "tenant.market_types_off"
        await audit.add(tx, audit.AuditRecord(now, by, action, slug, tenant.id, {"market_types": wanted}))
        tenant = await _switch(tx, tenant, wanted, on, now)
    return type_states(tenant)


async def _switch(tx: Tx, tenant: Tenant, type_ids: Sequence[int], on: bool, now: int) -> Tenant:
    """A fresh timestamp makes the messages about the switch newer than all before them. A match on which such
    a market is opened between the first read and the second keeps its timestamp, which is as new."""
    await recovery_queries.assign_timestamps(tx, list(await markets.open_of_types(tx, type_ids)), now)
    seq = await changes.take_place(tx)
    present = await markets.open_of_types(tx, type_ids)
    if on:
        intervals = _ended(tenant.types_off, type_ids, now, seq)
        changed: Mapping[UUID, Sequence[Market]] = _seen(
            present, msgspec.structs.replace(tenant, types_off=intervals)
        )
    else:
        newest = await markets.newest_opened(tx, type_ids, now)
        # Clocks of several processes differ: what was published before the switch was offered, in any case.
        begun = (TypeOff(each, max(now, newest.get(each, 0)), seq) for each in type_ids)
        intervals = (*tenant.types_off, *begun)
        changed = _suspended(_seen(present, tenant))
    await tenants.save_types_off(tx, tenant.id, intervals)
    await changes.append_for_tenant(tx, Place(seq, SWITCH), tenant.id, changed, now)
    return msgspec.structs.replace(tenant, types_off=intervals)


def _ended(
    intervals: Iterable[TypeOff], type_ids: Collection[int], now: int, seq: int
) -> tuple[TypeOff, ...]:
    """The intervals, with those of these types that last until now ended."""
    return tuple(
        msgspec.structs.replace(one, on_at=max(now, one.off_at), on_seq=seq)
        if one.on_seq is None and one.type_id in type_ids
        else one
        for one in intervals
    )


def _seen(present: Mapping[UUID, Sequence[Market]], tenant: Tenant) -> dict[UUID, Sequence[Market]]:
    """These markets as the tenant is offered them."""
    rules = tenant.offer.now
    return {match_id: rules.markets_in_list(own) for match_id, own in present.items()}


def _suspended(present: Mapping[UUID, Sequence[Market]]) -> dict[UUID, list[Market]]:
    """The active ones of these markets, suspended; matches without any are omitted."""
    found = {
        match_id: [tenant_offer.suspended(one) for one in own if one.status is MarketStatus.ACTIVE]
        for match_id, own in present.items()
    }
    return {match_id: own for match_id, own in found.items() if own}


def _check_known(type_ids: Collection[int]) -> None:
    known = {each.id for each in catalogue.load().markets}
    unknown = sorted(set(type_ids) - known)
    if unknown:
        what = f"There is no market type {unknown[0]}: GET /cs2/v1/markets/descriptions has all."
        raise Invalid(Field(("type_id",), what, "market_type", unknown[0]))

"""Which matches a tenant has booked, and what its feed learns when it gives one back or books it again."""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from app.domain import frame_types
from app.domain.ids import match_urn
from app.domain.market import Market, MarketStatus
from app.domain.match import Match, summarize
from app.domain.tenant import Tenant
from app.domain.types_off import markets_in_list, off_now
from app.store import audit, changes, markets, matches, recovery_queries, tenants
from app.store.changes import BOOKING, ChangeDraft, Place
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
    """What the tenant's message lists: every open market when the match is booked again; when it is given
    back those that the tenant has as active, suspended."""
    if not tenant.amqp:
        return ()
    off = off_now(tenant.types_off)
    shown = markets_in_list(await markets.open_of_match(tx, match_id), off)
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

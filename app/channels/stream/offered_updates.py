"""The updates that clients with certain entitlements are sent; pure."""

from collections.abc import Iterator, Sequence

import msgspec

from app.channels.stream.entitlements import TenantTypes
from app.channels.stream.updates import Update, market_data
from app.domain import frame_types
from app.domain.market import Market
from app.domain.types_off import changed_market, entry_offered, off_at_seq


def offered(updates: Sequence[Update], types: TenantTypes | None) -> Iterator[Update]:
    """The updates as this tenant is sent them, or all tenants without a switched market type (None): without
    those of another tenant alone, and without what types that were off hide."""
    if types is None:
        return (one for one in updates if one.tenant_id is None)
    return (seen for one in updates if (seen := _offered(one, types)))


def _offered(update: Update, types: TenantTypes) -> Update | None:
    if update.tenant_id is not None:
        return update if update.tenant_id == types.tenant_id else None
    if update.about is None:
        return update
    if not isinstance(update.about, Market):
        return update if entry_offered(update.about, types.intervals) else None
    off = off_at_seq(types.intervals, update.seq)
    shown = changed_market(update.about, off, update.frame)
    if shown is None or shown is update.about:
        return update if shown else None
    data = market_data(update.match_id, shown)
    return msgspec.structs.replace(
        update, frame=frame_types.MARKET_SUSPENDED, data=data, wire=b"", about=shown
    )

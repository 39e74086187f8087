"""Markets on offer and the settlement ledger, as JSON."""

from uuid import UUID

import msgspec
from msgspec import UNSET, UnsetType

from app.domain.ids import match_urn
from app.domain.market import Market, MarketStatus, Result, market_name
from app.domain.settlement import LedgerEntry, LedgerStatus, SettledBy
from app.domain.suspension_reasons import market_reason_code
from app.wire.text import iso_time

#: How lists name the status of a market.
MARKET_STATUS = {
    MarketStatus.ACTIVE: "active",
    MarketStatus.INACTIVE: "inactive",
    MarketStatus.SUSPENDED: "suspended",
    MarketStatus.SETTLED: "settled",
    MarketStatus.CANCELLED: "cancelled",
}


class MarketView(msgspec.Struct, frozen=True, kw_only=True):
    """One offer; its only outcome is "it happens". `market_offer_id` names it within the match, `id` is
    its type in the catalogue. Offers with one `group` complement each other. Take no bets while
    `suspended`; `suspended_reason` is then the reason, in English, if it is known, and
    `suspended_reason_code` its code (`/cs2/v1/markets/suspension-reasons`)."""

    market_offer_id: str
    id: int
    specifiers: str
    status: str
    suspended: bool
    suspended_reason: str | UnsetType = UNSET
    suspended_reason_code: str | UnsetType = UNSET
    odds: float
    group: str
    priced_at: str | None


class VoidWindowView(msgspec.Struct, frozen=True):
    """Bets placed from `start_time` to `end_time` (Unix ms, both included) are void; unless the window
    is `rolled_back`."""

    start_time: int
    end_time: int
    rolled_back: bool


class SettlementView(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the settlement ledger; the last one of a market is what holds. A `new_status` of
    `pending` rolls the one before it back, and has no `outcome`; `is_resettlement`: an earlier one was rolled
    back. With a `void_window` the entry is about the bets placed in it alone: `previous_status`, `new_status`
    and `outcome` are those that the market has anyway. `rests_on` are ids of the rounds and events that it
    follows from; `void_reason_id` only where something was voided. `match_urn` is the feed's `event_id`."""

    id: int
    market_offer_id: str
    match_id: str
    match_urn: str
    market_id: int
    specifiers: str
    previous_status: LedgerStatus
    new_status: LedgerStatus
    outcome: Result | None
    settled_by: SettledBy
    reason: str
    is_resettlement: bool
    void_reason_id: int | UnsetType = UNSET
    void_window: VoidWindowView | UnsetType = UNSET
    rests_on: tuple[int, ...]
    created_at: str | None


def market_view(market: Market) -> MarketView:
    return MarketView(
        market_offer_id=market_name(*market.key),
        id=market.type_id,
        specifiers=market.specifiers,
        status=MARKET_STATUS[market.status],
        suspended=market.status is not MarketStatus.ACTIVE,
        suspended_reason=(market.status is MarketStatus.SUSPENDED and market.reason) or UNSET,
        suspended_reason_code=market_reason_code(market) or UNSET,
        odds=float(market.odds),
        group=market.group,
        priced_at=iso_time(market.priced_at or None),
    )


def settlement_view(match_id: UUID, number: int, entry: LedgerEntry) -> SettlementView:
    return SettlementView(
        id=entry.id,
        market_offer_id=market_name(*entry.key),
        match_id=str(match_id),
        match_urn=match_urn(number),
        market_id=entry.type_id,
        specifiers=entry.specifiers,
        previous_status=entry.previous_status,
        new_status=entry.new_status,
        outcome=entry.result,
        settled_by=entry.settled_by,
        reason=entry.reason,
        is_resettlement=entry.is_resettlement,
        void_reason_id=UNSET if entry.void_reason_id is None else entry.void_reason_id,
        void_window=_window(entry),
        rests_on=entry.rests_on,
        created_at=iso_time(entry.at),
    )


def _window(entry: LedgerEntry) -> VoidWindowView | UnsetType:
    window = entry.void_window
    if window is None:
        return UNSET
    return VoidWindowView(window.start_time, window.end_time, entry.window_rolled_back)

"""The market types that are switched off for a tenant, and what it then receives of a market.

    when a type is switched off      an open market that was active is suspended, once
    while it is off                  a market that was first opened before: nothing but its results, voids and
                                     rollbacks; one that was first opened later: nothing, except where the
                                     clock that opened it was behind: it is then suspended from the start
    from when it is switched on      every market that is open then, and every later one

A place in the change log decides: what was published before the switch stays as it was published.
"""

from collections.abc import Mapping, Sequence

import msgspec

from app.domain import frame_types
from app.domain.market import Market, MarketStatus
from app.domain.settlement import LedgerEntry

REASON = "this market type is switched off"
#: The types that are off, each with the time (Unix ms) up to which a market was opened that was offered.
OffTypes = Mapping[int, int]
NONE_OFF: OffTypes = {}


class TypeOff(msgspec.Struct, frozen=True, omit_defaults=True):
    """An interval of the change log in which a type was off: after the change `off_seq` and before `on_seq`
    (None: it still is). `off_at` (Unix ms): a market that was first opened later was not offered before.
    `on_at` is when the type was switched on again."""

    type_id: int
    off_at: int
    off_seq: int
    on_at: int | None = None
    on_seq: int | None = None

    def contains(self, seq: int) -> bool:
        """Whether the type was off at the change `seq`."""
        return self.off_seq < seq and (self.on_seq is None or seq < self.on_seq)

    @property
    def last_seq(self) -> int:
        """The number of its last switch."""
        return self.on_seq or self.off_seq


Intervals = Sequence[TypeOff]  #: of one tenant, in the order in which they began


def off_at_seq(intervals: Intervals, seq: int) -> OffTypes:
    """The types that were off at the change `seq`."""
    return {one.type_id: one.off_at for one in intervals if one.contains(seq)} if intervals else NONE_OFF


def off_now(intervals: Intervals) -> OffTypes:
    """The types that are off."""
    return {one.type_id: one.off_at for one in intervals if one.on_seq is None} if intervals else NONE_OFF


def last_switch(intervals: Intervals, type_id: int | None = None) -> int:
    """The number of the last switch, of this type or of any; 0 without one."""
    return max((one.last_seq for one in intervals if type_id in (None, one.type_id)), default=0)


def was_offered(off: OffTypes, type_id: int, first_opened_at: int) -> bool:
    """Whether a market may have been offered to the tenant: its type is not among the types that are `off`,
    or it was there before. Its results are then the tenant's."""
    limit = off.get(type_id)
    return limit is None or first_opened_at <= limit


def market_in_list(market: Market, off: OffTypes) -> Market | None:
    """A market as lists of present markets show it: never active while its type is off, and left out if it
    was not offered before."""
    if market.type_id not in off:
        return market
    if not was_offered(off, market.type_id, market.first_opened_at):
        return None
    return suspended(market) if market.status is MarketStatus.ACTIVE else market


def markets_in_list(markets: Sequence[Market], off: OffTypes) -> Sequence[Market]:
    """`market_in_list` of each, without those that are left out."""
    if not off:
        return markets
    return [shown for market in markets if (shown := market_in_list(market, off))]


def entry_offered(entry: LedgerEntry, intervals: Intervals) -> bool:
    """Whether a stored entry of the ledger was published to the tenant; its id is its place."""
    off = off_at_seq(intervals, entry.id)
    return not off or was_offered(off, entry.type_id, entry.first_opened_at)


def offered_entries(entries: Sequence[LedgerEntry], intervals: Intervals) -> Sequence[LedgerEntry]:
    """The entries that were published to the tenant."""
    return [one for one in entries if entry_offered(one, intervals)] if intervals else entries


def changed_market(market: Market, off: OffTypes, frame: str) -> Market | None:
    """A market that has changed, as a live message lists it; None: the tenant is not notified. `frame` is the
    type of the frame about the change, and says which change it was.

    While its type is off, the tenant is notified of its result. It receives the market, suspended, when a
    rollback has opened it again, or when it is new and counts as opened before the switch: lists show it from
    then on."""
    if market.type_id not in off:
        return market
    if not was_offered(off, market.type_id, market.first_opened_at):
        return None
    if not market.open:
        return market
    opened_again = market.settled_by and frame != frame_types.MARKET_UPDATED
    return market_in_list(market, off) if opened_again or frame == frame_types.MARKET_CREATED else None


def suspended(market: Market) -> Market:
    """An active market as a tenant sees it whose type is off."""
    return msgspec.structs.replace(market, status=MarketStatus.SUSPENDED, reason=REASON)

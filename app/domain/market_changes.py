"""What happened to a market, as the change log has it, and what of that a tenant received."""

import msgspec

from app.domain.market import Market
from app.domain.settlement import LedgerEntry
from app.domain.tenant import Tenant
from app.domain.types_off import changed_market, entry_offered, off_at_seq


class MarketChange(msgspec.Struct, frozen=True):
    """A market as it was from `at` (Unix ms) on, or an entry about it in the ledger. `frame` is the type of
    the frame about a market's change; `own`: it was published to one tenant alone, as that tenant sees it."""

    seq: int
    at: int
    what: Market | LedgerEntry
    frame: str = ""
    own: bool = False


def received(change: MarketChange, tenant: Tenant) -> MarketChange | None:
    """The change as it was published to the tenant; None if it was not. Whatever shows a tenant the history
    of a market has it from here."""
    what, intervals = change.what, tenant.types_off
    if change.own or not intervals:
        return change
    if not isinstance(what, Market):
        return change if entry_offered(what, intervals) else None
    seen = changed_market(what, off_at_seq(intervals, change.seq), change.frame)
    if seen is None or seen is what:
        return change if seen else None
    return msgspec.structs.replace(change, what=seen)

"""What happened to a market, as the change log has it, and what of that a tenant received."""

import msgspec

from app.domain.market import Market
from app.domain.settlement import LedgerEntry
from app.domain.tenant_offer import TenantOffer
from app.domain.types_off import entry_offered


class MarketChange(msgspec.Struct, frozen=True):
    """A market as it was from `at` (Unix ms) on, or an entry about it in the ledger. `frame` is the type of
    the frame about a market's change; `own`: it was published to one tenant alone, as that tenant sees it."""

    seq: int
    at: int
    what: Market | LedgerEntry
    frame: str = ""
    own: bool = False


def received(change: MarketChange, offer: TenantOffer) -> MarketChange | None:
    """The change as it was published to a tenant with this offer; None if it was not. Whatever shows a tenant
    the history of a market has it from here."""
    what = change.what
    if change.own or not offer:
        return change
    if not isinstance(what, Market):
        return change if entry_offered(what, offer.types_off) else None
    seen = offer.at(change.seq).changed_market(what, change.frame)
    if seen is None or seen is what:
        return change if seen else None
    return msgspec.structs.replace(change, what=seen)

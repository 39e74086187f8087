"""Views of markets as traders see them, and of what a command would do."""

from collections import Counter

import msgspec

from app.commands.execution import Preview
from app.domain.market import Market
from app.domain.settlement import LedgerEntry
from app.domain.suspension_reasons import market_reason_code
from app.kit.clock import iso_millis
from app.wire.views.match import MatchView, basic_view


class TradedMarket(msgspec.Struct, frozen=True):
    """An open market. `status` 1 is on offer, -1 suspended, for `reason` (code: `reason_code`); `group`
    names the markets of which exactly one wins; `probability` is the one that it is priced by, without
    margin."""

    market_id: int
    specifiers: str
    group: str
    status: int
    odds: str
    probability: float
    reason: str
    reason_code: str | None
    priced_at: str


class PreviewedMarket(msgspec.Struct, frozen=True):
    """A market that would change; `before` is None for a new one. Its status may also be settled (-3) or void
    (-4)."""

    before: TradedMarket | None
    after: TradedMarket


class PreviewedEntry(msgspec.Struct, frozen=True):
    """An entry that the ledger would get; `message` is the feed message that publishes it."""

    market_id: int
    specifiers: str
    previous_status: str
    new_status: str
    result: str | None
    reason: str
    message: str


class PreviewView(msgspec.Struct, frozen=True):
    """What a command would do now. `revision` is the match's before it; `envelopes` are the feed messages
    that it would cause, by name. `needs_consent`: it waits until a second person consents; `fingerprint` is
    that of its effect on results."""

    revision: int
    match: MatchView
    markets: tuple[PreviewedMarket, ...]
    entries: tuple[PreviewedEntry, ...]
    envelopes: dict[str, int]
    needs_consent: bool
    fingerprint: str


def preview_view(found: Preview) -> PreviewView:
    return PreviewView(
        revision=found.match.revision,
        match=basic_view(found.after),
        markets=tuple(
            PreviewedMarket(traded_market(one.before) if one.before else None, traded_market(one.after))
            for one in found.markets
        ),
        entries=tuple(_entry(one) for one in found.entries),
        envelopes=dict(Counter(one.message for one in found.envelopes)),
        needs_consent=found.needs_consent,
        fingerprint=found.fingerprint,
    )


def traded_market(market: Market) -> TradedMarket:
    return TradedMarket(
        market_id=market.type_id,
        specifiers=market.specifiers,
        group=market.group,
        status=market.status,
        odds=str(market.odds),
        probability=market.probability,
        reason=market.reason,
        reason_code=market_reason_code(market),
        priced_at=iso_millis(market.priced_at),
    )


def _entry(entry: LedgerEntry) -> PreviewedEntry:
    return PreviewedEntry(
        market_id=entry.type_id,
        specifiers=entry.specifiers,
        previous_status=entry.previous_status,
        new_status=entry.new_status,
        result=entry.result,
        reason=entry.reason,
        message=entry.message,
    )

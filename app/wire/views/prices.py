"""The history of markets as JSON and as CSV: prices, suspensions, settlements, voids and rollbacks."""

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from app.domain.market import Market, Result, market_name
from app.domain.market_changes import MarketChange
from app.domain.settlement import LedgerEntry
from app.domain.suspension_reasons import market_reason_code
from app.kit.csv_rows import csv_text
from app.wire.views.offers import STATUS_NAMES

MarketMessage = Literal[
    "odds_change", "bet_settlement", "bet_cancel", "rollback_bet_settlement", "rollback_bet_cancel"
]
_DECIMALS = 6  #: of probabilities, as in the feed


class PriceView(msgspec.Struct, frozen=True, kw_only=True):
    """A change of a market, with its number in the change log and the `timestamp` (Unix ms) and name of the
    feed `message` that it was published in.

    An `odds_change` has the market as it was from then on: its `status`, `odds` (and the model's
    `probability`, for tenants that receive it) while it had no result, and why it was suspended. The other
    messages are entries of the ledger, with their `status` there (`settled`, `voided`, `pending` after a
    rollback), the `outcome`, and why (`reason`, `void_reason_id`). With `void_from` and `void_until` (Unix
    ms, both included) such an entry is about the bets placed then alone.
    """

    seq: int
    timestamp: int
    message: MarketMessage
    market_offer_id: str
    market_id: int
    specifiers: str
    status: str
    odds: float | UnsetType = UNSET
    probability: float | UnsetType = UNSET
    suspended_reason: str | UnsetType = UNSET
    suspended_reason_code: str | UnsetType = UNSET
    outcome: Result | UnsetType = UNSET
    void_reason_id: int | UnsetType = UNSET
    void_from: int | UnsetType = UNSET
    void_until: int | UnsetType = UNSET
    reason: str | UnsetType = UNSET


class PriceMeta(msgspec.Struct, frozen=True):
    """`count`: changes in this answer, which may be fewer than `limit`, and none, while there are `more`.
    `next_since_seq` is the `since_seq` of the next request. Every change from `complete_from` on is here; 0:
    every change that there ever was."""

    count: int
    limit: int
    next_since_seq: int
    more: bool
    complete_from: int


class PriceList(msgspec.Struct, frozen=True):
    """Changes of markets of a match, in the order in which they were published."""

    data: tuple[PriceView, ...]
    meta: PriceMeta


CSV_COLUMNS = PriceView.__struct_fields__


def price_views(
    changes: Iterable[MarketChange], *, probabilities: bool, settlements: bool
) -> Iterator[PriceView]:
    """The views of changes as a tenant received them (`market_changes.received`): with `probabilities` if it
    receives them, with `settlements` for keys that may read the ledger."""
    for change in changes:
        if isinstance(change.what, Market):
            yield _of_market(change, change.what, probabilities=probabilities)
        elif settlements:
            yield _of_entry(change, change.what)


def prices_csv(views: Iterable[PriceView], *, header: bool = True) -> str:
    """Lines with the fields of the JSON, after a first line with their names; what JSON leaves out is
    empty."""
    cells = ([_cell(getattr(view, name)) for name in CSV_COLUMNS] for view in views)
    return csv_text([CSV_COLUMNS] if header else []) + csv_text(cells)


def _cell(value: object) -> object:
    return None if value is UNSET else value


def _of_market(change: MarketChange, market: Market, *, probabilities: bool) -> PriceView:
    code = market_reason_code(market)
    return PriceView(
        seq=change.seq,
        timestamp=change.at,
        message="odds_change",
        market_offer_id=market_name(*market.key),
        market_id=market.type_id,
        specifiers=market.specifiers,
        status=STATUS_NAMES[market.status],
        odds=float(market.odds) if market.open else UNSET,
        probability=round(market.probability, _DECIMALS) if probabilities and market.open else UNSET,
        suspended_reason=(code and market.reason) or UNSET,
        suspended_reason_code=code or UNSET,
    )


def _of_entry(change: MarketChange, entry: LedgerEntry) -> PriceView:
    window = entry.void_window
    return PriceView(
        seq=change.seq,
        timestamp=change.at,
        message=entry.message,
        market_offer_id=market_name(*entry.key),
        market_id=entry.type_id,
        specifiers=entry.specifiers,
        status=entry.new_status.value,
        outcome=entry.result or UNSET,
        void_reason_id=UNSET if entry.void_reason_id is None else entry.void_reason_id,
        void_from=window.start_time if window else UNSET,
        void_until=window.end_time if window else UNSET,
        reason=entry.reason or UNSET,
    )

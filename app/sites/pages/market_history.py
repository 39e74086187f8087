"""The price of a market through time, its suspensions and its settlements: what a page lists, and its plot
shows.
"""

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from app.domain.catalogue import Locale
from app.domain.market import Market
from app.domain.market_changes import MarketChange
from app.domain.suspension_reasons import in_words, market_reason_code
from app.kit.heavy_work import run_in_thread
from app.sites.pages.settlements import kind_of
from app.store.market_history import NewestChanges

CHANGES = 100  #: rows of a page
POINTS = 5_000  #: changes that a plot shows at most, the newest


class Point(msgspec.Struct, frozen=True, array_like=True):
    """The odds from `at` (Unix ms) on; None while the market is not open."""

    at: int
    odds: float | None


class Suspension(msgspec.Struct, frozen=True, array_like=True):
    """No bets from `since` until `until` (Unix ms; None: still), for a reason in words and as a code."""

    since: int
    until: int | None
    reason: str
    code: str


class Mark(msgspec.Struct, frozen=True, array_like=True):
    """An entry of the ledger, and what it does (`kind_of`)."""

    at: int
    entry_id: int
    kind: str


class PriceHistory(msgspec.Struct, frozen=True):
    """What a plot of a market shows; `complete`: nothing that the change log has was left out."""

    points: list[Point]
    suspensions: list[Suspension]
    marks: list[Mark]
    complete: bool


async def price_history(found: NewestChanges, locale: Locale) -> PriceHistory:
    """The history that these changes make; reasons are in the language `locale`."""
    return await run_in_thread(_history, found.changes[::-1], locale, complete=found.older is None)


def _history(changes: Iterable[MarketChange], locale: Locale, *, complete: bool) -> PriceHistory:
    """Of changes, oldest first: times of one market never fall."""
    history = PriceHistory([], [], [], complete)
    for change in changes:
        what = change.what
        if isinstance(what, Market):
            history.points.append(Point(change.at, float(what.odds) if what.open else None))
            _suspend(history.suspensions, change.at, what, locale)
        else:
            history.marks.append(Mark(change.at, what.id, kind_of(what)))
    return history


def _suspend(suspensions: list[Suspension], at: int, market: Market, locale: Locale) -> None:
    """Begin, continue or end a suspension; another reason begins another one."""
    code, reason = market_reason_code(market), in_words(market.reason, locale)
    last = suspensions[-1] if suspensions and suspensions[-1].until is None else None
    if last and (code, reason) == (last.code, last.reason):
        return
    if last:
        suspensions[-1] = replace(last, until=at)
    if code:
        suspensions.append(Suspension(at, None, reason, code))


def kind_of_change(change: MarketChange) -> str:
    """What an entry of the ledger does (`kind_of`); empty for a change of the market."""
    return "" if isinstance(change.what, Market) else kind_of(change.what)

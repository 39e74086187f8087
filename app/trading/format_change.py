"""How the book changes when the format of the series or its maps changes.

A line about rounds or maps is another bet under another format: the bets placed so far are void. Where the
line exists in the new format too it stays on offer, at another price, and only those bets are void (a void
window); where it does not it is void altogether, and comes back if its format does. What means the same in
both formats (winners, races, pistol rounds) is left as it is.
"""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from app.domain.changes import FormatChanged, MatchChange
from app.domain.market import Book, Market, MarketKey, MarketStatus
from app.domain.match import Match
from app.domain.settlement import LedgerEntry, VoidWindow
from app.trading.forecast import Forecast
from app.trading.match_facts import MatchFacts
from app.trading.offer_plan import possible_markets
from app.trading.registry import RULES
from app.trading.rules import NOT_PLAYED, void
from app.trading.settling import roll_back, settle, void_window_entry

REASON = "the format was changed"


def apply_format_change(
    match: Match, facts: MatchFacts, changes: Sequence[MatchChange], after: Book, now: int
) -> tuple[list[LedgerEntry], dict[MarketKey, VoidWindow]]:
    """Close and open in `after` (changed in place) what the changed format demands at `now` (ms). Returns
    the ledger entries about that, and the windows of bets that are void, by market."""
    old = next((one for one in changes if isinstance(one, FormatChanged)), None)
    entries: list[LedgerEntry] = []
    marked: dict[MarketKey, VoidWindow] = {}
    scopes = _changed(old, match) if old else set()
    if not scopes:
        return entries, marked
    forecast = Forecast(facts, now)
    offered = {
        (rule.id, specifiers.text)
        for rule in RULES.values()
        if rule.about_format in scopes
        for specifiers in possible_markets(rule, forecast)
    }
    for key, market in after.items():
        if market.type_id not in RULES or RULES[market.type_id].about_format not in scopes or market.held:
            continue
        changed = _void_or_restore(market, exists=key in offered)
        if changed:
            after[key], entry = changed
            entries.append(entry)
        if after[key].open and key in offered and market.took_bets_since(market.opened_at):
            marked[key] = VoidWindow(market.opened_at, now)
            after[key] = replace(after[key], opened_at=now)
    return entries, marked


def _void_or_restore(market: Market, *, exists: bool) -> tuple[Market, LedgerEntry] | None:
    """The market voided because its line no longer exists, or rolled back because it exists again."""
    if not exists:
        return settle(market, void(NOT_PLAYED, (), REASON), "system") if market.open else None
    return (
        roll_back(market, "the format is what it was", "system") if _voided_by_format_change(market) else None
    )


def _changed(old: FormatChanged, match: Match) -> set[str]:
    scopes = set()
    if old.best_of != match.best_of:
        scopes.add("series")
    if (old.max_rounds, old.overtime_rounds) != (match.max_rounds, match.overtime_rounds):
        scopes.add("map")
    return scopes


def _voided_by_format_change(market: Market) -> bool:
    cancelled = market.status is MarketStatus.CANCELLED
    return cancelled and market.settled_by == "system" and market.reason == REASON


def window_entries(marked: dict[MarketKey, VoidWindow], after: Book) -> Iterator[LedgerEntry]:
    """The ledger entries that void the bets placed before, with the markets' present state from `after`."""
    for key, window in marked.items():
        yield void_window_entry(after[key], window, REASON, void_reason_id=NOT_PLAYED, settled_by="system")

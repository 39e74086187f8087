"""Manual settlement: what an operator decides about one market.

The engine does not touch what was settled here until it is rolled back here. A market that is open again
after that follows the facts as before, unless the caller marks it as held (`market.HELD`, as
`commands.market_actions` does): then the engine neither offers nor settles it until it is settled or voided
here, or released. Held or not, an open market can be settled and voided here. Each function returns the
market and its ledger entry; where the market's present state forbids it, it raises `Conflict`, which names
that state.
"""

from app.domain.market import Market, Result
from app.domain.settlement import LedgerEntry, VoidWindow
from app.kit.errors import Conflict
from app.trading import settling
from app.trading.rules import Settlement

MarketAndEntry = tuple[Market, LedgerEntry]


def settle(market: Market, *, won: bool, reason: str) -> MarketAndEntry:
    """Settle an open market as won or lost."""
    _require_open(market)
    return settling.settle(market, Settlement(Result.WON if won else Result.LOST, (), reason), "admin")


def void(market: Market, void_reason_id: int, reason: str) -> MarketAndEntry:
    """Void an open market for a reason of the catalogue."""
    _require_open(market)
    return settling.settle(market, Settlement(Result.VOID, (), reason, void_reason_id), "admin")


def roll_back(market: Market, reason: str) -> MarketAndEntry:
    """Roll back a settlement or a void, made by the engine or by an operator."""
    if not market.closed:
        raise Conflict(f"{market_name(market)} is {_state(market)}: there is nothing to roll back.")
    return settling.roll_back(market, reason, "admin")


def void_bets(market: Market, window: VoidWindow, void_reason_id: int, reason: str) -> MarketAndEntry:
    """Void the bets of a window; the market stays as it is, open or not."""
    return market, settling.void_window_entry(
        market, window, reason, void_reason_id=void_reason_id, settled_by="admin"
    )


def restore_bets(market: Market, window: VoidWindow, reason: str) -> MarketAndEntry:
    """Roll back the void of a window's bets, made by the engine or by an operator."""
    return market, settling.void_window_entry(market, window, reason, settled_by="admin", rolled_back=True)


def market_name(market: Market) -> str:
    """The market's name in error messages."""
    return f"Market {market.type_id} {market.specifiers}".rstrip()


def _require_open(market: Market) -> None:
    if not market.open:
        raise Conflict(f"{market_name(market)} is {_state(market)}; roll it back first.")


def _state(market: Market) -> str:
    return market.status.name.lower()

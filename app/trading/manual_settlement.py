"""Settling by hand: what an operator decides about one market.

The engine leaves alone what was settled here until it is rolled back here. A market that is open again
after that follows the facts as before, unless the caller marks it as held (`market.HELD`, as
`ingest.hands` does): then the engine neither offers nor settles it until it is settled or voided here, or
released. Held or not, an open market can be settled and voided here. Each answers the market and its
ledger entry; a move that the market's present state forbids raises `Conflict`, which says that state.
"""

from app.domain.market import Market, Result
from app.domain.settlement import LedgerEntry, VoidWindow
from app.kit.errors import Conflict
from app.trading import settling
from app.trading.rules import Verdict

Decision = tuple[Market, LedgerEntry]


def settle(market: Market, *, won: bool, reason: str) -> Decision:
    """Settle an open market as won or lost."""
    _require_open(market)
    return settling.settle(market, Verdict(Result.WON if won else Result.LOST, (), reason), "admin")


def void(market: Market, void_reason_id: int, reason: str) -> Decision:
    """Void an open market for a reason of the catalogue."""
    _require_open(market)
    return settling.settle(market, Verdict(Result.VOID, (), reason, void_reason_id), "admin")


def roll_back(market: Market, reason: str) -> Decision:
    """Take a settlement or a void back, whoever made it."""
    if market.status not in settling.CLOSED:
        raise Conflict(f"{named(market)} is {_state(market)}: there is nothing to roll back.")
    return settling.roll_back(market, reason, "admin")


def void_bets(market: Market, window: VoidWindow, void_reason_id: int, reason: str) -> Decision:
    """Void the bets of a window; the market stays as it is, open or not."""
    return market, settling.about_bets(
        market, window, reason, void_reason_id=void_reason_id, settled_by="admin"
    )


def take_bets_back(market: Market, window: VoidWindow, reason: str) -> Decision:
    """Let the bets of a window stand again, whoever voided them."""
    return market, settling.about_bets(market, window, reason, settled_by="admin", rolled_back=True)


def named(market: Market) -> str:
    """The market, as refusals speak of it."""
    return f"Market {market.type_id} {market.specifiers}".rstrip()


def _require_open(market: Market) -> None:
    if not market.open:
        raise Conflict(f"{named(market)} is {_state(market)}; roll it back first.")


def _state(market: Market) -> str:
    return market.status.name.lower()

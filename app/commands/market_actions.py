"""What an operator does to markets by hand, as additions to the ledger; pure.

A result is only ever changed by taking the old one back first. What was settled by hand stays so until
it is taken back by hand, and a market whose settlement was taken back is held: the engine neither
offers nor settles it until it is settled, voided or released.
"""

from collections.abc import Callable

from msgspec.structs import replace

from app.domain.market import HELD, Book, Market, Result, specifier_values
from app.domain.match import Match
from app.domain.series import next_map
from app.domain.settlement import VoidWindow
from app.kit.errors import Conflict, NotFound
from app.trading import manual_settlement
from app.trading.engine import Reaction
from app.trading.manual_settlement import MarketTransition
from app.trading.rules import NOT_PLAYED

Key = tuple[int, str]
ManualMarketAction = Callable[[Book], Reaction]  #: what an operator does to a book
Decide = Callable[[Market], MarketTransition]
_MATCH_WINNER, _MAP_WINNER = 1, 6


def settle(key: Key, result: Result, reason: str) -> ManualMarketAction:
    """Close a market with this result, whatever was its result before."""

    def decide(market: Market) -> MarketTransition:
        return manual_settlement.settle(market, won=result is Result.WON, reason=reason)

    return lambda book: _closed(_find(book, key), decide, reason)


def void(key: Key, void_reason_id: int, reason: str) -> ManualMarketAction:
    return lambda book: _closed(_find(book, key), _voiding(void_reason_id, reason), reason)


def void_bets(key: Key, window: VoidWindow, void_reason_id: int, reason: str) -> ManualMarketAction:
    """Void the bets of a window; that they are not yet is the caller's to see."""
    return _about_bets(
        key, lambda market: manual_settlement.void_bets(market, window, void_reason_id, reason)
    )


def take_bets_back(key: Key, window: VoidWindow, reason: str) -> ManualMarketAction:
    """Let void bets of a window stand again; that they are void is the caller's to see."""
    return _about_bets(key, lambda market: manual_settlement.restore_bets(market, window, reason))


def _about_bets(key: Key, decide: Decide) -> ManualMarketAction:
    def act(book: Book) -> Reaction:
        market, entry = decide(_find(book, key))
        return Reaction((market,), (entry,))

    return act


def roll_back(key: Key, reason: str, *, release: bool) -> ManualMarketAction:
    """Take a settlement or a void back, and hold the market; released, it is the engine's again."""
    keeper = "engine" if release else HELD

    def act(book: Book) -> Reaction:
        market = _find(book, key)
        if market.held and release:
            return Reaction((replace(market, settled_by=keeper),))
        opened, entry = manual_settlement.roll_back(market, reason)
        return Reaction((replace(opened, settled_by=keeper),), (entry,))

    return act


def no_action(book: Book) -> Reaction:
    return Reaction()


def void_at_map_award(before: Match) -> ManualMarketAction:
    """Void what an awarded map leaves undecided: its own markets, and the lines about the map score.

    The winner of a map that was in play goes by the award, as does the winner of the match.
    """
    number, begun = next_map(before).number, before.map is not None

    def undecided(market: Market) -> bool:
        values = specifier_values(market.specifiers)
        if "map" not in values:
            return market.type_id != _MATCH_WINNER
        by_award = begun and (market.type_id == _MAP_WINNER or "round" in values)
        return values["map"] == str(number) and not by_award

    return _void_open(undecided, "the map was awarded")


def void_at_match_award(before: Match) -> ManualMarketAction:
    """Void what is undecided; only the winner of a match that was begun goes by the award."""
    in_play = before.map.number if before.map else 0
    begun = bool(in_play) or any(play.started_at for play in before.maps)

    def undecided(market: Market) -> bool:
        by_award = market.type_id == _MATCH_WINNER or market.specifiers.startswith(f"map={in_play}|")
        lines = market.type_id not in (_MATCH_WINNER, _MAP_WINNER) and "round=" not in market.specifiers
        return lines or not (begun and by_award)

    return _void_open(undecided, "the match was awarded")


def _void_open(which: Callable[[Market], bool], reason: str) -> ManualMarketAction:
    decide = _voiding(NOT_PLAYED, reason)

    def act(book: Book) -> Reaction:
        made = [decide(market) for market in book.values() if market.open and which(market)]
        return Reaction(tuple(market for market, _ in made), tuple(entry for _, entry in made))

    return act


def _voiding(void_reason_id: int, reason: str) -> Decide:
    return lambda market: manual_settlement.void(market, void_reason_id, reason)


def _closed(market: Market, decide: Decide, reason: str) -> Reaction:
    """Decide an open market; one that is closed is first rolled back, unless that would change nothing."""
    if market.open:
        closed, entry = decide(market)
        return Reaction((closed,), (entry,))
    opened, taken_back = manual_settlement.roll_back(market, reason)
    closed, entry = decide(opened)
    same = (market.result, market.void_reason_id) == (closed.result, closed.void_reason_id)
    if same and market.settled_by == entry.settled_by:
        raise Conflict(f"{manual_settlement.market_name(market)} is {market.result} by hand already.")
    return Reaction((closed,), (taken_back, entry))


def _find(book: Book, key: Key) -> Market:
    market = book.get(key)
    if market is None:
        raise NotFound(f"There is no market {key[0]} with specifiers {key[1]!r} on this match.")
    return market

"""Manual actions of operators on markets, as additions to the ledger, and what traders' commands do to the
book or require of it; pure.

A result is changed only by rolling the old one back first. A manual settlement stays until it is rolled back
manually, and a market that was rolled back is held: the engine neither offers nor settles it until an
operator settles, voids or releases it.
"""

from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from app.commands import trading_commands as t
from app.domain.market import (
    HELD,
    MAP_WINNER,
    MATCH_WINNER,
    Book,
    Market,
    MarketKey,
    Result,
    specifier_values,
)
from app.domain.match import Match
from app.domain.series import next_map
from app.domain.settlement import VoidWindow
from app.domain.suspension_reasons import OFF_OFFER
from app.domain.trading_controls import (
    MOVED_TOO_FAR,
    find,
)
from app.kit.errors import Conflict, NotFound
from app.trading import settling
from app.trading.engine import Reaction
from app.trading.rules import NOT_PLAYED
from app.trading.settling import MarketAndEntry

ManualMarketAction = Callable[[Book], Reaction]  #: takes the action on a book
Decide = Callable[[Market], MarketAndEntry]


def settle(key: MarketKey, result: Result, reason: str) -> ManualMarketAction:
    """Settle a market with this result, whatever its result was before."""

    def decide(market: Market) -> MarketAndEntry:
        return settling.settle_manually(market, won=result is Result.WON, reason=reason)

    return lambda book: _decided(find_market(book, key), decide, reason)


def void(key: MarketKey, void_reason_id: int, reason: str) -> ManualMarketAction:
    return lambda book: _decided(find_market(book, key), _voiding(void_reason_id, reason), reason)


def void_bets(key: MarketKey, window: VoidWindow, void_reason_id: int, reason: str) -> ManualMarketAction:
    """Void the bets of a window; the caller checks that they are not void yet."""
    return _about_bets(key, lambda market: settling.void_bets(market, window, void_reason_id, reason))


def restore_bets(key: MarketKey, window: VoidWindow, reason: str) -> ManualMarketAction:
    """Make void bets of a window valid again; the caller checks that they are void."""
    return _about_bets(key, lambda market: settling.restore_bets(market, window, reason))


def _about_bets(key: MarketKey, decide: Decide) -> ManualMarketAction:
    def act(book: Book) -> Reaction:
        market, entry = decide(find_market(book, key))
        return Reaction((market,), (entry,))

    return act


def roll_back(key: MarketKey, reason: str, *, release: bool) -> ManualMarketAction:
    """Roll back a settlement or a void and hold the market; with `release` the engine handles it again."""
    settled_by = "engine" if release else HELD

    def act(book: Book) -> Reaction:
        market = find_market(book, key)
        if market.held and release:
            return Reaction((replace(market, settled_by=settled_by),))
        opened, entry = settling.roll_back_manually(market, reason)
        return Reaction((replace(opened, settled_by=settled_by),), (entry,))

    return act


def no_action(book: Book) -> Reaction:
    return Reaction()


def void_at_map_award(before: Match) -> ManualMarketAction:
    """Void the markets that an awarded map leaves undecided: its own, and the lines about the map score.

    The winner of a map that was in play is decided by the award, as is the winner of the match.
    """
    number, begun = next_map(before).number, before.map is not None

    def undecided(market: Market) -> bool:
        values = specifier_values(market.specifiers)
        if "map" not in values:
            return market.type_id != MATCH_WINNER
        by_award = begun and (market.type_id == MAP_WINNER or "round" in values)
        return values["map"] == str(number) and not by_award

    return _void_open(undecided, "the map was awarded")


def void_at_match_award(before: Match) -> ManualMarketAction:
    """Void undecided markets; the award decides only the winner of a match that had begun."""
    in_play = before.map.number if before.map else 0
    begun = bool(in_play) or any(play.started_at for play in before.maps)

    def undecided(market: Market) -> bool:
        by_award = market.type_id == MATCH_WINNER or market.specifiers.startswith(f"map={in_play}|")
        lines = market.type_id not in (MATCH_WINNER, MAP_WINNER) and "round=" not in market.specifiers
        return lines or not (begun and by_award)

    return _void_open(undecided, "the match was awarded")


def _void_open(which: Callable[[Market], bool], reason: str) -> ManualMarketAction:
    decide = _voiding(NOT_PLAYED, reason)

    def act(book: Book) -> Reaction:
        made = [decide(market) for market in book.values() if market.open and which(market)]
        return Reaction(tuple(market for market, _ in made), tuple(entry for _, entry in made))

    return act


def _voiding(void_reason_id: int, reason: str) -> Decide:
    return lambda market: settling.void_manually(market, void_reason_id, reason)


def _decided(market: Market, decide: Decide, reason: str) -> Reaction:
    """Decide an open market; a closed one is rolled back first, unless the decision would change nothing."""
    if market.open:
        closed, entry = decide(market)
        return Reaction((closed,), (entry,))
    opened, rollback = settling.roll_back_manually(market, reason)
    closed, entry = decide(opened)
    same = (market.result, market.void_reason_id) == (closed.result, closed.void_reason_id)
    if same and market.settled_by == entry.settled_by:
        raise Conflict(f"{settling.market_name(market)} is {market.result} by an operator already.")
    return Reaction((closed,), (rollback, entry))


def trading_action(command: t.TradingCommand, before: Match) -> ManualMarketAction:
    """What a trader's command does to the book itself, or requires of it: it raises `NotFound` or `Conflict`
    where that is not there."""
    controls = before.controls
    match command:
        case t.SuspendMarket() | t.HoldProbability():
            return partial(_require_open, command.key)
        case t.SuspendGroup(group=group):
            return partial(_require_group, group)
        case t.ReleaseMarket():
            set_by_operator = find(controls.suspended_markets, command.key) is not None
            return lambda book: _release(book, find_market(book, command.key).group, set_by_operator)
        case t.ReleaseGroup(group=group):
            return partial(
                _release, group=group, set_by_operator=find(controls.suspended_groups, group) is not None
            )
    return no_action


def _require_open(key: MarketKey, book: Book) -> Reaction:
    market = find_market(book, key)
    if not market.open or market.held:
        raise Conflict(f"Market {key[0]} {key[1]} is not open: it has a result, or waits for an operator's.")
    return Reaction()


def _require_group(group: str, book: Book) -> Reaction:
    if not any(_is_open_in(group, market) for market in book.values()):
        raise NotFound(f"No open market of this match is in the group {group!r}.")
    return Reaction()


def _release(book: Book, group: str, set_by_operator: bool) -> Reaction:
    """Accept whatever price the markets of the group have now, where one would have moved too far."""
    waiting = [one for one in book.values() if _is_open_in(group, one) and one.reason == MOVED_TOO_FAR]
    if not waiting and not set_by_operator:
        raise Conflict("No operator has suspended this, and its price did not move too far.")
    return Reaction(tuple(replace(market, reason=OFF_OFFER) for market in waiting))


def _is_open_in(group: str, market: Market) -> bool:
    return market.open and market.group == group


def find_market(book: Book, key: MarketKey) -> Market:
    market = book.get(key)
    if market is None:
        raise NotFound(f"There is no market {key[0]} with specifiers {key[1]!r} on this match.")
    return market

"""The markets of a match as its page lists them, by group; pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from decimal import Decimal

import msgspec

from app.domain.entrants import Player
from app.domain.market import Book, Market, MarketStatus, market_name, specifier_values
from app.domain.match import Match
from app.sites.console.paths import market_path
from app.sites.pages.market_names import Players, account_of_player


class MarketRow(msgspec.Struct, frozen=True, kw_only=True):
    """What is shown of a market; `path` is its page. `odds` is None while it is not on offer. `margin` is
    that of its group, where all of it is on offer; else how far its own inverse odds exceed its probability,
    relatively."""

    market: Market
    path: str
    home: str
    away: str
    player: Player | None
    odds: Decimal | None
    margin: float | None

    @property
    def key(self) -> str:
        return market_name(*self.market.key)


def market_rows(book: Book, match: Match, players: Players, *, closed: bool) -> dict[str, MarketRow]:
    """The open markets by name, or the closed ones: those of one group are adjacent; match first, then maps,
    then rounds."""
    margins = _margins(book.values())
    shown = [each for each in book.values() if each.open is not closed]
    rows = [
        MarketRow(
            market=each,
            path=market_path(match.number, each.key),
            home=match.home,
            away=match.away,
            player=players.get(account_of_player(each.key)),
            odds=each.odds if each.status is MarketStatus.ACTIVE else None,
            margin=_margin(each, margins),
        )
        for each in sorted(shown, key=_order)
    ]
    return {row.key: row for row in rows}


def _margins(markets: Iterable[Market]) -> dict[str, float]:
    """The margin of each group all of whose open markets are on offer."""
    groups: dict[str, list[Market]] = defaultdict(list)
    for market in markets:
        if market.open and market.group:
            groups[market.group].append(market)
    return {
        name: sum(float(1 / each.odds) for each in members) - 1
        for name, members in groups.items()
        if all(each.status is MarketStatus.ACTIVE for each in members)
    }


def _margin(market: Market, margins: Mapping[str, float]) -> float | None:
    if market.status is not MarketStatus.ACTIVE or not market.probability:
        return None
    own = float(1 / market.odds) / market.probability - 1
    return margins.get(market.group, own) if market.group else own


def _order(market: Market) -> tuple[object, ...]:
    values = specifier_values(market.specifiers)
    place = (_number(values.get("map", "")), _number(values.get("round", "")), "player" in values)
    return *place, market.type_id, market.group, market.specifiers


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() else 0

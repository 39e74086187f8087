"""The tables of the page of a match: its row of the live page, its open alerts, the model's inputs (what the
model knows of the match when it prices it, one row for each value), its open markets; as rows, and read.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from decimal import Decimal
from uuid import UUID

import msgspec

from app.domain.entrants import Player
from app.domain.market import Book, Market, MarketStatus, market_name, specifier_values
from app.domain.match import Match
from app.kit.clock import Clock
from app.kit.errors import NotFound
from app.sites.console.happened import HAPPENED, HappenedReader
from app.sites.console.live_tables import ALERTS, AlertRow, live_row
from app.sites.console.row_feed import Tables
from app.sites.console.site import market_path
from app.sites.pages.market_names import Players, account_of_player, players_of
from app.store import alerts, listings, markets, matches
from app.store.connections import Store
from app.store.listings import MatchName
from app.trading.round_state import RoundState, SideState
from app.trading.round_view import round_state

STATE, INPUTS, MARKETS = "state", "inputs", "markets"  #: the tables, beside that of alerts
CLOSED = "closed"  #: the table of closed markets, which does not move
Value = float | int | None  #: None: the log has not shown it
_OF_SIDES = ("alive", "health", "armour", "helmets", "weapons", "utility", "money", "kits", "losses")


class MatchReader:
    """`read` returns these tables of one match."""

    def __init__(self, store: Store, clock: Clock, match_id: UUID) -> None:
        self._store, self._clock, self._match_id = store, clock, match_id
        self._happened = HappenedReader(match_id)

    async def read(self) -> Tables:
        """The rows as they are now. Raises `Unavailable`, `NotFound` once the match is deleted."""
        async with self._store.snapshot() as tx:
            match = await matches.get(tx, self._match_id)
            if match is None:
                raise NotFound("There is no such match any more.")
            found = await markets.open_of_match(tx, match.id)
            counts = await listings.market_counts(tx, [match.id])
            opened = await alerts.listing(tx, match_id=match.id, ended=False)
            players = await players_of(tx, (each.key for each in found))
            happened = await self._happened.read(tx, match)
        about = MatchName(match.number, match.home, match.away)
        book: Book = {each.key: each for each in found}
        now = self._clock()
        return {
            ALERTS: {str(each.id): AlertRow(each, about) for each in opened},
            STATE: {str(match.number): live_row(match, counts[match.id], opened, now)},
            INPUTS: input_rows(match, now),
            MARKETS: market_rows(book, match, players, closed=False),
            HAPPENED: happened,
        }


class InputRow(msgspec.Struct, frozen=True):
    """A value of home and one of away, by the name of its text."""

    name: str
    home: Value
    away: Value


def input_rows(match: Match, now: int) -> dict[str, InputRow]:
    """Strengths and, in a round, what each team has in it."""
    rows = [
        InputRow("strength", match.home_strength or None, match.away_strength or None),
        InputRow("strength_sd", match.home_strength_sd or None, match.away_strength_sd or None),
    ]
    state = round_state(match, now) if match.current and match.status == "live" else None
    if state is not None and match.map is not None:
        home, away = _by_team(state, match.map.home_side == "CT")
        rows += [InputRow(name, getattr(home, name), getattr(away, name)) for name in _OF_SIDES]
    return {row.name: row for row in rows}


def _by_team(state: RoundState, home_is_ct: bool) -> tuple[SideState, SideState]:
    return (state.ct, state.t) if home_is_ct else (state.t, state.ct)


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

"""The tables of the page of a match: its row of the live page, its open alerts, the model's inputs (what the
model knows of the match when it prices it, one row for each value), its open markets; as rows, and read.
"""

from uuid import UUID

import msgspec

from app.domain.entrants import Player
from app.domain.market import MATCH_WINNER, Book, Market, specifier_values
from app.domain.match import Match
from app.kit.clock import Clock
from app.kit.errors import NotFound
from app.sites.console.happened import HAPPENED, HappenedReader
from app.sites.console.live_tables import ALERTS, WATCHED_MILLIS, AlertRow, live_row
from app.sites.console.offers import number_of, offer_rows
from app.sites.console.row_feed import Tables
from app.sites.console.site import market_path
from app.sites.pages.market_names import Players, account_of_player, players_of
from app.store import alerts, listings, markets, matches, sessions
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
            watching = await sessions.watching(tx, self._clock() - WATCHED_MILLIS)
            players = await players_of(tx, (each.key for each in found))
            happened = await self._happened.read(tx, match)
        about = MatchName(match.number, match.home, match.away)
        winners = [each for each in found if each.type_id == MATCH_WINNER]
        now = self._clock()
        return {
            ALERTS: {str(each.id): AlertRow(each, about) for each in opened},
            STATE: {
                str(match.number): live_row(
                    match, counts[match.id], winners, opened, now, watchers=watching.get(match.id, ())
                )
            },
            INPUTS: input_rows(match, now),
            MARKETS: offer_rows(found, match, players),
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


class ClosedRow(msgspec.Struct, frozen=True, kw_only=True):
    """What is shown of a market that is not open any more; `path` is its page."""

    market: Market
    path: str
    home: str
    away: str
    player: Player | None


def closed_rows(book: Book, match: Match, players: Players) -> list[ClosedRow]:
    """The markets that have a result or were withdrawn: those of one group are adjacent; match first, then
    maps, then rounds."""
    return [
        ClosedRow(
            market=each,
            path=market_path(match.number, each.key),
            home=match.home,
            away=match.away,
            player=players.get(account_of_player(each.key)),
        )
        for each in sorted((each for each in book.values() if not each.open), key=_order)
    ]


def _order(market: Market) -> tuple[object, ...]:
    values = specifier_values(market.specifiers)
    place = (number_of(values, "map"), number_of(values, "round"), "player" in values)
    return *place, market.type_id, market.group, market.specifiers

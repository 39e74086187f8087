"""Reads what the page of one match shows and moves: its open alerts, its row of the live page, the model's
inputs (what the model knows of the match when it prices it, one row for each value), its open markets.
"""

from uuid import UUID

import msgspec

from app.domain.market import Book
from app.domain.match import Match
from app.kit.clock import Clock
from app.kit.errors import NotFound
from app.sites.console.live_tables import ALERTS, AlertRow, live_row
from app.sites.console.match_tables import market_rows
from app.sites.console.row_feed import Tables
from app.sites.pages.market_names import players_of
from app.store import alerts, listings, markets, matches
from app.store.connections import Store
from app.store.listings import MatchName
from app.trading.round_state import RoundState, SideState
from app.trading.round_view import round_state

Value = float | int | None  #: None: the log has not shown it


class InputRow(msgspec.Struct, frozen=True):
    """A value of home and one of away, by the name of its text."""

    name: str
    home: Value
    away: Value


_OF_SIDES = ("alive", "health", "armour", "helmets", "weapons", "utility", "money", "kits", "losses")


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


STATE, INPUTS, MARKETS = "state", "inputs", "markets"  #: the tables, beside that of alerts


class MatchReader:
    """`read` gives these tables of one match."""

    def __init__(self, store: Store, clock: Clock, match_id: UUID) -> None:
        self._store, self._clock, self._match_id = store, clock, match_id

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
        about = MatchName(match.number, match.home, match.away)
        book: Book = {each.key: each for each in found}
        now = self._clock()
        return {
            ALERTS: {str(each.id): AlertRow(each, about) for each in opened},
            STATE: {str(match.number): live_row(match, counts[match.id], opened, now)},
            INPUTS: input_rows(match, now),
            MARKETS: market_rows(book, match, players, closed=False),
        }

"""Bets placed during rounds that do not count and are played again.

Such rounds are settled again under the same key, and prices about the map and the match moved with them: a
bet of that time would be settled by other rounds than it was placed on. So only these bets are void: earlier
bets are on what is played now, and the market stays open. Where the rounds are reinstated the bets are valid
again.
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from app.domain.changes import MatchChange, RoundsReinstated, RoundsVoided
from app.domain.market import Book, Market, MarketKey, specifier_values
from app.domain.settlement import LedgerEntry, VoidWindow, standing_windows
from app.trading.match_facts import Past, whether_standing
from app.trading.rules import NOT_PLAYED
from app.trading.settling import void_window_entry

_REASON = "the rounds played then do not count and are played again"
_REINSTATED = "the rounds played then count"


class ReplayedPlay(msgspec.Struct, frozen=True):
    """What becomes void on one map and on the match: bets from `since` (Unix ms) on, because of the facts
    `fact_ids`."""

    map: int
    since: int
    fact_ids: tuple[int, ...]


def replayed_plays(changes: Sequence[MatchChange]) -> dict[int, ReplayedPlay]:
    """By map, what is played again."""
    found: dict[int, ReplayedPlay] = {}
    standing = whether_standing(changes)
    for change in changes:
        if isinstance(change, RoundsVoided) and change.replayed_from is not None:
            fact_ids = tuple(played.id for played in change.rounds) or change.events
            if all(standing[number] for number in fact_ids):
                continue
            known = found.get(change.map, ReplayedPlay(change.map, change.replayed_from, ()))
            since = min(known.since, change.replayed_from)
            found[change.map] = ReplayedPlay(change.map, since, (*known.fact_ids, *fact_ids))
    return found


def affected_markets(
    found: Iterable[ReplayedPlay], before: Book, after: Book
) -> dict[MarketKey, ReplayedPlay]:
    """The markets that took bets in that time and that the remaining facts do not decide.

    `before` is the book when the replay became known, `after` the same with everything rolled back that
    rested on void facts.
    """
    return {
        key: replayed
        for replayed in sorted(found, key=lambda one: -one.since)
        for key, market in before.items()
        if after[key].open and _map(market) in (None, replayed.map) and market.took_bets_since(replayed.since)
    }


def _map(market: Market) -> int | None:
    """The market's map; None for the match as a whole."""
    number = specifier_values(market.specifiers).get("map")
    return int(number) if number else None


def void_entries(marked: dict[MarketKey, ReplayedPlay], after: Book, now: int) -> Iterator[LedgerEntry]:
    """The ledger entries that void the bets of these markets, with the markets' state from `after`."""
    for key, replayed in marked.items():
        if replayed.since <= now:
            yield _about_window(after[key], VoidWindow(replayed.since, now), replayed.fact_ids, _REASON)


def restored_entries(changes: Sequence[MatchChange], past: Past | None, after: Book) -> list[LedgerEntry]:
    """The ledger entries by which bets are valid again that were void because of rounds that count now, with
    the markets' state from `after`. Bets of later rounds that are void still stay so."""
    standing = whether_standing(changes)
    ends = [
        played.ended_at
        for change in changes
        if isinstance(change, RoundsReinstated)
        for played in change.rounds
    ]
    if past is None or not ends:
        return []
    entries: list[LedgerEntry] = []
    for entry in standing_windows(past.ledger):
        window = entry.void_window
        if window is None or entry.reason != _REASON or not any(map(standing.get, entry.rests_on)):
            continue
        entries.append(_about_window(after[entry.key], window, entry.rests_on, _REINSTATED))
        void = tuple(number for number in entry.rests_on if not standing.get(number))
        begun = max([end for end in ends if end < window.end_time], default=window.start_time)
        if void and after[entry.key].took_bets_since(begun):
            entries.append(_about_window(after[entry.key], VoidWindow(begun, window.end_time), void, _REASON))
    return entries


def _about_window(market: Market, window: VoidWindow, fact_ids: tuple[int, ...], reason: str) -> LedgerEntry:
    return void_window_entry(
        market,
        window,
        reason,
        void_reason_id=NOT_PLAYED,
        rests_on=fact_ids,
        rolled_back=reason == _REINSTATED,
    )

"""Bets that are void on a market that stays: those placed during rounds that do not count and are played
again, and those placed before the format of the series or its maps changed.

Rounds that are played again are settled again under the same key, and prices about the map and the match
moved with them: a bet of that time would be settled by other rounds than it was placed on. So only these bets
are void: earlier bets are on what is played now, and the market stays open. Where the rounds are reinstated
the bets are valid again.

A line about rounds or maps is another bet under another format: the bets placed so far are void. Where the
line exists in the new format too it stays on offer, at another price, and only those bets are void (a void
window); where it does not it is void altogether, and comes back if its format does. What means the same in
both formats (winners, races, pistol rounds) is left as it is.
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from app.domain.changes import FormatChanged, MatchChange, RoundsReinstated, RoundsVoided
from app.domain.market import Book, Market, MarketKey, MarketStatus, specifier_values
from app.domain.match import Match
from app.domain.settlement import LedgerEntry, VoidWindow, standing_windows
from app.trading.forecast import Forecast
from app.trading.match_facts import MatchFacts, Past, whether_standing
from app.trading.offer_plan import possible_markets
from app.trading.registry import RULES
from app.trading.rules import NOT_PLAYED, void
from app.trading.settling import roll_back, settle, void_window_entry

_REPLAYED = "the rounds played then do not count and are played again"
_REINSTATED = "the rounds played then count"
FORMAT_CHANGED = "the format was changed"


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
            yield _about_window(after[key], VoidWindow(replayed.since, now), replayed.fact_ids, _REPLAYED)


def restored_entries(
    changes: Sequence[MatchChange], past: Past | None, before: Book, after: Book
) -> list[LedgerEntry]:
    """The ledger entries by which bets are valid again that were void because of rounds that count now, with
    the markets' state from `after`. Bets of later rounds that are void still stay so, where the market took
    any: by the book `before`, since one that has come back now takes bets from now on."""
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
        if window is None or entry.reason != _REPLAYED or not any(map(standing.get, entry.rests_on)):
            continue
        entries.append(_about_window(after[entry.key], window, entry.rests_on, _REINSTATED))
        void = tuple(number for number in entry.rests_on if not standing.get(number))
        begun = max([end for end in ends if end < window.end_time], default=window.start_time)
        if void and before[entry.key].took_bets_since(begun):
            entries.append(
                _about_window(after[entry.key], VoidWindow(begun, window.end_time), void, _REPLAYED)
            )
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


def apply_format_change(
    match: Match, facts: MatchFacts, changes: Sequence[MatchChange], after: Book, now: int
) -> tuple[list[LedgerEntry], dict[MarketKey, VoidWindow]]:
    """Close and open in `after` (changed in place) what the changed format demands at `now` (ms). Returns
    the ledger entries about that, and the windows of bets that are void, by market."""
    old = next((one for one in changes if isinstance(one, FormatChanged)), None)
    entries: list[LedgerEntry] = []
    marked: dict[MarketKey, VoidWindow] = {}
    scopes = _changed_scopes(old, match) if old else set()
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
        return settle(market, void(NOT_PLAYED, (), FORMAT_CHANGED), "system") if market.open else None
    return (
        roll_back(market, "the format is what it was", "system") if _voided_by_format_change(market) else None
    )


def _changed_scopes(old: FormatChanged, match: Match) -> set[str]:
    scopes = set()
    if old.best_of != match.best_of:
        scopes.add("series")
    if (old.max_rounds, old.overtime_rounds) != (match.max_rounds, match.overtime_rounds):
        scopes.add("map")
    return scopes


def _voided_by_format_change(market: Market) -> bool:
    cancelled = market.status is MarketStatus.CANCELLED
    return cancelled and market.settled_by == "system" and market.reason == FORMAT_CHANGED


def window_entries(marked: dict[MarketKey, VoidWindow], after: Book) -> Iterator[LedgerEntry]:
    """The ledger entries that void the bets placed before, with the markets' present state from `after`."""
    for key, window in marked.items():
        yield void_window_entry(
            after[key], window, FORMAT_CHANGED, void_reason_id=NOT_PLAYED, settled_by="system"
        )

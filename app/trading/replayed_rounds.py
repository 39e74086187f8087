"""Bets that were taken while rounds were played which do not count and are played again.

Such rounds are settled again under the same key, and prices about the map and the match moved with them: a
bet of that time would be settled by play that it was not about. So it is void, and no other: what was taken
before is about what is played now, and the market goes on.
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from app.domain.changes import Change, RoundsVoided
from app.domain.market import Book, Market, MarketStatus, specifier_values
from app.domain.settlement import LedgerEntry, VoidWindow
from app.trading.rules import NOT_PLAYED
from app.trading.settling import about_bets

_REASON = "the rounds played then do not count and are played again"
Key = tuple[int, str]


class Void(msgspec.Struct, frozen=True):
    """What becomes void on one map and on the match: bets from `since` (Unix ms) on, because of `facts`."""

    map: int
    since: int
    facts: tuple[int, ...]


def voids(changes: Sequence[Change]) -> dict[int, Void]:
    """By map, what is played again."""
    found: dict[int, Void] = {}
    for change in changes:
        if isinstance(change, RoundsVoided) and change.replayed_from is not None:
            facts = tuple(played.id for played in change.rounds) or change.events
            known = found.get(change.map, Void(change.map, change.replayed_from, ()))
            since = min(known.since, change.replayed_from)
            found[change.map] = Void(change.map, since, (*known.facts, *facts))
    return found


def affected(found: Iterable[Void], before: Book, after: Book) -> dict[Key, Void]:
    """The markets that took bets meanwhile and are not decided by what stands.

    `before` is the book as it was when this became known, `after` the same with everything taken back that
    rested on void facts.
    """
    return {
        key: void
        for void in sorted(found, key=lambda one: -one.since)
        for key, market in before.items()
        if after[key].open and _map(market) in (None, void.map) and _taken(market, void.since)
    }


def _map(market: Market) -> int | None:
    """The map that it is about; None for the match as a whole."""
    number = specifier_values(market.specifiers).get("map")
    return int(number) if number else None


def _taken(market: Market, since: int) -> bool:
    """Whether bets may have been placed on it at `since` (Unix ms) or later."""
    return market.status is MarketStatus.ACTIVE or max(market.priced_at, market.offered_until) >= since


def entries(marked: dict[Key, Void], after: Book, now: int) -> Iterator[LedgerEntry]:
    """The ledger's entries about the bets of these markets, which stand in `after` as they are then."""
    for key, void in marked.items():
        if void.since <= now:
            yield about_bets(
                after[key],
                VoidWindow(void.since, now),
                _REASON,
                void_reason_id=NOT_PLAYED,
                rests_on=void.facts,
            )

"""The reaction of the book to what happened in a match."""

from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from app.domain.changes import Change, MapFinished, MatchCancelled, MatchChanged, MatchFinished, RoundsVoided
from app.domain.doubts import public_reason
from app.domain.market import Book, Market, MarketStatus
from app.domain.match import Match
from app.domain.settlement import LedgerEntry, LedgerStatus
from app.trading import format_change, replayed_rounds
from app.trading import margin as pricing
from app.trading.match_facts import Evidence, gather
from app.trading.offers import Offer, moved, wanted
from app.trading.registry import RULES
from app.trading.settling import CLOSED, outdated, roll_back, settle, verdict
from app.trading.specifiers import parse

#: Changes after which something settled may no longer hold.
_REVERSING = (RoundsVoided, MapFinished, MatchFinished, MatchCancelled, MatchChanged)
_OFF_OFFER = "not on offer now"


class Reaction(msgspec.Struct, frozen=True):
    """`markets`: each changed market once, in its end state, and those of which bets became void. `entries`:
    the ledger's new rows, `in_order`."""

    markets: tuple[Market, ...] = ()
    entries: tuple[LedgerEntry, ...] = ()


def react(
    match: Match, changes: Sequence[Change], book: Book, *, now: int, quoting: bool, margin: float
) -> Reaction:
    """What must change in `book` now that `match` is as it is.

    `match` is the state after `changes`; `now` in Unix ms; `margin` as a fraction (0.06). Without
    `quoting` markets are suspended and settled, but none is opened or priced. Markets that somebody
    settled by hand are left alone until they are rolled back by hand, and so are held ones until they are
    released.
    """
    evidence = gather(match, changes)
    after = dict(book)
    entries = _taken_back(evidence, changes, after)
    played_again = replayed_rounds.affected(replayed_rounds.voids(changes).values(), book, after)
    closed, reoffered = format_change.change(match, evidence, changes, after, now)
    entries += closed
    entries += _settled(evidence, after)
    reason = _silence(match, quoting)
    if reason:
        _suspend(after, (), reason)
    else:
        _quote(evidence, after, now, margin)
    entries += format_change.windows(reoffered, after)
    entries += replayed_rounds.entries(played_again, after, now)
    changed = tuple(market for key, market in after.items() if key in played_again or book.get(key) != market)
    return Reaction(changed, in_order(entries))


def in_order(entries: Iterable[LedgerEntry]) -> tuple[LedgerEntry, ...]:
    """The entries of one transaction as the ledger has them: rollbacks, settlements, voids, then what is
    about a part of a market's bets. What one message tells lies side by side, and one market's moves in their
    order."""
    return tuple(sorted(entries, key=_order))


def suspend_all(book: Book, reason: str) -> tuple[Market, ...]:
    """Every active market, suspended for `reason`."""
    after = dict(book)
    _suspend(after, (), reason)
    return tuple(market for key, market in after.items() if market is not book[key])


def _order(entry: LedgerEntry) -> tuple[object, ...]:
    ranks = {LedgerStatus.PENDING: 0, LedgerStatus.SETTLED: 1, LedgerStatus.VOIDED: 2}
    if entry.void_window is not None:
        return 3, entry.window_rolled_back, entry.void_window
    return ranks[entry.new_status], entry.previous_status


def _taken_back(evidence: Evidence, changes: Sequence[Change], after: Book) -> list[LedgerEntry]:
    if not any(isinstance(change, _REVERSING) for change in changes):
        return []
    entries = []
    for key, market in after.items():
        if market.status not in CLOSED or market.settled_by != "engine" or market.type_id not in RULES:
            continue
        why = outdated(market, RULES[market.type_id], evidence, parse(market.specifiers))
        if why:
            after[key], entry = roll_back(market, why)
            entries.append(entry)
    return entries


def _settled(evidence: Evidence, after: Book) -> list[LedgerEntry]:
    entries = []
    for key, market in after.items():
        if not market.open or market.held or market.type_id not in RULES:
            continue
        found = verdict(RULES[market.type_id], evidence, parse(market.specifiers))
        if found:
            after[key], entry = settle(market, found)
            entries.append(entry)
    return entries


def _silence(match: Match, quoting: bool) -> str:
    """Why nothing at all may be on offer, or ""."""
    why = public_reason(match) or match.pause
    if why:
        return why
    return "" if quoting else "facts came late"


def _suspend(after: Book, kept: Iterable[tuple[int, str]], reason: str) -> None:
    keep = frozenset(kept)
    for key, market in after.items():
        if market.status is MarketStatus.ACTIVE and key not in keep:
            after[key] = replace(market, status=MarketStatus.SUSPENDED, reason=reason)


def _quote(evidence: Evidence, after: Book, now: int, markup: float) -> None:
    """Open and price what is wanted, suspend the rest.

    Prices of one round hang together, and so do those of maps and match: either all of them move or
    none, so that lines never contradict each other.
    """
    offers = wanted(evidence, after, markup)
    _suspend(after, (offer.key for offer in offers), _OFF_OFFER)
    of_round = [offer for offer in offers if offer.spec.round]
    of_map = [offer for offer in offers if not offer.spec.round]
    for scope in (of_round, of_map):
        if moved(scope, after):
            for offer in scope:
                after[offer.key] = _offered(after.get(offer.key), offer, now)


def _offered(known: Market | None, offer: Offer, now: int) -> Market:
    """The market as offered; the same object when nothing about it differs."""
    odds, probability = pricing.odds(offer.share), round(offer.probability, 9)
    if known is None:
        return Market(
            type_id=offer.type_id,
            specifiers=offer.spec.text,
            status=MarketStatus.ACTIVE,
            odds=odds,
            probability=probability,
            group=offer.group,
            opened_at=now,
            priced_at=now,
        )
    if known.status is MarketStatus.ACTIVE and (known.odds, known.probability) == (odds, probability):
        return known
    return replace(
        known, status=MarketStatus.ACTIVE, odds=odds, probability=probability, reason="", priced_at=now
    )

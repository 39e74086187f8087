"""What a command would do to a match and its markets, if it were executed now; nothing is written.

It is decided by the same functions as the execution, on a snapshot. What happens in the match meanwhile may
change it.
"""

from itertools import groupby
from typing import NamedTuple

import msgspec

from app.commands import change_drafts
from app.commands.effects import effect_of
from app.commands.execution import check_window
from app.commands.match_commands import Command
from app.commands.match_update import decide
from app.domain.market import Market
from app.domain.match import Match
from app.domain.settlement import LedgerEntry
from app.store import markets, matches
from app.store.changes import ChangeDraft, envelope_of
from app.store.connections import Store
from app.trading.pricing_config import PricingConfig


class MovedMarket(NamedTuple):
    """A market before and after; before is None for a new one."""

    before: Market | None
    after: Market


class Envelope(NamedTuple):
    """A message of the feed, and how many markets it would carry."""

    message: str
    markets: int


class Preview(msgspec.Struct, frozen=True):
    """`match` before and `after` it, the markets that would change, the ledger's new entries in order, and
    the envelopes in order."""

    match: Match
    after: Match
    markets: tuple[MovedMarket, ...]
    entries: tuple[LedgerEntry, ...]
    envelopes: tuple[Envelope, ...]


async def preview(store: Store, ref: str, command: Command, *, now: int, pricing: PricingConfig) -> Preview:
    """What the command would do to the match `ref`. Raises what its execution would, but for commands on log
    sources, of which there is no preview."""
    async with store.snapshot() as tx:
        match = await matches.by_ref(tx, ref)
        await check_window(tx, match.id, command)
        book = await markets.book(tx, match.id)
    effect = effect_of(command, match, now)
    after = effect.after
    may_price = after.over or not after.applied_late
    reaction = decide(
        effect.action, after, effect.changes, book, now=now, may_price=may_price, pricing=pricing
    )
    drafts = change_drafts.compose(match, after, effect.changes, book, reaction.markets, reaction.entries)
    moved = tuple(MovedMarket(book.get(each.key), each) for each in reaction.markets)
    return Preview(match, after, moved, reaction.entries, _envelopes(drafts))


def _envelopes(drafts: list[ChangeDraft]) -> tuple[Envelope, ...]:
    """The envelopes of these drafts: as many as the change log would have."""
    found = []
    for (message, _), group in groupby(drafts, key=envelope_of):
        if message:
            carried = sum(each.entity in ("market", "settlement") for each in group)
            found.append(Envelope(message, carried))
    return tuple(found)

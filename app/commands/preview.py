"""What a command would do to a match and its markets, if it were executed now; nothing is written.

It is planned as for its execution, in a transaction that is rolled back. What happens in the match meanwhile
may change it.
"""

from itertools import groupby
from typing import NamedTuple

import msgspec

from app.commands import execution, match_update
from app.commands.command_fields import Command
from app.commands.execution import Sender
from app.domain.market import Market
from app.domain.match import Match
from app.domain.settlement import LedgerEntry
from app.store import matches
from app.store.changes import ChangeDraft, envelope_of
from app.store.connections import Store
from app.trading.pricing import PricingConfig


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
    the envelopes in order. `needs_consent`: a second operator must consent before it is executed;
    `fingerprint` is that of its effect on results."""

    match: Match
    after: Match
    markets: tuple[MovedMarket, ...]
    entries: tuple[LedgerEntry, ...]
    envelopes: tuple[Envelope, ...]
    fingerprint: str
    needs_consent: bool


async def preview(
    store: Store,
    ref: str,
    command: Command,
    *,
    now: int,
    pricing: PricingConfig,
    by: str = "",
    owner: str | None = None,
    consent_seconds: int = 0,
) -> Preview:
    """What the command of `by` would do to the match `ref`. Raises what its execution would, but
    `ConsentNeeded`."""
    async with store.dry_run() as tx:
        match = await matches.lock(tx, (await matches.by_ref(tx, ref)).id)
        planned = await execution.plan(tx, match, command, Sender(by, owner or by), now, pricing)
        needs_consent = await execution.needs_consent(tx, planned, consent_seconds)
    update = planned.update
    changed = match_update.changed_markets(update)
    moved = tuple(MovedMarket(update.book.get(each.key), each) for each in changed)
    envelopes = _envelopes(match_update.change_rows(update, changed))
    entries, effect = update.reaction.entries, planned.fingerprint
    return Preview(match, update.after, moved, entries, envelopes, effect, needs_consent)


def _envelopes(drafts: list[ChangeDraft]) -> tuple[Envelope, ...]:
    """The envelopes of these drafts: as many as the change log would have."""
    found = []
    for (message, _), group in groupby(drafts, key=envelope_of):
        if message:
            carried = sum(each.entity in ("market", "settlement") for each in group)
            found.append(Envelope(message, carried))
    return tuple(found)

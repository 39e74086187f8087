"""The rows of a file, read from the store a match at a time, in the order of matches' numbers."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import date
from typing import NamedTuple
from uuid import UUID

import msgspec

from app.domain.daily_files import DAY_MILLIS, FileKind, Variant, begin_of
from app.domain.market_changes import received
from app.domain.types_off import offered_entries
from app.store import changes, daily_files, history, kept_changes
from app.store.changes import TENANT_MARKET, ChangeRow
from app.store.connections import Store
from app.store.daily_files import DayMatch
from app.store.market_history import market_change
from app.store.transaction import Tx
from app.wire.views.file_rows import FileRow, event_row, price_rows, round_row, settlement_row


class FileContent(msgspec.Struct, frozen=True):
    """What a file has: a variant's rows of a day. `tenant_id` is a tenant with that variant: its own changes
    of markets are among the prices. Where several have the variant, none has such changes on that day."""

    day: date
    variant: Variant
    tenant_id: UUID


class Batch(NamedTuple):
    """Rows of one match, in order. Not `complete`: changes between these and those before are missing,
    or at the end of a match."""

    rows: list[FileRow]
    complete: bool = True


class _Window(NamedTuple):
    """The moments (Unix ms) whose rows belong to a file, `end` excluded."""

    begin: int
    end: int

    def __contains__(self, at: object) -> bool:
        return isinstance(at, int) and self.begin <= at < self.end


async def batches(store: Store, content: FileContent) -> AsyncIterator[Batch]:
    """The rows of a file. Raises `Unavailable`."""
    begin = begin_of(content.day)
    day = _Window(begin, begin + DAY_MILLIS)
    window, matches = day, _MATCHES[content.variant.kind]
    if content.variant.finished_only:
        window, matches = _Window(0, day.end), daily_files.finished
    async with store.snapshot() as tx:
        found = await matches(tx, *day)
        lost = content.variant.kind is FileKind.PRICES and await daily_files.lost(tx, *day)
    if lost:
        yield Batch([], complete=False)
    for match in found:
        if content.variant.kind is FileKind.PRICES:
            async for batch in _prices(store, content, match, window):
                yield batch
        else:
            async with store.snapshot() as tx:
                yield Batch(await _ROWS[content.variant.kind](tx, content.variant, match, window))


_MATCHES: dict[FileKind, Callable[[Tx, int, int], Awaitable[list[DayMatch]]]] = {
    FileKind.PRICES: daily_files.changed,
    FileKind.SETTLEMENTS: daily_files.settled,
    FileKind.ROUNDS: daily_files.played,
    FileKind.TIMELINE: daily_files.played,
}


async def _prices(
    store: Store, content: FileContent, match: DayMatch, window: _Window
) -> AsyncIterator[Batch]:
    """Each page of changes is a snapshot of its own: what happened does not change, it only moves from the
    change log to what is kept of it."""
    seq = envelope = match.after
    own = changes.tenant_market_key(content.tenant_id, "")
    while True:
        async with store.snapshot() as tx:
            page = await kept_changes.read(tx, match.id, seq)
        if not page:
            return
        complete = True
        for row in page:
            if row.message:
                complete = complete and row.prev_seq <= envelope
                envelope = row.envelope_seq
        seq = page[-1].seq
        within = [row for row in page if row.at in window]
        yield Batch(_price_rows(content.variant, match, within, own), complete)
        if page[-1].at >= window.end:
            return


def _price_rows(variant: Variant, match: DayMatch, page: list[ChangeRow], own: str) -> list[FileRow]:
    about_markets = (
        market_change(row.seq, row.at, row.entity, row.frame, row.body)
        for row in page
        if row.entity == "market" or (row.entity == TENANT_MARKET and row.key.startswith(own))
    )
    found = [seen for change in about_markets if (seen := received(change, variant.offer))]
    return price_rows(match.number, found, probabilities=variant.probabilities)


async def _settlements(tx: Tx, variant: Variant, match: DayMatch, window: _Window) -> list[FileRow]:
    found = [entry for entry in await history.ledger(tx, match.id) if entry.at in window]
    offered = offered_entries(found, variant.offer.types_off)
    return [settlement_row(match.id, match.number, entry) for entry in offered]


async def _rounds(tx: Tx, _: Variant, match: DayMatch, window: _Window) -> list[FileRow]:
    played = await history.rounds(tx, match.id)
    return [round_row(match.number, one) for one in played if not one.void and one.ended_at in window]


async def _timeline(tx: Tx, _: Variant, match: DayMatch, window: _Window) -> list[FileRow]:
    found = await history.timeline(tx, match.id)
    return [event_row(match.number, one) for one in found if not one.void and one.at in window]


_ROWS: dict[FileKind, Callable[[Tx, Variant, DayMatch, _Window], Awaitable[list[FileRow]]]] = {
    FileKind.SETTLEMENTS: _settlements,
    FileKind.ROUNDS: _rounds,
    FileKind.TIMELINE: _timeline,
}

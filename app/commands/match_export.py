"""A match as one file: what its transactions were given, and what was published. `matchfeed recompute`
computes the second from the first."""

import gzip
from collections.abc import AsyncIterator
from uuid import UUID

import msgspec

from app.commands.match_inputs import MatchInput, unpack
from app.domain.settlement import LedgerEntry
from app.kit.compressed import decompressed
from app.kit.version import VERSION
from app.store import changes, history, kept_changes, match_inputs, matches
from app.store.connections import Store
from app.store.transaction import Tx

FORMAT = "matchfeed-match/1"
_LEVEL = 6
_MAX_BYTES = 1024 * 1024 * 1024  #: of a file, decompressed; a match of five maps has some 100 MB


class PublishedRow(msgspec.Struct, frozen=True):
    """A row of the change log (`store.changes.ChangeRow`) that is published to all; `body` is its JSON."""

    seq: int
    entity: str
    key: str
    frame: str
    message: str
    at: int
    envelope_seq: int
    body: msgspec.Raw


class MatchExport(msgspec.Struct, frozen=True, kw_only=True):
    """The file. `inputs` are in the order of the transactions, `rows` and `ledger` in that of their numbers.
    `whole`: the rows begin with the match's first envelope; older ones are deleted in time
    (KEPT_CHANGES_DAYS), the ledger is not. `version` is that of the program that wrote it."""

    format: str
    version: str
    exported_at: int
    match_id: UUID
    number: int
    whole: bool
    inputs: tuple[MatchInput, ...]
    rows: tuple[PublishedRow, ...]
    ledger: tuple[LedgerEntry, ...]


class NoExport(ValueError):
    """A file is no export of a match; the text says what to do."""


async def export_match(store: Store, ref: str, now: int) -> bytes:
    """The file of a match, at `now` (Unix ms); raises `NotFound`."""
    async with store.snapshot() as tx:
        match = await matches.by_ref(tx, ref)
        export = MatchExport(
            format=FORMAT,
            version=VERSION,
            exported_at=now,
            match_id=match.id,
            number=match.number,
            whole=match.id in await kept_changes.whole(tx, [match.id]),
            inputs=tuple(map(unpack, await match_inputs.of_match(tx, match.id))),
            rows=tuple([row async for row in _published(tx, match.id)]),
            ledger=tuple(await history.ledger(tx, match.id)),
        )
    return write_export(export)


def write_export(export: MatchExport) -> bytes:
    return gzip.compress(msgspec.json.encode(export), _LEVEL, mtime=0)


def read_export(body: bytes) -> MatchExport:
    """The content of a file; raises `NoExport`."""
    try:
        found = msgspec.json.decode(decompressed(body, _MAX_BYTES), type=MatchExport)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise NoExport(f"That is no file of `matchfeed match export`: {error}.") from error
    if found.format != FORMAT:
        raise NoExport(f"The file has the format {found.format!r}, this version reads {FORMAT!r}.")
    return found


async def _published(tx: Tx, match_id: UUID) -> AsyncIterator[PublishedRow]:
    after = 0
    while rows := await kept_changes.read(tx, match_id, after):
        for row in rows:
            if changes.tenant_of(row) is None:
                place = row.seq, row.entity, row.key, row.frame, row.message, row.at, row.envelope_seq
                yield PublishedRow(*place, msgspec.Raw(row.body))
        after = rows[-1].seq

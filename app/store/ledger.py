"""The signed ledger: its leaves, its heads, the keys that sign them, and how far it has come.

What is written is written under the lock of the state (`lock`), which one process has at a time; the unique
keys of leaves and heads would refuse a second one.
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
from piccolo.query import Count, Select, Update
from piccolo.query.functions import Count as CountOf

from app.domain.ledger_tree import NO_HASH, Signature, SignedHead, StoredLeaf
from app.domain.match import Status
from app.domain.settlement import LedgerEntry
from app.store.prepared import (
    prepared,
    reading_number,
    reading_optional_number,
    reading_row,
    reading_rows,
    writing,
)
from app.store.row_mapping import RowMapping
from app.store.sql import any_of, columns_of
from app.store.statements import ledger as statements
from app.store.tables.ledger import LedgerHead, LedgerKey, LedgerLeaf, LedgerState
from app.store.tables.match import LedgerEntry as LedgerEntryTable
from app.store.tables.match import Match as MatchTable
from app.store.transaction import Row, Tx

HASH_BYTES = 32
_LEAVES = RowMapping(LedgerLeaf, StoredLeaf, ("entry_id",))
_MATCH = LedgerEntryTable.match_id.join_on(MatchTable.id)
_entry = msgspec.json.Decoder(LedgerEntry).decode
_signatures = msgspec.json.Decoder(tuple[Signature, ...]).decode


class State(msgspec.Struct, frozen=True):
    """Up to which ledger entry there are leaves, and whether a restore or a fail-over waits for a head that
    says so."""

    entry_id: int
    restored: bool


class StoredKey(msgspec.Struct, frozen=True):
    """A key that signs heads, or did until `retired_at` (Unix ms). `private_key` is encrypted; None once the
    key is retired."""

    id: str
    public_key: bytes
    private_key: bytes | None
    created_at: int
    retired_at: int | None

    def __repr__(self) -> str:
        return f"StoredKey({self.id})"


class LeafEntry(NamedTuple):
    """The ledger entry of a leaf, with its match, and whether that is finished."""

    match_id: UUID
    number: int
    finished: bool
    entry: LedgerEntry


_KEYS = RowMapping(LedgerKey, StoredKey)


def _read_head(row: Row) -> SignedHead:
    return SignedHead(row["body"], _signatures(row["signatures"]))


@reading_row(lambda row: State(**row))
def lock(*, skip: bool) -> Select[Any]:
    """The state, locked until the transaction ends; with `skip` None while another process has the lock."""
    return LedgerState.select(LedgerState.entry_id, LedgerState.restored).lock_rows(
        "UPDATE", skip_locked=skip
    )


@reading_number
def reached() -> Select[Any]:
    """The id of the ledger entry up to which there are leaves."""
    return LedgerState.select(LedgerState.entry_id)


@writing
def set_restored(value: bool, /) -> Update[Any]:
    """Whether a head must say that the database was restored or failed over."""
    return LedgerState.update({LedgerState.restored: value}, force=True)


@reading_number
def behind(entry_id: int, /) -> Count:
    """How many entries follow in the settlement ledger."""
    return LedgerEntryTable.count().where(LedgerEntryTable.id > entry_id)


@reading_optional_number
def oldest_without_leaf(entry_id: int, /) -> Select[Any]:
    """The timestamp (Unix ms) of the first entry after this one in the settlement ledger, or None."""
    entries = LedgerEntryTable
    return entries.select(entries.at).where(entries.id > entry_id).order_by(entries.id).limit(1)


async def add_leaves(tx: Tx, leaves: Sequence[StoredLeaf]) -> None:
    """Write leaves that follow the last one."""
    columns = columns_of(map(msgspec.structs.astuple, leaves))
    await tx.execute(statements.ADD_LEAVES, *columns, leaves[-1].entry_id)


async def last_hash(tx: Tx, before: int = 2**63 - 1) -> bytes:
    """The hash of the last leaf of an entry with a lower id than `before`, on whatever day."""
    found: bytes | None = await tx.one_value(_last_hash(before))
    return found or NO_HASH


@reading_number
def size(day: str, /) -> Select[Any]:
    """How many leaves the day has."""
    return LedgerLeaf.select(CountOf()).where(LedgerLeaf.day == day)


async def hashes(tx: Tx, day: str, size: int) -> list[bytes]:
    """The hashes of the first `size` leaves of the day, or of all if there are fewer."""
    joined: bytes = await tx.value(statements.HASHES, day, size)
    return [joined[at : at + HASH_BYTES] for at in range(0, len(joined), HASH_BYTES)]


@reading_rows(_LEAVES.read)
def leaves(day: str, first: int, end: int, /) -> Select[Any]:
    """The leaves of a day from index `first` until before `end`, in order."""
    query = LedgerLeaf.select(*_LEAVES.columns).where(LedgerLeaf.day == day)
    return query.where(LedgerLeaf.index >= first, LedgerLeaf.index < end).order_by(LedgerLeaf.index)


async def entries(tx: Tx, ids: Collection[int]) -> dict[int, LeafEntry]:
    """The ledger entries with these ids, without those of matches that were deleted."""
    found = [
        LeafEntry(row["match_id"], row["number"], row["status"] == Status.FINISHED, _entry(row["body"]))
        for row in await tx.run(_entries(list(ids)))
    ]
    return {each.entry.id: each for each in found}


async def newest_head(tx: Tx) -> SignedHead | None:
    """None before the first one."""
    found = await newest_heads(tx, limit=1)
    return found[0] if found else None


@reading_rows(_read_head)
def newest_heads(*, limit: int) -> Select[Any]:
    """The last `limit` heads, newest first."""
    query = LedgerHead.select(LedgerHead.body, LedgerHead.signatures)
    return query.order_by(LedgerHead.number, ascending=False).limit(limit)


@reading_rows(_read_head)
def heads(after: int, /, *, limit: int) -> Select[Any]:
    """At most `limit` heads with a higher number than `after`, in order."""
    query = LedgerHead.select(LedgerHead.body, LedgerHead.signatures).where(LedgerHead.number > after)
    return query.order_by(LedgerHead.number).limit(limit)


async def add_head(tx: Tx, signed: SignedHead) -> None:
    row = LedgerHead(
        number=signed.head.number, body=signed.body, signatures=msgspec.json.encode(signed.signatures)
    )
    await tx.change(LedgerHead.insert(row))


@reading_row(_KEYS.read)
def current_key() -> Select[Any]:
    """The key that signs; None before the first one."""
    return LedgerKey.select(*_KEYS.columns).where(LedgerKey.retired_at.is_null())


@reading_rows(_KEYS.read)
def keys() -> Select[Any]:
    """Every key, in the order in which they were made."""
    return LedgerKey.select(*_KEYS.columns).order_by(LedgerKey.created_at, LedgerKey.retired_at)


async def add_key(tx: Tx, key: StoredKey) -> None:
    await tx.change(_KEYS.insert(key))


@writing
def retire_key(key_id: str, at: int, /) -> Update[Any]:
    """Have the key sign nothing any more: its private key is deleted."""
    values: dict[Any, Any] = {LedgerKey.retired_at: at, LedgerKey.private_key: None}
    return LedgerKey.update(values).where(LedgerKey.id == key_id)


@prepared
def _last_hash(before: int) -> Select[Any]:
    query = LedgerLeaf.select(LedgerLeaf.hash).where(LedgerLeaf.entry_id < before)
    return query.order_by(LedgerLeaf.entry_id, ascending=False).limit(1)


@prepared
def _entries(ids: Collection[int]) -> Select[Any]:
    entries = LedgerEntryTable
    query = entries.select(
        entries.match_id, _MATCH.number.as_alias("number"), _MATCH.status.as_alias("status"), entries.body
    )
    return query.where(any_of(entries.id, ids))

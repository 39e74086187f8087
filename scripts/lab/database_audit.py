"""What must be true in the database: every settlement follows from the facts, and what was appended stays."""

from collections.abc import Sequence
from uuid import UUID

import asyncpg
import msgspec

from app.commands.settlement_audit import audit_settlements
from app.domain.ids import match_urn
from app.domain.match import Status
from app.store import matches
from app.store.connections import Store
from app.store.transaction import Tx

#: Tables that are only ever appended to, by number.
_APPENDED = {"change": "seq", "ledger_entry": "id"}
_COLUMNS = "SELECT column_name FROM information_schema.columns WHERE table_name = $1 ORDER BY column_name"


class LedgerAudit(msgspec.Struct, frozen=True):
    """`wrong` names each thing that is not as it must be."""

    matches: int
    finished: int
    entries: int
    wrong: tuple[str, ...]


async def audit_ledger(store: Store) -> LedgerAudit:
    """Audit every match, as `matchfeed audit` does one."""
    async with store.autocommit() as tx:
        ids = [row["id"] for row in await tx.fetch("SELECT id FROM match ORDER BY number")]
    found = []
    for match_id in ids:
        async with store.autocommit() as tx:
            found.append(await audit_match(tx, match_id))
    return LedgerAudit(
        matches=len(found),
        finished=sum(each.finished for each in found),
        entries=sum(each.entries for each in found),
        wrong=tuple(text for each in found for text in each.wrong),
    )


async def audit_match(tx: Tx, match_id: UUID) -> LedgerAudit:
    """The same for one match."""
    match = await matches.get(tx, match_id)
    assert match, "matches stay"
    found = await audit_settlements(tx, match)
    name = match_urn(match.number)
    wrong = [f"{name}: {each.type_id} {each.specifiers}: {each.problem}" for each in found.differences]
    return LedgerAudit(1, match.status is Status.FINISHED, found.entries, tuple(wrong))


class Written(msgspec.Struct, frozen=True):
    """What is in a table that is only appended to: its columns, rows up to a number, their digest."""

    table: str
    columns: Sequence[str]
    last: int
    rows: int
    digest: str

    def difference(self, there: "Written") -> list[str]:
        """How what is `there` differs from this."""
        if there == self:
            return []
        return [f"{self.table}: {there.rows} rows up to {self.last}, and there were {self.rows}, or others"]


async def written(connection: asyncpg.Connection) -> list[Written]:
    """What the tables have now."""
    found = []
    for table, key in _APPENDED.items():
        columns = [row["column_name"] for row in await connection.fetch(_COLUMNS, table)]
        last = await connection.fetchval(f"SELECT coalesce(max({key}), 0) FROM {table}")
        found.append(await _up_to(connection, table, columns, last))
    return found


async def still_written(connection: asyncpg.Connection, before: Written) -> Written:
    """What a table has up to the same number, in the same columns; here or in another database."""
    return await _up_to(connection, before.table, before.columns, before.last)


async def _up_to(connection: asyncpg.Connection, table: str, columns: Sequence[str], last: int) -> Written:
    key, listed = _APPENDED[table], ", ".join(columns)
    rows, digest = await connection.fetchrow(
        f"SELECT count(*), coalesce(md5(string_agg(md5(row({listed})::text), '' ORDER BY {key})), '') "
        f"FROM {table} WHERE {key} <= $1",
        last,
    )
    return Written(table, columns, last, rows, digest)

"""What the doctor reads from PostgreSQL's own statistics."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from app.kit.clock import system_clock
from app.operations.doctor import database
from app.operations.doctor.findings import Finding, State
from app.store.connections import Store
from tests.faults.rig import until

ROWS = 1_000
#: Else a session sends what it has counted ten seconds later.
FLUSH = "SELECT pg_stat_force_next_flush()"


@pytest.fixture
async def table(store: Store) -> AsyncIterator[str]:
    """A table that autovacuum leaves alone, with as many rows."""
    async with store.autocommit() as tx:
        await tx.execute("CREATE TABLE left_alone (number int) WITH (autovacuum_enabled = off)")
        await tx.execute(f"INSERT INTO left_alone SELECT generate_series(1, {ROWS})")
        await tx.execute(FLUSH)
    yield "left_alone"
    async with store.autocommit() as tx:
        await tx.execute("DROP TABLE left_alone")


async def finding(store: Store) -> Finding:
    findings = await database.examine(store, system_clock, 60_000)
    (found,) = [each for each in findings if each.part == "autovacuum"]
    return found


async def test_a_table_to_which_autovacuum_does_not_come_is_named(
    store: Store, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def is_named() -> bool:
        found = await finding(store)
        assert bool(found.action) == (found.state is State.ILL)
        return table in found.detail

    async def is_not_named() -> bool:
        return not await is_named()

    async def changed() -> int:
        async with store.autocommit() as tx:
            query = "SELECT n_mod_since_analyze FROM pg_stat_user_tables WHERE relname = $1"
            return int(await tx.value(query, table))

    assert (await finding(store)).state is State.WELL, "fewer than a million rows have changed"
    monkeypatch.setattr(database, "_UNANALYZED", ROWS - 1)
    await until("it is named", is_named)
    assert f"{table} since {ROWS:,} rows changed" in (await finding(store)).detail
    monkeypatch.setattr(database, "_UNANALYZED", ROWS)
    assert await is_not_named(), "too few"
    monkeypatch.setattr(database, "_UNANALYZED", 10)
    async with store.autocommit() as tx:
        await tx.execute(f"ANALYZE {table}")
        await tx.execute(FLUSH)
    await until("its statistics are gathered", is_not_named)
    for total, named in ((ROWS // 2, False), (ROWS // 2 + 1, True)):
        async with store.autocommit() as tx:
            await tx.execute(f"UPDATE {table} SET number = -number WHERE number BETWEEN 1 AND {total}")
            await tx.execute(FLUSH)
        async with asyncio.timeout(60):
            while await changed() < total:
                await asyncio.sleep(0.02)
        assert await is_named() is named

"""`support.statements` records what the block itself runs, each statement once."""

import asyncio

from app.store.connections import Store
from tests.support.statements import recorded_statements


async def _select(store: Store, number: int) -> None:
    async with store.transaction() as tx:
        await tx.value(f"SELECT {number}")


async def test_every_statement_of_the_block_is_recorded_once(store: Store) -> None:
    await _select(store, 1)
    with recorded_statements() as found:
        await _select(store, 2)
        async with store.autocommit() as tx:
            await tx.fetch("SELECT 3")
            await tx.row("SELECT 4")
            await tx.execute("SELECT 5")
    await _select(store, 6)
    assert found == ["SELECT 2", "SELECT 3", "SELECT 4", "SELECT 5"]


async def test_other_tasks_are_not_recorded(store: Store) -> None:
    begin = asyncio.Event()

    async def other() -> None:
        await begin.wait()
        await _select(store, 1)

    task = asyncio.create_task(other())
    with recorded_statements() as found:
        begin.set()
        await task
    assert found == []

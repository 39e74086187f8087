"""Keys of the signed ledger on the command line."""

import asyncio

from app.ledger.writer import LedgerWriter
from app.settings import Settings
from app.store.connections import open_store
from app.store.transaction import Tx
from tests.support.command_line import Run, in_transaction


def printed(run: Run, *words: str) -> list[str]:
    result = run("ledger", *words)
    assert result.exit_code == 0, result.output
    return result.stdout.splitlines()


def test_keys_are_listed_and_rotated(run: Run, settings: Settings) -> None:
    async def write() -> None:
        async with await open_store(settings.database_url, 1) as store:
            await LedgerWriter(store, settings.secret_key).catch_up()

    assert printed(run, "keys") == ["no key yet: a feed process makes the first one"]
    refused = run("ledger", "rotate")
    assert refused.exit_code == 1
    assert "There is no head yet" in refused.output
    asyncio.run(write())
    (before,) = printed(run, "keys")
    assert before.endswith("signs")
    said = printed(run, "rotate")[-1]
    old, new = printed(run, "keys")
    assert old.split()[:2] == before.split()[:2]
    assert "until" in old
    assert said == f"head 2: {' '.join(new.split()[:2])} signs from now on"


def test_no_match_is_forgotten_while_its_settlements_have_no_leaves(run: Run, settings: Settings) -> None:
    """Without a feed process, for days."""

    async def age(tx: Tx) -> None:
        await tx.execute("UPDATE ledger_entry SET at = at - 432000000")

    async def write() -> None:
        async with await open_store(settings.database_url, 1) as store:
            await LedgerWriter(store, settings.secret_key).catch_up()

    assert run("match", "create", "--allow-unrated", "Northwind", "Harbour").exit_code == 0
    assert run("match", "order", "od:match:1", "cancel").exit_code == 0
    in_transaction(settings, age)
    refused = run("match", "forget", "--older-than", "4")
    assert refused.exit_code == 1
    assert "the signed ledger lacks settlements since" in refused.output
    asyncio.run(write())
    assert run("match", "forget", "--older-than", "4").stdout == "0 matches removed\n"

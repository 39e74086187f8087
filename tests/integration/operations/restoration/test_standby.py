"""A standby takes over from a PostgreSQL primary that was killed: with commits missing, and without."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from app.domain.doubts import DATABASE_FAILED_OVER
from app.ingest import lost_lines
from app.kit.clock import system_clock
from app.kit.errors import Unavailable
from app.operations.restoration.failover import DatabaseFailover
from app.store import changes
from app.store.alerts import AlertKind
from app.store.connections import SESSION_NAME, Store, open_store
from tests.integration.operations.restoration.test_failover import cut, used
from tests.integration.operations.restoration.test_suspension import CONFIG, active, played
from tests.support import logs, standby, stored
from tests.support.standby import Pair
from tests.support.story import Story, offer


@asynccontextmanager
async def serving(servers: Pair) -> AsyncIterator[Store]:
    async with await open_store(servers.url, 4, failover=DatabaseFailover()) as process:
        yield process


async def seqs(process: Store) -> list[int]:
    return [row.seq for row in await stored.changes_after(process, 0)]


async def said(process: Store) -> str:
    [alert] = await stored.open_alerts(process, AlertKind.DATABASE_FAILOVER)
    return alert.detail


@pytest.mark.parametrize("synchronous", [False, True], ids=["asynchronous", "synchronous"])
async def test_no_number_means_two_things_and_what_was_lost_is_said(
    standby_data: Path, *, synchronous: bool
) -> None:
    async with standby.pair(standby_data, synchronous=synchronous) as servers, serving(servers) as process:
        # Sessions of a standby would go on when it is promoted.
        with pytest.raises(Unavailable, match="standby"):
            await open_store(servers.standby.url(), 1, failover=DatabaseFailover())
        story = Story(process)
        match = await story.match(offer(1))
        kept = await seqs(process)
        if not synchronous:
            await servers.lag()
        for number in range(2, 12):
            await story.offer(match, offer(number))
        committed = await seqs(process)
        servers.primary.kill()
        with pytest.raises(Unavailable):
            await story.offer(match, offer(12))
        await servers.promote()
        row = await used(process)
        await story.offer(match, offer(13))
        assert min(await seqs(process)) == row["mark"] > committed[-1]
        assert row["head"] == (committed if synchronous else kept)[-1]
        assert row["known_seq"] == committed[-1]
        if synchronous:
            assert (await said(process)).startswith("no process knows of a lost commit")
        else:
            assert (await said(process)).startswith(f"commits are lost, up to seq {committed[-1]} ")
        # The former primary is back, is named first, and is not used: it would number everything anew.
        await servers.primary.start()
        async with await open_store(servers.primary.url(), 1) as former, former.autocommit() as tx:
            assert await changes.head(tx) == committed[-1]
        async with await open_store(servers.standby.url(), 1, session_name="tests") as present:
            await cut(present, SESSION_NAME)
        assert (await used(process))["mark"] == row["mark"]


async def test_lines_whose_commit_was_lost_are_a_gap_of_the_log(standby_data: Path, now: int) -> None:
    """They were acknowledged, and nobody sends them again: the match is on offer with the next round."""
    async with standby.pair(standby_data, synchronous=False) as servers, serving(servers) as process:
        server = await played(process, now - 10_000)
        await servers.lag()
        await server.send(logs.kill(logs.CT[1], logs.T[1]))
        servers.primary.kill()
        await servers.promote()
        await used(process)
        assert (await server.state()).suspended == DATABASE_FAILED_OVER
        server.now = system_clock()
        late = server.cut(logs.kill(logs.CT[2], logs.T[2]))
        assert await server.deliver(late) == ["early"]
        assert await lost_lines.skip_missing(process, late.arrived_at + 2001, CONFIG) == 1
        assert await active(process, server.match) == []
        server.now = late.arrived_at + 2001
        await server.win(1, 0)
        await server.send(*logs.live())
        assert (await server.state()).suspended == ""
        assert await active(process, server.match)

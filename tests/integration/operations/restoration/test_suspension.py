"""What the backup has on offer is suspended until its log is followed again, or somebody decides."""

import pytest

from app.commands import match_commands
from app.domain.doubts import DATABASE_RESTORED
from app.domain.match import Match
from app.ingest import match_checks
from app.ingest.log_update import IngestConfig
from app.kit.clock import system_clock
from app.store import log_state
from app.store.alerts import AlertKind
from app.store.connections import Store
from tests.integration.ingest.conftest import Server
from tests.integration.operations.restoration.conftest import PutInOrder
from tests.support import logs, stored
from tests.support.matches import create_match, execute
from tests.support.queues import empty
from tests.support.stored import active

CONFIG = IngestConfig()
DAY = 86_400_000


async def created(store: Store, scheduled_at: int | None) -> Match:
    return await create_match(store, system_clock(), scheduled_at=scheduled_at)


async def open_alerts(store: Store, match: Match) -> list[AlertKind]:
    return [each.kind for each in await stored.open_alerts(store, match=match)]


async def played(store: Store, now: int) -> Server:
    """A live match with prices on offer, whose log came until now."""
    server = Server(store, await created(store, now))
    server.now = now
    await server.begin()
    assert await active(store, server.match)
    return server


async def test_a_live_match_returns_with_the_first_round_that_begins(
    store: Store, now: int, put_in_order: PutInOrder
) -> None:
    server = await played(store, now - 10_000)
    done = await put_in_order()
    assert done.suspended.doubted == [server.match.number]
    assert await active(store, server.match) == []
    assert (await server.state()).suspended == DATABASE_RESTORED
    assert await open_alerts(store, server.match) == [AlertKind.DATABASE_RESTORED]
    # The server's log has gone on, and nobody has these bytes.
    server.cut(logs.kill(logs.CT[1], logs.T[1]))
    lost = server.offset
    [outcome] = await server.deliver(server.cut(logs.kill(logs.CT[0], logs.T[2])))
    assert outcome == "early" and lost < server.offset
    assert (await server.state()).suspended == DATABASE_RESTORED


async def test_a_sender_without_offsets_is_not_trusted_before_a_round_begins(
    store: Store, now: int, put_in_order: PutInOrder
) -> None:
    """Nothing shows that lines are missing, but for the restore."""
    server = await played(store, now - 10_000)
    await put_in_order()
    server.now = system_clock()
    await server.send(logs.kill(logs.CT[0], logs.T[1]))
    assert (await server.state()).suspended == DATABASE_RESTORED
    assert await active(store, server.match) == []
    await server.win(1, 0)
    await server.send(*logs.live())
    assert (await server.state()).suspended == ""
    assert await active(store, server.match)
    assert await open_alerts(store, server.match) == []


async def test_an_operator_does_not_end_it_while_lines_are_missing(
    store: Store, now: int, put_in_order: PutInOrder
) -> None:
    server = await played(store, now - 10_000)
    await put_in_order()
    await execute(store, server.match, match_commands.Unsuspend(), system_clock())
    assert (await server.state()).suspended
    assert await active(store, server.match) == []


@pytest.mark.parametrize("late", [-3_600_000, None], ids=["scheduled-earlier", "not-scheduled"])
async def test_a_match_that_should_have_begun_waits_for_an_operator(
    store: Store, now: int, put_in_order: PutInOrder, late: int | None
) -> None:
    """It may have been played and have ended since the backup: its log may never come again."""
    match = await created(store, None if late is None else now + late)
    assert await active(store, match)
    assert (await put_in_order()).suspended.doubted == [match.number]
    await match_checks.resume_after_ingest_outage(store, system_clock(), CONFIG, empty)
    assert await active(store, match) == []
    assert await open_alerts(store, match) == [AlertKind.DATABASE_RESTORED]
    await execute(store, match, match_commands.Unsuspend(), system_clock())
    assert await active(store, match)
    assert await open_alerts(store, match) == []


async def test_a_match_that_should_have_begun_returns_when_its_log_begins(
    store: Store, now: int, put_in_order: PutInOrder
) -> None:
    server = Server(store, await created(store, now - 3_600_000))
    await put_in_order()
    server.now = system_clock()
    await server.send(*logs.kick_off())
    await server.send(*logs.live())
    assert (await server.state()).suspended == ""
    assert await active(store, server.match)


async def test_a_match_of_tomorrow_returns_when_ingest_runs(
    store: Store, now: int, put_in_order: PutInOrder
) -> None:
    match = await created(store, now + DAY)
    assert (await put_in_order()).suspended.waiting == [match.number]
    assert await active(store, match) == []
    async with store.autocommit() as tx:
        assert (await log_state.get(tx, match.id)).has_gap is False
    await match_checks.resume_after_ingest_outage(store, system_clock(), CONFIG, empty)
    assert await active(store, match)


async def test_an_outage_of_ingest_at_the_backup_does_not_end_it(
    store: Store, now: int, put_in_order: PutInOrder
) -> None:
    """A backup taken while ingest was dead has the match suspended for that, which ends by itself."""
    match = await created(store, now - 3_600_000)
    await match_checks.suspend_everything(store, system_clock())
    await put_in_order()
    await match_checks.resume_after_ingest_outage(store, system_clock(), CONFIG, empty)
    assert await active(store, match) == []

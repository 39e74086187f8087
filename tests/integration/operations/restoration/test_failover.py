"""A process meets a server that was promoted: it goes on above everything that was published, or waits.

That the server was promoted is pretended here: another timeline is stored than the server's. Real servers
fail over in `test_standby` and in `tests/faults/test_failover.py`.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import msgspec
import pytest

from app.access import admin
from app.channels.stream.projection import ChangesExpired, Projection
from app.domain.doubts import DATABASE_FAILED_OVER
from app.domain.ids import match_number_at, number_in_match_at, seq_at
from app.domain.market import MarketStatus
from app.domain.match import Status
from app.kit.clock import system_clock
from app.kit.errors import Unavailable
from app.operations.restoration import failover, suspension
from app.operations.restoration.failover import DatabaseFailover
from app.store import changes, cursors, heartbeats, markets
from app.store.alerts import Alert, AlertKind
from app.store.connections import SESSION_NAME, Store, open_store
from app.store.timeline import Change
from tests.support.stored import changes_after, head, open_alerts, present, records
from tests.support.story import Story, offer

NOW = system_clock()


@pytest.fixture
async def process(database_url: str) -> AsyncIterator[Store]:
    """A process of the service."""
    async with await guarded(database_url) as process:
        yield process


async def guarded(database_url: str, session_name: str = SESSION_NAME) -> Store:
    return await open_store(database_url, 4, session_name=session_name, failover=DatabaseFailover())


async def fail_over(store: Store) -> None:
    """The server is on another timeline than before, and the processes' connections have ended."""
    async with store.autocommit() as tx:
        await tx.execute("UPDATE database_timeline SET timeline = timeline + 100")
    await cut(store, SESSION_NAME)


async def cut(store: Store, session_name: str) -> None:
    async with store.autocommit() as tx:
        await tx.fetch(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND application_name = $1",
            session_name,
        )


async def used(process: Store) -> Any:
    """The process works on the database again; the row of its timeline."""
    async with asyncio.timeout(30):
        while True:
            try:
                async with process.autocommit() as tx:
                    return await tx.row("SELECT * FROM database_timeline")
            except Unavailable:
                await asyncio.sleep(0.02)


async def failover_alerts(store: Store) -> list[Alert]:
    return await open_alerts(store, AlertKind.DATABASE_FAILOVER)


async def test_a_first_start_stores_the_timeline_and_does_nothing_else(
    store: Store, process: Store, database_url: str
) -> None:
    await Story(process).offer(await Story(process).match(), offer(1))
    before = await head(store)
    row = await used(process)
    assert (row["timeline"] >= 1, row["mark"]) == (True, 0)
    async with await guarded(database_url) as another:
        await used(another)
    assert await head(store) == before and await failover_alerts(store) == []


async def test_numbers_go_on_above_all_that_can_have_been_published(store: Store, process: Store) -> None:
    story, begun = Story(process), system_clock()
    match = await story.match(offer(1))
    before = await head(store)
    await fail_over(store)
    row = await used(process)
    assert row["mark"] > seq_at(begun) and row["head"] == before
    await story.offer(match, offer(2))
    rows = await changes_after(store, 0)
    assert rows[0].seq == row["mark"], "nothing older can be read"
    published = [each for each in rows if each.message]
    assert published[0].prev_seq == row["mark"]
    assert min(each.at for each in published) >= begun
    after, new = await present(store, match), await story.match()
    assert min(after.next_history_id, after.revision) >= number_in_match_at(begun)
    assert new.number > match_number_at(begun)


async def test_what_is_not_over_is_suspended_until_it_is_followed_again(store: Store, process: Store) -> None:
    story = Story(process)
    live, over = await story.match(offer(1)), await story.match(offer(1))
    await story.finish(over)
    await fail_over(store)
    await used(process)
    async with store.autocommit() as tx:
        statuses = [each.status for each in await markets.open_of_match(tx, live.id)]
    assert statuses == [MarketStatus.SUSPENDED]
    assert (await present(store, live)).suspended == DATABASE_FAILED_OVER
    assert [each.kind for each in await open_alerts(store, match=live)] == [AlertKind.DATABASE_RESTORED]
    assert (await present(store, over)).suspended == ""


async def test_every_tenant_is_notified_and_every_feed_process_is_expelled_first(
    store: Store, process: Store, slug: str
) -> None:
    """Who held the lease last may be forgotten: every process that was alive counts as a former holder."""
    async with process.transaction() as tx:
        await admin.create_tenant(tx, slug, slug, by="tester", now=1)
        await tx.execute("UPDATE tenant SET amqp = true WHERE slug = $1", slug)
        await cursors.create_missing(tx)
        await cursors.acquire(tx, "the holder", 1, 600_000)
        await tx.execute("UPDATE tenant_cursor SET former_holders = '{an earlier one}'")
        await heartbeats.record(tx, "another", heartbeats.FEED, NOW)
        await heartbeats.record(tx, "not of the feed", heartbeats.INGEST, NOW)
    await fail_over(store)
    row = await used(process)
    async with store.transaction() as tx:
        [now] = await cursors.acquire(tx, "a new one", 1, 600_000)
    assert (now.seq, now.notice_pending) == (row["mark"], True)
    assert sorted(now.former_holders) == ["an earlier one", "another", "the holder"]


async def test_of_processes_that_come_at_once_one_goes_on(database_url: str, store: Store) -> None:
    async with AsyncExitStack() as stack:
        everyone = [await stack.enter_async_context(await guarded(database_url)) for _ in range(4)]
        await Story(everyone[0]).offer(await Story(everyone[0]).match(), offer(1))
        await fail_over(store)
        rows = await asyncio.gather(*(used(process) for process in everyone for _ in range(3)))
    assert len({row["mark"] for row in rows}) == 1
    assert [each.action for each in await records(store, "database")] == ["database.failed_over"]


async def test_another_process_says_what_it_knows_to_be_lost(store: Store, database_url: str) -> None:
    """The first one to come back has read less."""
    async with (
        await guarded(database_url, session_name="writer") as writer,
        await guarded(database_url) as first,
    ):
        story = Story(writer)
        match = await story.match(offer(1))
        await story.offer(match, offer(2), offer(3))
        lost = await head(store)
        async with store.autocommit() as tx:  # the promoted server lacks the last commit
            await tx.execute("DELETE FROM change WHERE envelope_seq = $1", lost)
            await tx.execute("UPDATE match SET last_seq = $1", await changes.head(tx))
        await fail_over(store)
        row = await used(first)
        [alert] = await failover_alerts(store)
        assert row["head"] < lost and "no process knows of a lost commit" in alert.detail
        await cut(store, "writer")
        await used(writer)
    [alert] = await failover_alerts(store)
    assert f"commits are lost, up to seq {lost}" in alert.detail
    assert f"everything up to seq {row['head']} " in alert.detail


async def test_a_server_that_forgot_numbers_on_its_timeline_is_put_in_order(
    store: Store, process: Store
) -> None:
    """As after a crash without `synchronous_commit`."""
    story = Story(process)
    match = await story.match(offer(1))
    kept = await head(store)
    await story.offer(match, offer(2))
    lost = await head(store)
    async with store.autocommit() as tx:
        await tx.execute("DELETE FROM change WHERE seq > $1", kept)
        await tx.execute("UPDATE match SET last_seq = $1", kept)
        await tx.execute("SELECT setval('change_seq', $1)", kept)
    await cut(store, SESSION_NAME)
    row = await used(process)
    assert row["mark"] > lost and (row["head"], row["known_seq"]) == (kept, lost)
    await cut(store, SESSION_NAME)
    assert (await used(process))["mark"] == row["mark"], "once"


async def test_a_commit_that_was_rolled_back_is_not_reported(store: Store, process: Store) -> None:
    story = Story(process)
    match = await story.match(offer(1))
    with pytest.raises(ZeroDivisionError):
        async with process.transaction() as tx:
            await changes.append(tx, match, [changes.ChangeDraft("match", "", "", "odds_change", b"{}")], NOW)
            raise ZeroDivisionError
    async with process.dry_run() as tx:
        await changes.append(tx, match, [changes.ChangeDraft("match", "", "", "odds_change", b"{}")], NOW)
    before = await head(store)
    await fail_over(store)
    assert (await used(process))["known_seq"] == before


async def test_an_open_projection_of_the_stream_starts_anew(store: Store, process: Store) -> None:
    story = Story(process)
    match = await story.match(offer(1))
    projection = Projection(process, None)
    await projection.advance()
    await fail_over(store)
    row = await used(process)
    with pytest.raises(ChangesExpired):
        await projection.advance()
    projection.reset()
    await projection.advance()
    assert projection.seq > row["mark"] and list(projection.states) == [match.id]


async def test_a_match_that_cannot_be_suspended_stops_nothing(
    store: Store, process: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = Story(process)
    broken, sound = await story.match(), await story.match()
    suspend = suspension.suspend

    async def failing(tx: Any, match_id: Any, *args: Any) -> Any:
        done = await suspend(tx, match_id, *args)
        if match_id == broken.id:
            await tx.value("SELECT 1 / 0")
        return done

    monkeypatch.setattr(suspension, "suspend", failing)
    await fail_over(store)
    await used(process)
    assert (await present(store, broken)).suspended == ""
    assert (await present(store, sound)).suspended == DATABASE_FAILED_OVER
    of_matches = {alert.match_id: alert.detail for alert in await failover_alerts(store)}
    assert of_matches.keys() == {None, broken.id} and "could not be suspended" in of_matches[broken.id]


async def test_nobody_uses_the_server_while_it_is_not_in_order(
    store: Store, process: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = Story(process)
    match = await story.match()
    tried = asyncio.Event()

    async def fails(*_: object) -> None:
        tried.set()
        raise ZeroDivisionError

    with monkeypatch.context() as patched:
        patched.setattr(failover, "_raise_alert", fails)
        await fail_over(store)
        working = asyncio.create_task(used(process))
        await tried.wait()
        with pytest.raises(Unavailable):
            await story.offer(match, offer(1))
        assert await head(store) == 0
    assert (await working)["mark"]
    await story.offer(match, offer(1))


async def test_a_schema_without_the_table_is_named(store: Store, database_url: str) -> None:
    async with store.autocommit() as tx:
        await tx.execute("DROP TABLE database_timeline")
    with pytest.raises(Unavailable, match="matchfeed migrate"):
        await guarded(database_url)


async def test_an_upcoming_match_waits_until_ingest_runs(store: Store, process: Store) -> None:
    story = Story(process)
    match = await story.match(status=Status.UPCOMING, scheduled_at=NOW + 86_400_000)
    await fail_over(store)
    await used(process)
    assert (await present(store, match)).doubts[0].kind == "silent"


def test_what_was_lost_is_said_with_numbers_and_moments() -> None:
    at = 1_764_000_000_000
    nothing = Change(1000, at, 100, at - 5_000, 100, at - 5_000)
    assert failover.lost(nothing) == (
        "no process knows of a lost commit: the new primary had everything up to seq 100 "
        "(2025-11-24T15:59:55.000Z); the next is 1000"
    )
    some = msgspec.structs.replace(nothing, known_seq=130, known_at=at - 1_000)
    assert failover.lost(some) == (
        "commits are lost, up to seq 130 (2025-11-24T15:59:59.000Z): the new primary had everything up to "
        "seq 100 (2025-11-24T15:59:55.000Z); the next is 1000"
    )

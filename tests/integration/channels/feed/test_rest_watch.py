"""A web process announces that it listens; the feed process knows when none does."""

import pytest

from app.channels.feed import process_watch
from app.channels.feed.process_watch import RestWatch
from app.kit.errors import Unavailable
from app.main import create_app
from app.settings import Settings
from app.store import heartbeats
from app.store.connections import Store
from tests.faults.rig import Rig, consuming, until
from tests.integration.channels.feed.conftest import Running
from tests.support.clocks import ManualTime
from tests.support.wire import listening


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> ManualTime:
    time = ManualTime()
    monkeypatch.setattr(process_watch, "time", time)
    return time


async def announce(store: Store, name: str, *, listens: bool = True) -> None:
    async with store.transaction() as tx:
        await heartbeats.record_web(tx, name, listens=listens)


async def test_where_no_web_process_ever_announced_itself_rest_counts_as_there(store: Store) -> None:
    watch = RestWatch(store)
    await watch.check()
    assert watch.answers and watch.outages == 0


async def test_one_of_two_web_processes_that_restarts_is_no_outage(store: Store) -> None:
    watch = RestWatch(store)
    for name, listens in (("a", True), ("b", True), ("a", False), ("c", True), ("b", False)):
        await announce(store, name, listens=listens)
        await watch.check()
        assert watch.answers
    assert watch.outages == 0


async def test_the_last_one_that_stops_begins_an_outage_and_the_next_that_listens_ends_it(
    store: Store, time: ManualTime
) -> None:
    watch = RestWatch(store)
    for ended in range(3):
        await announce(store, "a")
        await watch.check()
        assert (watch.answers, watch.outages) == (True, ended)
        await announce(store, "a", listens=False)
        await watch.check()
        assert not watch.answers and watch.awaited
        time.now += 10
        assert not watch.awaited


async def test_one_that_is_killed_counts_for_some_seconds_only(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = RestWatch(store)
    await announce(store, "a")
    await watch.check()
    assert watch.answers
    monkeypatch.setattr(process_watch, "_SILENT_MILLIS", -1)
    await watch.check()
    assert not watch.answers


async def test_what_was_before_a_restore_says_that_web_processes_announce_themselves(store: Store) -> None:
    await announce(store, "before", listens=False)
    async with store.transaction() as tx:
        await heartbeats.forget(tx)
    watch = RestWatch(store)
    await watch.check()
    assert not watch.answers
    await announce(store, "new")
    await watch.check()
    assert (watch.answers, watch.outages) == (True, 1)


async def test_after_an_outage_of_the_database_web_processes_have_a_moment_to_announce_themselves(
    store: Store, time: ManualTime
) -> None:
    watch = RestWatch(store)
    await announce(store, "a")
    await watch.check()
    watch.note_unread(Unavailable("It is away."))
    await announce(store, "a", listens=False)  # as old as can be
    await watch.check()
    assert watch.answers
    time.now += 3
    await watch.check()
    assert not watch.answers


async def test_alive_is_withheld_while_no_web_process_listens_and_then_a_notice_comes(
    rig: Rig, settings: Settings, feed: Running
) -> None:
    _, url = await rig.tenant()
    match = await rig.match()

    async def away() -> bool:
        await rig.rest.check()
        return not rig.rest.answers

    async def back() -> bool:
        await rig.rest.check()
        return rig.rest.answers

    app = create_app(settings)
    async with feed(alive_seconds=0.5), consuming(url, rig.settings.exchange) as consumer:
        async with listening(app):
            await until("it is announced", lambda: announced(rig.store))
            await until("alive", lambda: consumer.alives)
        await until("away", away)
        [seq] = await rig.write_changes(match)
        await until("what is live goes on", lambda: seq in consumer.seqs)
        before = len(consumer.alives)
        async with listening(app):
            await until("back", back)
            await until("alive", lambda: len(consumer.alives) > before + 2)
    said = [b'subscribed="0"' in each.body for each in consumer.alives]
    assert said.count(True) == 1, "once"
    assert said[before : before + 2] == [True, False]


async def announced(store: Store) -> bool:
    async with store.autocommit() as tx:
        return await heartbeats.web_silence(tx) is not None

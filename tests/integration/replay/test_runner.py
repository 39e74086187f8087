"""When a replay publishes, by a clock of the test's own; and how it goes on after it broke off."""

import asyncio

import pytest

from app.domain.match import Match
from app.domain.replay import ReplayOptions, ReplayState
from app.domain.tenant import Tenant
from app.store import changes, kept_changes, replay_jobs, tenants
from app.store.connections import Store
from tests.integration.replay.conftest import Running, Vhost
from tests.support.clocks import ManualClock
from tests.support.eventually import eventually
from tests.support.replays import ended, present, prune_all, replay, service
from tests.support.story import Story, offer


async def played(store: Store, *seconds: float, begin: int = 1_000_000) -> Match:
    """A match with an envelope at each of these times."""
    clock = ManualClock(begin)
    story = Story(store, clock)
    match = await story.match()
    for number, at in enumerate(seconds, 1):
        clock.now = begin + round(at * 1000)
        if number == len(seconds):
            await story.finish(match)
        else:
            await story.offer(match, offer(number))
    return match


WAITING = """
SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
"""
SECONDS = (0, 1, 3.5, 3.7, 63.7, 64)


@pytest.mark.parametrize(
    ("speed", "max_delay", "pauses"),
    [
        (1, 86_400_000, [1, 2.5, 0.2, 60, 0.3]),
        (10, 86_400_000, [0.1, 0.25, 0.02, 6, 0.03]),
        (10, 2_000, [0.1, 0.25, 0.02, 2, 0.03]),
        (0.5, 86_400_000, [2, 5, 0.4, 120, 0.6]),
        (1, 0, [0, 0, 0, 0, 0]),
    ],
)
async def test_pauses_are_those_of_the_match(
    store: Store, tenant: Tenant, running: Running, speed: float, max_delay: int, pauses: list[float]
) -> None:
    match, vhost = await played(store, *SECONDS), Vhost()
    job = await replay(store, tenant, [match], ReplayOptions(speed, max_delay))
    async with running(vhost):
        done = await ended(store, job)
    assert (done.state, done.envelopes) == (ReplayState.COMPLETED, 6)
    assert vhost.pauses == pauses


async def test_matches_follow_each_other_or_run_in_parallel(
    store: Store, tenant: Tenant, running: Running
) -> None:
    one, other = await played(store, 0, 2, 6), await played(store, 0, 3, begin=9_000_000)
    numbers = {one.number: "a", other.number: "b"}
    for parallel, order, pauses in (
        (False, "aaabb", [2, 4, 0, 3]),
        (True, "ababa", [0, 2, 1, 3]),
    ):
        vhost = Vhost()
        job = await replay(store, tenant, [one, other], ReplayOptions(1, 86_400_000, parallel))
        async with running(vhost):
            assert (await ended(store, job)).state is ReplayState.COMPLETED
        keys = [int(message.routing_key.split(".")[6]) for _, message in vhost.published]
        assert ("".join(numbers[number] for number in keys), vhost.pauses) == (order, pauses)


async def test_a_killed_process_is_continued_by_the_next(
    store: Store, tenant: Tenant, running: Running
) -> None:
    """What was recorded is not published again, the rest once more with the same ids."""
    match, whole, vhost = await played(store, *range(40)), Vhost(), Vhost()
    first = await replay(store, tenant, [match], ReplayOptions(1))
    async with running(whole):
        await ended(store, first)
    job = await replay(store, tenant, [match], ReplayOptions(1))
    vhost.stands_after = 10
    async with running(vhost):
        await eventually(lambda: present(store, job), lambda seen: seen.envelopes >= 9)
    await played(store, 0, 1)
    await prune_all(store)
    vhost.stands_after = 10_000
    async with running(vhost):
        done = await ended(store, job)
    assert (done.state, done.attempts, done.envelopes) == (ReplayState.COMPLETED, 2, 40)
    assert list(dict.fromkeys(vhost.seqs)) == whole.seqs
    assert len(vhost.seqs) - len(set(vhost.seqs)) <= 1
    ids = {(message.message_id, message.body) for _, message in vhost.published}
    assert len(ids) == 40


async def test_a_broker_that_is_away_is_waited_for(store: Store, tenant: Tenant, running: Running) -> None:
    match, vhost = await played(store, *range(6)), Vhost()
    vhost.fails_after = 3
    job = await replay(store, tenant, [match], ReplayOptions(1))
    async with running(vhost):
        done = await ended(store, job)
    assert (done.state, done.attempts) == (ReplayState.COMPLETED, 2)
    assert sorted(set(vhost.seqs)) == list(dict.fromkeys(vhost.seqs))
    assert len(set(vhost.seqs)) == 6


async def test_nothing_is_published_without_the_lease(store: Store, tenant: Tenant, running: Running) -> None:
    match, vhost = await played(store, 0, 1), Vhost()
    job = await replay(store, tenant, [match])
    async with running(vhost, leased=False):
        seen = await eventually(lambda: present(store, job), lambda seen: bool(seen.error))
    assert (seen.state, seen.error) == (ReplayState.SCHEDULED, "another process holds the tenant")
    assert vhost.published == []


async def test_a_stopped_replay_ends_at_once(store: Store, tenant: Tenant, running: Running) -> None:
    match, vhost = await played(store, *range(40)), Vhost()
    vhost.stands_after = 5
    job = await replay(store, tenant, [match], ReplayOptions(1))
    async with running(vhost):
        await eventually(lambda: present(store, job), lambda seen: seen.envelopes >= 4)
        assert await service(store).stop(tenant, None)
        assert not await service(store).stop(tenant, None)
        again = await replay(store, tenant, [match], ReplayOptions(1))
        vhost.stands_after = 10_000
        assert (await ended(store, again)).state is ReplayState.COMPLETED
    assert len(vhost.published) == 45
    async with store.autocommit() as tx:
        states = await tx.fetch("SELECT state FROM replay_job ORDER BY id")
    assert [row["state"] for row in states] == [ReplayState.STOPPED, ReplayState.COMPLETED]


async def test_what_is_started_at_the_same_time_is_stopped_too(store: Store, tenant: Tenant) -> None:
    """A tenant whose `clear` was answered has an empty list, and nothing that runs."""
    match = await played(store, 0, 1)
    await service(store).add(tenant, None, str(match.id), finished_only=False)
    async with store.transaction() as tx:
        await tenants.lock_jobs(tx, tenant.id)
        job = await replay_jobs.start(tx, tenant.id, "", [match.id], ReplayOptions(), 0, by="tester")
        clearing = asyncio.create_task(service(store).clear(tenant, None))

        async def waits() -> bool:
            async with store.autocommit() as other:
                return bool(await other.value(WAITING)) or clearing.done()

        await eventually(waits, bool)
    await clearing
    assert (await present(store, job)).state is ReplayState.STOPPED


async def test_what_is_deleted_while_it_is_replayed_is_not_left_out(
    store: Store, tenant: Tenant, running: Running
) -> None:
    """The replay fails, and does not say that it published the whole match."""
    match, vhost = await played(store, *range(40)), Vhost()
    await played(store, 0, 1)
    for limit in (41, 2_000):  # in parts: one is read at a time
        async with store.transaction() as tx:
            await changes.prune(tx, 2**62, limit)
    job = await replay(store, tenant, [match], ReplayOptions(1))
    vhost.stands_after = 5
    async with running(vhost):
        await eventually(lambda: present(store, job), lambda seen: seen.envelopes >= 4)
        async with store.transaction() as tx:
            await kept_changes.prune(tx, 2**62)
        vhost.stands_after = 10_000
        vhost.resume.set()
        done = await ended(store, job)
    assert (done.state, done.error) == (ReplayState.FAILED, f"od:match:{match.number} is no longer kept")

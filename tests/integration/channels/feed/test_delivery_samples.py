"""Samples of the delivery: whatever processes write, and however often, they add up to what was published."""

import random
from uuid import UUID, uuid4

import pytest

from app.amqp.delivery_samples import DeliverySamples, TenantSamples
from app.channels.feed import retention
from app.kit.errors import Unavailable
from app.store import delivery_minutes
from app.store.connections import Store
from app.store.delivery_minutes import MINUTE_MILLIS, RETAINED_MILLIS, MinuteTotal
from tests.faults.rig import Consumer, Rig
from tests.integration.channels.feed.conftest import Running
from tests.support.eventually import eventually

BEGUN = 1_900_000_000_000 // MINUTE_MILLIS * MINUTE_MILLIS


class Clock:
    now = BEGUN

    def __call__(self) -> int:
        return self.now


class AwayStore:
    """A database that does not answer."""

    def autocommit(self) -> None:
        raise Unavailable("away")


async def totals(store: Store, tenant_id: UUID, since: int = 0) -> list[MinuteTotal]:
    async with store.autocommit() as tx:
        return await delivery_minutes.totals(tx, tenant_id, since)


@pytest.mark.parametrize("seed", range(8))
async def test_they_add_up_while_a_lease_moves_and_writes_fail_or_are_repeated(
    store: Store, seed: int
) -> None:
    """Two processes take a tenant from each other at any moment; each writes when it likes, also what it has
    written already, and while the database is away."""
    chance, clock, tenant_id = random.Random(seed), Clock(), uuid4()
    processes = [DeliverySamples(clock), DeliverySamples(clock)]
    holder, epoch = 0, 1
    published: dict[int, int] = {}
    lags: dict[int, int] = {}
    for _ in range(150):
        match chance.randrange(6):
            case 0:
                clock.now += chance.randrange(40_000)
            case 1:
                holder, epoch = 1 - holder, epoch + 1
            case 2:
                await chance.choice(processes).write(store, present=chance.random() < 0.5)
            case 3:
                with pytest.raises(Unavailable):
                    process = chance.choice(processes)
                    process.current(tenant_id, epoch if process is processes[holder] else epoch - 1)
                    await process.write(AwayStore(), present=True)  # type: ignore[arg-type]
            case _:
                count, lag = chance.randrange(1, 20), chance.randrange(5_000)
                TenantSamples(processes[holder], tenant_id, epoch).confirmed(count, lag)
                minute = processes[holder].minute()
                published[minute] = published.get(minute, 0) + count
                lags[minute] = max(lags.get(minute, 0), lag)
    for process in processes:
        await process.write_last(store)
    found = {each.minute: each for each in await totals(store, tenant_id)}
    assert {minute: each.published for minute, each in found.items() if each.published} == published
    assert {minute: found[minute].lag for minute in lags} == lags


async def test_a_minute_that_is_written_is_not_begun_again(store: Store) -> None:
    """A clock that goes back would make the row of a minute smaller than what it has."""
    clock, tenant_id = Clock(), uuid4()
    process = DeliverySamples(clock)
    tenant = TenantSamples(process, tenant_id, 1)
    tenant.confirmed(3, 10.4)
    tenant.dropped(2)
    clock.now += MINUTE_MILLIS
    await process.write(store)
    assert await totals(store, tenant_id) == [MinuteTotal(BEGUN, 3, 10, 2, 0)]
    clock.now -= MINUTE_MILLIS
    tenant.confirmed(4, 0)
    tenant.notified()
    await process.write_last(store)
    expected = [MinuteTotal(BEGUN, 3, 10, 2, 0), MinuteTotal(BEGUN + MINUTE_MILLIS, 4, 0, 0, 1)]
    assert await totals(store, tenant_id) == expected
    assert await totals(store, uuid4()) == [], "another tenant sees its own only"


async def test_old_minutes_are_pruned(store: Store) -> None:
    tenant_id = uuid4()
    clock = Clock()
    process = DeliverySamples(clock)
    for _ in range(3):
        TenantSamples(process, tenant_id, 1).confirmed(1, 0)
        clock.now += MINUTE_MILLIS
    await process.write(store)
    config = retention.RetentionConfig(changes_millis=1, recovery_window_millis=1, kept_millis=0)
    await retention.prune(store, config, BEGUN + MINUTE_MILLIS + RETAINED_MILLIS)
    minutes = [each.minute for each in await totals(store, tenant_id)]
    assert minutes == [BEGUN + MINUTE_MILLIS, BEGUN + 2 * MINUTE_MILLIS]


async def test_what_a_session_publishes_is_counted(rig: Rig, feed: Running, consumer: Consumer) -> None:
    match = await rig.match()
    async with feed(alive_seconds=0.5) as session:
        await eventually(lambda: _is_alive(consumer))
        seqs = await rig.write_changes(match, 7)
        await eventually(lambda: _received(consumer, set(seqs)))
    samples = session.relay._samples
    await samples.write_last(rig.store)
    (tenant_id,) = [each.tenant_id for each in samples._unwritten.values()][:1]
    found = await totals(rig.store, tenant_id)
    assert sum(each.published for each in found) == 7
    assert all(each.lag < 30_000 for each in found) and not any(each.dropped for each in found)


async def _is_alive(consumer: Consumer) -> bool:
    return bool(consumer.alives)


async def _received(consumer: Consumer, seqs: set[int]) -> bool:
    return consumer.seqs == seqs

"""Counts in a moving minute: exact, shared, and never in anybody's way when Redis is."""

import asyncio
import secrets
import time
from collections import deque
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from redis.asyncio import Redis

from app.kit.errors import Unavailable
from app.store.counters import Count, Counters
from scripts.services import Services
from tests.support.clocks import ManualClock
from tests.support.eventually import eventually
from tests.support.redis import PrivateRedis

START = 1_900_000_000_000


@pytest.fixture
def name() -> str:
    return f"test:{secrets.token_hex(8)}"


@pytest.fixture
def private(tmp_path: Path) -> Iterator[PrivateRedis]:
    with PrivateRedis(tmp_path) as redis:
        yield redis


async def test_a_request_over_the_limit_returns_when_the_next_may_come(services: Services, name: str) -> None:
    clock = ManualClock(START)
    async with Counters(services.redis_url, clock) as counters:
        assert await counters.count(name, 2) == Count(True, 1, 60_000)
        clock.now += 10_000
        assert await counters.count(name, 2) == Count(True, 0, 50_000)
        clock.now += 49_999
        assert await counters.count(name, 2) == Count(False, 0, 1)
        clock.now += 1
        assert await counters.count(name, 2) == Count(True, 0, 10_000)


async def test_a_reply_of_another_length_leaves_nobody_waiting(
    services: Services, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with AsyncExitStack() as stack:
        with monkeypatch.context() as patch:
            patch.setattr("app.store.counters.SCRIPT", "return {1}")
            counting = await stack.enter_async_context(Counters(services.redis_url))
        async with asyncio.timeout(60):
            with pytest.raises(Unavailable):
                await counting.count(name, 2)

        async def counts_again() -> bool:
            try:
                return (await counting.count(name, 100)).counted
            except Unavailable:
                return False

        await eventually(counts_again, bool)


async def test_a_burst_at_the_edge_of_a_minute_gains_nothing(services: Services, name: str) -> None:
    """What a fixed window lets through twice: a full burst just before its edge and one just after."""
    clock = ManualClock(START)
    async with Counters(services.redis_url, clock) as counters:
        clock.now += 59_999 - START % 60_000
        first = await asyncio.gather(*[counters.count(name, 600) for _ in range(601)])
        clock.now += 2
        second = await asyncio.gather(*[counters.count(name, 600) for _ in range(600)])
    assert [count.counted for count in first] == [True] * 600 + [False]
    assert not any(count.counted for count in second)


@settings(max_examples=25, deadline=None)
@given(steps=st.lists(st.integers(0, 25_000), min_size=1, max_size=60), limit=st.integers(1, 8))
async def test_no_sliding_minute_has_more_than_the_limit(
    services_url: str, steps: list[int], limit: int
) -> None:
    """Against a model: the moments that counted in the last minute."""
    clock, model, name = ManualClock(START), deque[int](), f"test:{secrets.token_hex(8)}"
    async with Counters(services_url, clock) as counters:
        for step in steps:
            clock.now += step
            while model and model[0] <= clock.now - 60_000:
                model.popleft()
            if counted := len(model) < limit:
                model.append(clock.now)
            found = await counters.count(name, limit)
            assert found == Count(counted, limit - len(model), model[0] + 60_000 - clock.now)


@pytest.fixture(scope="module")
def services_url(services: Services) -> str:
    return services.redis_url


async def test_two_processes_share_one_limit(services: Services, name: str) -> None:
    async with Counters(services.redis_url) as one, Counters(services.redis_url) as other:
        counts = await asyncio.gather(*[each.count(name, 600) for _ in range(400) for each in (one, other)])
        assert sum(count.counted for count in counts) == 600
        assert not (await one.count(name, 600)).counted
        assert not (await other.count(name, 600)).counted


async def test_a_lowered_limit_holds_at_once(services: Services, name: str) -> None:
    clock = ManualClock(START)
    async with Counters(services.redis_url, clock) as counters:
        for _ in range(5):
            await counters.count(name, 5)
            clock.now += 1000
        assert await counters.count(name, 2) == Count(False, 0, 58_000)


async def test_time_that_steps_back_frees_nothing(services: Services, name: str) -> None:
    clock = ManualClock(START)
    async with Counters(services.redis_url, clock) as counters:
        await counters.count(name, 1)
        clock.now -= 3_600_000
        assert not (await counters.count(name, 1)).counted


async def reply_to(redis: PrivateRedis, *command: str) -> Any:
    """What Redis says to somebody else."""
    async with Redis.from_url(redis.url) as client:
        return await client.execute_command(*command)


async def test_password_and_database_come_from_the_url(private: PrivateRedis, name: str) -> None:
    await reply_to(private, "CONFIG", "SET", "requirepass", "open sesame")
    where = f"127.0.0.1:{private.port}/3"
    async with Counters(f"redis://:open%20sesame@{where}") as counters:
        assert (await counters.count(name, 5)).counted
    async with Counters(f"redis://:wrong@{where}") as counters:
        assert not counters.up


async def test_nothing_stays_in_redis_for_more_than_a_minute(private: PrivateRedis, name: str) -> None:
    async with Counters(private.url) as counters:
        await counters.count(name, 1)
        assert 0 < await reply_to(private, "PTTL", name) <= 60_000


async def test_a_lost_script_is_sent_again(private: PrivateRedis, name: str) -> None:
    async with Counters(private.url) as counters:
        await counters.count(name, 5)
        await reply_to(private, "SCRIPT", "FLUSH")
        assert (await counters.count(name, 5)).remaining == 3


async def _seconds_to_fail(counters: Counters, name: str) -> float:
    begun = time.perf_counter()
    with pytest.raises(Unavailable):
        await counters.count(name, 5)
    return time.perf_counter() - begun


async def _counts_again(counters: Counters, name: str) -> None:
    await eventually(lambda: counters.up)
    assert (await counters.count(name, 10**6)).counted


async def test_a_stopped_redis_is_reported_and_reconnected(private: PrivateRedis, name: str) -> None:
    async with Counters(private.url) as counters:
        assert (await counters.count(name, 5)).counted
        private.stop()
        assert await _seconds_to_fail(counters, name) < 0.25
        assert max([await _seconds_to_fail(counters, name) for _ in range(50)]) < 0.05
        private.start()
        await _counts_again(counters, name)


async def test_a_hanging_redis_blocks_no_request(private: PrivateRedis, name: str) -> None:
    async with Counters(private.url) as counters:
        assert (await counters.count(name, 5)).counted
        private.freeze()
        waits = await asyncio.gather(*[_seconds_to_fail(counters, name) for _ in range(50)])
        assert max(waits) < 0.3  # 0.1 s is the promise; the rest is for a busy machine
        assert await _seconds_to_fail(counters, name) < 0.05
        private.freeze(False)
        await _counts_again(counters, name)


async def test_a_redis_that_is_down_at_the_start_is_connected_later(private: PrivateRedis, name: str) -> None:
    private.stop()
    async with Counters(private.url) as counters:
        assert await _seconds_to_fail(counters, name) < 0.05
        private.start()
        await _counts_again(counters, name)


async def test_a_delayed_process_does_not_time_out_redis(services: Services, name: str) -> None:
    async with Counters(services.redis_url) as counters:
        asking = asyncio.create_task(counters.count(name, 5))
        for _ in range(3):
            await asyncio.sleep(0)
        time.sleep(0.3)  # noqa: ASYNC251 - the hold-up itself
        assert (await asking).counted
        assert counters.up

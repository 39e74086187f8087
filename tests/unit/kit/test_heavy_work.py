"""Tenants take turns in the thread for CPU-bound work."""

import asyncio
import threading
from uuid import UUID, uuid4

import pytest

from app.kit.errors import TooManyRequests
from app.kit.heavy_work import MOST_CALLS, on_behalf_of, run_in_thread
from tests.support.heavy_work import occupied_thread


async def test_a_tenant_waits_for_one_call_of_another_at_most() -> None:
    done: list[str] = []
    greedy, other = uuid4(), uuid4()

    async def call(tenant: UUID, name: str) -> None:
        with on_behalf_of(tenant):
            await run_in_thread(done.append, name)

    async with asyncio.TaskGroup() as group, occupied_thread():
        for number in range(5):
            group.create_task(call(greedy, f"greedy {number}"))
        await asyncio.sleep(0)
        group.create_task(call(other, "other"))
        await asyncio.sleep(0)
    assert done == ["greedy 0", "other", *(f"greedy {number}" for number in range(1, 5))]


async def test_a_tenants_next_call_waits_as_long_as_the_one_before_took(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also where that request has ended; calls of others and the service's own do not."""
    loop, pauses, resumed = asyncio.get_running_loop(), list[float](), threading.Event()
    monkeypatch.setattr(
        "app.kit.heavy_work.perf_counter", iter([10.0, 13.0, 20.0, 20.5, 30.0, 31.0]).__next__
    )
    ends = asyncio.Queue[asyncio.TimerHandle]()

    def call_later(seconds: float, end: object, *args: object) -> asyncio.TimerHandle:
        pauses.append(seconds)
        handle = asyncio.TimerHandle(loop.time() + seconds, end, args, loop)  # type: ignore[arg-type]
        ends.put_nowait(handle)
        return handle

    monkeypatch.setattr(loop, "call_later", call_later)
    greedy, other = uuid4(), uuid4()
    with on_behalf_of(greedy):
        assert await run_in_thread(abs, -1) == 1
        following = asyncio.create_task(run_in_thread(resumed.is_set))
    await asyncio.sleep(0)
    with on_behalf_of(other):
        assert await run_in_thread(abs, -2) == 2
    assert await run_in_thread(abs, -3) == 3
    assert not following.done()
    resumed.set()
    (await ends.get())._run()
    assert await following
    assert pauses == [3.0, 0.5, 1.0]


async def test_a_tenant_has_so_many_calls_that_wait_and_no_more() -> None:
    greedy, other = uuid4(), uuid4()

    async def call(tenant: UUID) -> bool:
        with on_behalf_of(tenant):
            return await run_in_thread(bool, 1)

    async with asyncio.TaskGroup() as group, occupied_thread():
        waiting = [group.create_task(call(greedy)) for _ in range(MOST_CALLS + 1)]
        await asyncio.sleep(0)
        with pytest.raises(TooManyRequests) as refused:
            await call(greedy)
        assert refused.value.retry_after == 1
        waiting.append(group.create_task(call(other)))
        waiting += [group.create_task(run_in_thread(bool, 1)) for _ in range(2 * MOST_CALLS)]
        waiting[1].cancel()
        await asyncio.sleep(0)
        waiting[1] = group.create_task(call(greedy))
    assert all(task.result() for task in waiting)
    assert await call(greedy)

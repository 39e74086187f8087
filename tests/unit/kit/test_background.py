"""Background work begins anew whatever ended it, until it is cancelled."""

import asyncio
import gc
from typing import Any

import pytest

from app.kit import background
from app.kit.background import run_forever, run_isolated


async def test_a_failure_is_logged_and_the_work_restarted(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, going = 0, asyncio.Event()
    logged: list[tuple[str, str]] = []
    monkeypatch.setattr(
        background.log, "error", lambda _, what, exc_info: logged.append((what, str(exc_info))), raising=False
    )

    async def work() -> None:
        nonlocal begun
        begun += 1
        if begun == 1:
            raise RuntimeError("broken")
        going.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(run_forever("some work", work))
    async with asyncio.timeout(60):
        await going.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert begun == 2
    assert logged == [("some work", "broken")]


async def test_isolated_work_returns_fails_and_is_abandoned() -> None:
    async def answer() -> int:
        return 7

    async def fail() -> None:
        raise ValueError("no")

    async def cancelled() -> None:
        raise asyncio.CancelledError

    assert await run_isolated(answer(), 5) == 7
    with pytest.raises(ValueError, match="no"):
        await run_isolated(fail(), 5)
    with pytest.raises(ConnectionError):
        await run_isolated(cancelled(), 5)
    with pytest.raises(TimeoutError):
        await run_isolated(asyncio.Event().wait(), 0.01)


@pytest.mark.parametrize("cancelled", [True, False], ids=["caller cancelled", "out of time"])
async def test_a_failure_of_abandoned_work_is_not_left_to_the_event_loop(cancelled: bool) -> None:
    """A client whose connection the peer resets while it closes raises that in its own task."""
    strays: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: strays.append(context))

    async def reset() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise ConnectionResetError("Connection lost") from None

    task = asyncio.create_task(run_isolated(reset(), 60 if cancelled else 0.001))
    await asyncio.sleep(0)
    if cancelled:
        await asyncio.sleep(0)
        task.cancel()
    with pytest.raises(asyncio.CancelledError if cancelled else TimeoutError):
        await task
    for _ in range(3):
        await asyncio.sleep(0)
    gc.collect()
    assert not strays


async def test_a_cancellation_is_not_lost_in_isolated_work() -> None:
    answers: asyncio.Queue[int] = asyncio.Queue()
    task = asyncio.create_task(run_isolated(asyncio.wait_for(answers.get(), 5), 5))
    for _ in range(3):
        await asyncio.sleep(0)
    answers.put_nowait(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

"""Work in tasks of its own: beside a process's requests, where it may not end unnoticed, and apart from a
task that must be able to end."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from app.kit.logging import get_logger

T = TypeVar("T")
_AGAIN_SECONDS = 0.25
log = get_logger(__name__)


async def run_forever(what: str, work: Callable[[], Awaitable[None]]) -> None:
    """Do `work`, which is not to end before it is cancelled; when it fails, say so and begin it anew."""
    while True:
        try:
            await work()
        except Exception as error:
            log.error("work in the background failed, beginning it anew", what=what, exc_info=error)
        await asyncio.sleep(_AGAIN_SECONDS)


async def run_isolated(work: Coroutine[Any, Any, T], seconds: float) -> T:
    """The result of a client library's `work`, within `seconds`; raises what it raises, or an `OSError`.

    On Python 3.11 `asyncio.wait_for`, which AMQP clients use, may lose a cancellation that meets an answer,
    and a client that gives its connection up cancels who waits for it. Neither may reach the caller's task.
    """
    task = asyncio.create_task(work)
    try:
        await asyncio.wait({task}, timeout=seconds)
    finally:
        over = task.done()
        if not over:
            abandon(task)
    if not over:
        raise TimeoutError(f"no answer within {seconds:.0f} s")
    if task.cancelled():
        raise ConnectionError("the client gave its connection up")
    return task.result()


def abandon(task: asyncio.Task[Any]) -> None:
    """Cancel a task that nobody waits for any more. How it fails then, for what it used may break under it at
    that moment, is no error that the event loop has to report."""
    task.cancel()
    task.add_done_callback(_failed_late)


def _failed_late(task: asyncio.Task[Any]) -> None:
    if not task.cancelled() and (error := task.exception()):
        log.debug("work that was given up failed", error=repr(error))

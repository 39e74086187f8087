"""Background tasks: restarted when they fail, and isolated from a caller that must stay cancellable;
retries, and waiting for an event.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from app.kit.errors import Unavailable
from app.kit.logging import get_logger

T = TypeVar("T")
_RESTART_SECONDS = 0.25
_left = set[asyncio.Task[Any]]()  #: the event loop itself holds tasks weakly
_FIRST_PAUSE_SECONDS, _MAX_PAUSE_SECONDS = 0.1, 2.0
log = get_logger(__name__)


async def run_forever(what: str, work: Callable[[], Awaitable[None]]) -> None:
    """Run `work` until cancelled; when it ends or fails, log the failure and start it again."""
    while True:
        try:
            await work()
        except Exception as error:
            log.error("background work failed, restarting it", what=what, exc_info=error)
        await asyncio.sleep(_RESTART_SECONDS)


async def run_isolated(work: Coroutine[Any, Any, T], seconds: float) -> T:
    """The result of a client library's `work`, within `seconds`; raises what it raises, or an `OSError`.

    On Python 3.11 `asyncio.wait_for`, which AMQP clients use, may lose a cancellation that coincides with a
    reply, and a client that abandons its connection cancels the tasks waiting for it. In a task of its own
    neither reaches the caller's task.
    """
    task = asyncio.create_task(work)
    try:
        await asyncio.wait({task}, timeout=seconds)
    finally:
        done = task.done()
        if not done:
            abandon(task)
    if not done:
        raise TimeoutError(f"no answer within {seconds:.0f} s")
    if task.cancelled():
        raise ConnectionError("the client gave its connection up")
    return task.result()


def abandon(task: asyncio.Task[Any]) -> None:
    """Cancel a task, and `leave` it."""
    task.cancel()
    leave(task)


def leave(task: asyncio.Task[Any]) -> None:
    """Let a task end by itself, without anybody who awaits it. If it fails, that is logged at debug level and
    not reported by the event loop."""
    _left.add(task)
    task.add_done_callback(_log_late_failure)


def _log_late_failure(task: asyncio.Task[Any]) -> None:
    _left.discard(task)
    if not task.cancelled() and (error := task.exception()):
        log.debug("abandoned work failed", error=repr(error))


async def retry_while_unavailable(what: str, step: Callable[[], Awaitable[T]]) -> T:
    """The result of `step`, which is retried while it raises `Unavailable`; each retry is logged."""
    pause = _FIRST_PAUSE_SECONDS
    while True:
        try:
            return await step()
        except Unavailable as error:
            log.warning("trying again", what=what, error=error.detail)
        await asyncio.sleep(pause)
        pause = min(_MAX_PAUSE_SECONDS, 2 * pause)


async def wait_for_event(event: asyncio.Event, seconds: float | None) -> bool:
    """Wait for `event`, at most `seconds` (None: without limit); whether it was set."""
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return False

"""What ends a run of certification before its last accident: a signal, or a broker that is gone. What the run
has started ends all the same.
"""

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from app.kit.errors import Unavailable

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_LOOK_SECONDS, _GONE_SECONDS = 2.0, 20.0
T = TypeVar("T")


class Interrupted(Exception):
    """A signal has ended the run, and the run what it had started."""


@asynccontextmanager
async def interruptible(notify: Callable[[str], None]) -> AsyncIterator[None]:
    """Within the block SIGTERM and Ctrl-C cancel it; once it has ended what it started, this raises
    `Interrupted`. A second signal changes nothing: what is being ended would be left."""
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    async with _cancellable(asyncio.CancelledError) as cancel:

        def end(number: signal.Signals) -> None:
            reason = f"certification was ended by {number.name}; the client and the service have ended, too"
            if cancel(Interrupted(reason)):
                notify(f"{number.name}: ending the client and the service, which may take a minute")

        for number in _SIGNALS:
            loop.add_signal_handler(number, end, number)
        try:
            yield
        finally:
            for number, handler in before.items():
                loop.remove_signal_handler(number)
                signal.signal(number, handler)


@asynccontextmanager
async def requiring_broker(
    check: Callable[[], Awaitable[None]], *, gone: float = _GONE_SECONDS, every: float = _LOOK_SECONDS
) -> AsyncIterator[None]:
    """Cancel the block when `check` has raised `Unavailable` for `gone` seconds, and raise that then: without
    a broker each accident would be waited for in vain, minutes at a time. What the block could not remove
    from the broker is no second reason."""

    async def watch(cancel: Callable[[Exception], bool]) -> None:
        answered = time.monotonic()
        while True:
            try:
                await check()
                answered = time.monotonic()
            except Unavailable as error:
                if time.monotonic() - answered >= gone:
                    what = "the broker does not answer any more, so certification has ended without a result"
                    cancel(Unavailable(f"{what}: {error}"))
                    return
            await asyncio.sleep(every)

    async with _cancellable(asyncio.CancelledError, Unavailable) as cancel:
        watching = asyncio.create_task(watch(cancel))
        try:
            yield
        finally:
            watching.cancel()


@asynccontextmanager
async def _cancellable(*hidden: type[BaseException]) -> AsyncIterator[Callable[[Exception], bool]]:
    """Yields a function that cancels the block for a reason, which is raised in the place of the `hidden`
    exceptions with which the block then ends. It returns False if there is a reason already."""
    task, reasons = asyncio.current_task(), list[Exception]()
    assert task is not None, "a block runs in a task"

    def cancel(reason: Exception) -> bool:
        reasons.append(reason)
        return len(reasons) == 1 and task.cancel()

    try:
        yield cancel
    except hidden as error:
        if not reasons:
            raise
        task.uncancel()
        raise reasons[0] from error


async def undisturbed(work: Coroutine[Any, Any, T]) -> T:
    """Do this to its end even if the task is cancelled meanwhile; the cancellation is raised afterwards."""
    task, cancelled = asyncio.create_task(work), False
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        task.exception()  # it is looked at: the cancellation is what is raised
        raise asyncio.CancelledError
    return task.result()

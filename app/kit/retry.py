"""Retrying until a dependency is available, and waiting for an event with a timeout."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from app.kit.errors import Unavailable
from app.kit.logging import get_logger

T = TypeVar("T")
_FIRST_PAUSE_SECONDS, _MAX_PAUSE_SECONDS = 0.1, 2.0
log = get_logger(__name__)


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

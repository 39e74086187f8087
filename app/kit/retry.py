"""Waiting: for something that we depend on and that is away, saying so once a try; and for an event."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from app.kit.errors import Unavailable
from app.kit.logging import get_logger

T = TypeVar("T")
_FIRST_SECONDS, _MOST_SECONDS = 0.1, 2.0
log = get_logger(__name__)


async def retry_while_unavailable(what: str, step: Callable[[], Awaitable[T]]) -> T:
    """The result of `step`, which is tried until it does not raise `Unavailable`."""
    pause = _FIRST_SECONDS
    while True:
        try:
            return await step()
        except Unavailable as error:
            log.warning("trying again", what=what, error=error.detail)
        await asyncio.sleep(pause)
        pause = min(_MOST_SECONDS, 2 * pause)


async def wait_for_event(event: asyncio.Event, seconds: float | None) -> bool:
    """Wait for `event`, at most `seconds` (None: however long it takes); whether it came."""
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return False

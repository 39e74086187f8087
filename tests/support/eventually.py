"""Wait for a condition, with a deadline."""

import asyncio
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import TypeVar, cast

T = TypeVar("T")


async def eventually(
    look: Callable[[], Awaitable[T] | T],
    accepted: Callable[[T], object] = bool,
    seconds: float = 60,
    every: float = 0.02,
) -> T:
    """The result of `look` as soon as it is `accepted`; fails with the last result after `seconds`. It looks
    `every` so many seconds."""
    deadline = asyncio.get_running_loop().time() + seconds
    while True:
        found = look()
        seen = cast(T, await found if isawaitable(found) else found)
        if accepted(seen):
            return seen
        assert asyncio.get_running_loop().time() < deadline, f"still {seen!r} after {seconds} s"
        await asyncio.sleep(every)


async def succeeds(attempt: Awaitable[object], *refusals: type[Exception]) -> bool:
    """Whether the attempt ends without one of these errors; any other one is raised."""
    try:
        await attempt
    except refusals:
        return False
    return True

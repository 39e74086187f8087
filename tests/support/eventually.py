"""Waiting for something to become so, with a deadline."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def eventually(
    look: Callable[[], Awaitable[T]], wanted: Callable[[T], object] = bool, seconds: float = 20
) -> T:
    """What `look` answers as soon as it is `wanted`; fails with its last answer when that takes too long."""
    deadline = asyncio.get_running_loop().time() + seconds
    while True:
        seen = await look()
        if wanted(seen):
            return seen
        assert asyncio.get_running_loop().time() < deadline, f"still {seen!r} after {seconds} s"
        await asyncio.sleep(0.02)

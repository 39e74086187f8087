"""CPU-bound work outside the event loop.

One thread for all of it: Python runs one thread at a time anyway, and a second one would only compete with
the event loop. Keep calls into C short: they hold the GIL.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
_executor = ThreadPoolExecutor(1, thread_name_prefix="heavy")


async def run_in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What `work` returns, or raises; calls run one after another."""
    return await asyncio.get_running_loop().run_in_executor(_executor, partial(work, *args, **kwargs))

"""Work that takes long enough to be felt, beside the event loop.

One thread for all of it: Python runs one at a time anyway, and a second would only take turns from the loop.
Keep calls into C short: they do not give way.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
_executor = ThreadPoolExecutor(1, thread_name_prefix="heavy")


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What `work` returns, or raises; it waits until earlier work is done."""
    return await asyncio.get_running_loop().run_in_executor(_executor, partial(work, *args, **kwargs))

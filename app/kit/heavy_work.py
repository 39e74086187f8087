"""CPU-bound work outside the event loop, in which tenants take turns.

One thread does all of it: Python runs one thread at a time anyway, and a second one would only compete with
the event loop. Keep calls into C short: they hold the GIL.
"""

import asyncio
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from functools import partial
from time import perf_counter
from typing import ParamSpec, TypeVar

from app.kit.errors import TooManyRequests

P = ParamSpec("P")
T = TypeVar("T")
MOST_CALLS = 32  #: of one tenant's requests that may wait for the thread
_RETRY_SECONDS = 1


class _Calls:
    """The calls of one tenant's requests: `count` of them, of which one has its turn."""

    def __init__(self) -> None:
        self.turn, self.count = asyncio.Lock(), 0


_executor = ThreadPoolExecutor(1, thread_name_prefix="heavy")
_calls: dict[Hashable, _Calls] = {}
_tenant: ContextVar[Hashable] = ContextVar("tenant", default=None)


async def _run(call: Callable[[], T]) -> T:
    return await asyncio.get_running_loop().run_in_executor(_executor, call)


async def _run_in_turn(tenant: Hashable, call: Callable[[], T]) -> T:
    calls = _calls.setdefault(tenant, _Calls())
    if calls.count > MOST_CALLS:
        what = f"{MOST_CALLS} requests of yours wait for others of yours already; send fewer at a time."
        raise TooManyRequests(what, retry_after=_RETRY_SECONDS, code="too_many_at_once", waiting=MOST_CALLS)
    calls.count += 1
    try:
        await calls.turn.acquire()
    except BaseException:
        _leave(tenant, calls)
        raise
    seconds = 0.0

    def timed() -> T:
        nonlocal seconds
        began = perf_counter()
        try:
            return call()
        finally:
            seconds = perf_counter() - began

    try:
        return await _run(timed)
    finally:
        asyncio.get_running_loop().call_later(seconds, _end_turn, tenant, calls)


def _end_turn(tenant: Hashable, calls: _Calls) -> None:
    calls.turn.release()
    _leave(tenant, calls)


def _leave(tenant: Hashable, calls: _Calls) -> None:
    calls.count -= 1
    if not calls.count:
        del _calls[tenant]


class on_behalf_of:
    """`with on_behalf_of(tenant_id):` what runs in the thread meanwhile is a request's of this tenant; with
    None it is ours, an operator's for example, and waits for no turn."""

    __slots__ = ("_tenant", "_token")

    def __init__(self, tenant_id: Hashable) -> None:
        self._tenant = tenant_id

    def __enter__(self) -> None:
        self._token = _tenant.set(self._tenant)

    def __exit__(self, *_: object) -> None:
        _tenant.reset(self._token)


async def run_in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What `work` returns, or raises. Calls run one after another. Of a tenant's requests one call at a time
    is with the thread, and the next one no sooner than after a pause as long as it took: others wait for one
    call of each tenant at most, and the event loop for half of the time, however many requests it sends.
    Raises `TooManyRequests` while `MOST_CALLS` others of the tenant wait."""
    tenant, call = _tenant.get(), partial(work, *args, **kwargs)
    return await (_run(call) if tenant is None else _run_in_turn(tenant, call))

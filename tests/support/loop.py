"""An event loop that runs beside a synchronous test, for tests that a library steps through."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, contextmanager
from types import TracebackType
from typing import Any, Self, TypeVar

T = TypeVar("T")


class Loop:
    """A context; `run` waits for a coroutine that runs in it."""

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        return self

    def run(self, work: Coroutine[Any, Any, T], seconds: float = 90) -> T:
        return self.begin(work).result(seconds)

    def begin(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Do this beside the caller."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    @contextmanager
    def opened(self, context: AbstractAsyncContextManager[T]) -> Iterator[T]:
        """Enter `context`, in one task of the loop that also leaves it."""
        value: Future[T] = Future()
        task = asyncio.run_coroutine_threadsafe(self._hold(context, value), self._loop)
        task.add_done_callback(lambda _: value.done() or value.set_exception(RuntimeError("not opened")))
        try:
            yield value.result(90)
        finally:
            self._loop.call_soon_threadsafe(self._over.set)
            task.result(90)

    async def _hold(self, context: AbstractAsyncContextManager[T], value: "Future[T]") -> None:
        self._over = asyncio.Event()
        async with context as entered:
            value.set_result(entered)
            await self._over.wait()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

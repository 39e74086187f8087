"""The statements that a piece of code runs on the database, so that a test can count them."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import pytest

from app.store.transaction import Tx

_METHODS = ("fetch", "row", "value", "execute")  #: through which `Tx` runs every statement
_recorded: ContextVar[list[str] | None] = ContextVar("recorded_statements", default=None)


@contextmanager
def recorded_statements() -> Iterator[list[str]]:
    """The SQL of every statement that the block runs through a `Tx`, in order; BEGIN, COMMIT and ROLLBACK are
    not among them.

    Only what runs in the block's own task counts, and in tasks that it starts: a request that a client of
    `support.web.serving` sends is in the block's task, the application's background tasks are not.
    """
    found: list[str] = []
    token = _recorded.set(found)
    try:
        with pytest.MonkeyPatch.context() as patch:
            for name in _METHODS:
                patch.setattr(Tx, name, _recording(getattr(Tx, name)))
            yield found
    finally:
        _recorded.reset(token)


def _recording(run: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def recording(tx: Tx, sql: str, *args: Any) -> Any:
        found = _recorded.get()
        if found is not None:
            found.append(sql)
        return await run(tx, sql, *args)

    return recording

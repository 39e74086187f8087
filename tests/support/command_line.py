"""The command line in this process."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec
import pytest
from click.testing import Result

from app.settings import Settings
from app.store.connections import open_store
from app.store.transaction import Tx

T = TypeVar("T")
Run = Callable[..., Result]


def set_environment(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    """Have commands read these settings from the environment."""
    for name, value in msgspec.to_builtins(settings).items():
        monkeypatch.setenv(name, str(value))


def in_transaction(settings: Settings, work: Callable[[Tx], Awaitable[T]]) -> T:
    """The result of work on the database in one transaction, between commands."""

    async def run() -> T:
        async with await open_store(settings.database_url, 1) as store, store.transaction() as tx:
            return await work(tx)

    return asyncio.run(run())


def ok(result: Result) -> Any:
    """What a command that went well printed, read as JSON."""
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)

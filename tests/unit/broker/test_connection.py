"""Connections to the broker end when their task is cancelled, whatever the client library does."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from aio_pika.connection import Connection

from app.broker.connection import open_connection


async def test_a_cancellation_that_the_client_library_loses_ends_the_task(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As `asyncio.wait_for` of Python 3.11 loses one that coincides with the reply."""
    begun = asyncio.Event()

    async def connect(*_: Any, **__: Any) -> None:
        begun.set()
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()

    async def hold() -> None:
        async with open_connection("amqp://guest:guest@127.0.0.1:1", 60):
            await asyncio.Event().wait()

    monkeypatch.setattr(Connection, "connect", connect)
    holding = asyncio.create_task(hold())
    await begun.wait()
    holding.cancel()
    await asyncio.wait({holding}, timeout=10)
    assert holding.cancelled()

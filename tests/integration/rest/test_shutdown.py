"""A web process that is stopped, with a stream of events open that would never end."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator

import httpx
import pytest
from litestar import Litestar, get
from litestar.response import Stream

from app.cli.process_commands import GRACE_SECONDS
from app.sites.pages.event_streams import NOTHING_NEW, stream_response
from tests.support.wire import listening


async def test_it_closes_streams_of_events_at_once(caplog: pytest.LogCaptureFixture) -> None:
    left = asyncio.Event()

    async def events() -> AsyncIterator[bytes]:
        try:
            yield NOTHING_NEW
            await asyncio.Event().wait()
        finally:
            left.set()

    @get("/events")
    async def endless() -> Stream:
        return stream_response(events())

    async with httpx.AsyncClient(headers={"Accept": "text/event-stream"}) as client:
        async with listening(Litestar([endless])) as port:
            request = client.build_request("GET", f"http://127.0.0.1:{port}/events")
            response = await client.send(request, stream=True)
            received = response.aiter_raw()
            assert await anext(received) == NOTHING_NEW
            began = time.monotonic()
        assert time.monotonic() - began < GRACE_SECONDS / 2
        await received.aclose()
    assert left.is_set()
    assert not [each for each in caplog.records if each.levelno >= logging.ERROR]

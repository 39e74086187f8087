"""The web process as it is started in production: it streams, and shuts down in order."""

import asyncio
import signal
import time
from pathlib import Path

import httpx

from app.settings import Settings
from tests.support.eventually import eventually
from tests.support.ports import spare
from tests.support.processes import started
from tests.support.story import Story, offer
from tests.support.streaming import closed, next_frame, subscribed, until_alive
from tests.support.web import answers


async def test_it_stops_soon_and_closes_its_clients_with_1001(
    settings: Settings, raw: str, story: Story, tmp_path: Path
) -> None:
    """Also those that do not read."""
    match = await story.match()
    (port,) = spare(1)
    host = f"127.0.0.1:{port}"

    async with started("serve", settings, tmp_path, "--port", str(port)) as process:
        async with httpx.AsyncClient(base_url=f"http://{host}") as web:
            await eventually(lambda: answers(web))
        async with subscribed(host, raw) as client, subscribed(host, raw, max_queue=1) as idle:
            await until_alive(client)
            await until_alive(idle)
            await story.offer(match, *map(offer, range(1, 300)))
            while (await next_frame(client))["type"] != "market.created":
                pass
            begun = time.perf_counter()
            ending = asyncio.create_task(process.end())
            assert await closed(client) == 1001
            assert await ending == -signal.SIGTERM  # the server passes the signal on once all is done
            assert time.perf_counter() - begun < 8

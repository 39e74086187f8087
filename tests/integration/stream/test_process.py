"""The web process as it is started in production: it streams, and goes in good order."""

import asyncio
import signal
import time
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from app.settings import Settings
from tests.support.eventually import eventually
from tests.support.ports import spare
from tests.support.processes import started
from tests.support.story import Story, offer
from tests.support.streaming import told, until_alive, watching


async def test_it_ends_soon_and_tells_its_clients_to_go_elsewhere(
    settings: Settings, raw: str, story: Story, tmp_path: Path
) -> None:
    """Those too that do not read."""
    match = await story.match()
    (port,) = spare(1)
    host = f"127.0.0.1:{port}"

    async def answers() -> bool:
        async with httpx.AsyncClient() as client:
            try:
                return (await client.get(f"http://{host}/v1/alive")).status_code == 401
            except httpx.TransportError:
                return False

    async with started("serve", settings, tmp_path, "--port", str(port)) as process:
        await eventually(answers)
        async with watching(host, raw) as client, watching(host, raw, max_queue=1) as idle:
            await until_alive(client)
            await until_alive(idle)
            await story.offer(match, *map(offer, range(1, 300)))
            while (await told(client))["type"] != "market.created":
                pass
            begun = time.perf_counter()
            ending = asyncio.create_task(process.end())
            with pytest.raises(ConnectionClosed):
                while True:
                    await told(client)
            assert client.close_code == 1001
            assert await ending == -signal.SIGTERM  # the server passes the signal on once all is done
            assert time.perf_counter() - begun < 8

"""The client package is ended, and goes on in another process, at another process of the service: it receives
what it missed and no snapshot, and its book is that of the service."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from matchfeed_client import Rest

from app.settings import Settings
from tests.support.processes import ROOT
from tests.support.story import Story, offer
from tests.support.streaming import streaming

Line = dict[str, Any]
_SECONDS = 60.0


class Following:
    """A client's process, and the lines that it has printed."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process, self.lines = process, list[Line]()

    async def until_alive(self, *offers: str) -> Line:
        """Read on to an `alive` with which exactly these markets are open."""
        assert self.process.stdout is not None
        async with asyncio.timeout(_SECONDS):
            while raw := await self.process.stdout.readline():
                self.lines.append(json.loads(raw))
                if self.lines[-1]["type"] == "alive" and sorted(self.lines[-1]["open"]) == sorted(offers):
                    return self.lines[-1]
        raise AssertionError("the client has ended by itself")

    async def end(self, how: signal.Signals) -> None:
        if self.process.returncode is None:
            self.process.send_signal(how)
        await self.process.communicate()


@asynccontextmanager
async def following(way: str, saved: Path, host: str, key: str) -> AsyncIterator[Following]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.support.following", way, str(saved)),
        env=os.environ
        | {"BASE_URL": f"http://{host}", "API_KEY": key}
        | {"PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "scripts" / "client")))},
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    client = Following(process)
    try:
        yield client
    finally:
        await client.end(signal.SIGKILL)


@pytest.mark.parametrize(
    ("way", "how"),
    [("pages", signal.SIGKILL), ("events", signal.SIGINT), ("websocket", signal.SIGKILL)],
    ids=["pages", "events", "websocket"],
)
async def test_a_client_that_is_started_again_goes_on_without_a_snapshot(
    settings: Settings, raw: str, story: Story, tmp_path: Path, way: str, how: signal.Signals
) -> None:
    saved, offers = tmp_path / "changes.json", [offer(number) for number in (1, 2, 3)]
    match = await story.match(*offers[:2])
    async with streaming(settings) as host, following(way, saved, host, raw) as before:
        opened = [each.specifiers for each in offers[:2]]
        await before.until_alive(*opened)
        await before.until_alive(*opened)  # what the first one ended is on disk
        assert any(line["snapshot"] for line in before.lines)
        await before.end(how)
    await story.settle(match, offers[0])
    await story.offer(match, offers[2])
    async with streaming(settings) as other, following(way, saved, other, raw) as again:
        last = await again.until_alive(*(each.specifiers for each in offers[1:]))
        assert not [line for line in again.lines if line["snapshot"]]
        assert not [line for line in again.lines[:-1] if line["open"]], "nothing is open before all has come"
        assert "bet_settlement" in {line["type"] for line in again.lines}
        async with Rest(f"http://{other}", raw) as rest:
            comparison = await rest.compare(last["digest"])
        assert (comparison.count, comparison.markets) == (0, 2)

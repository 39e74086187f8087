"""`matchfeed tail` in a pipe."""

import asyncio
import os
import sys

from tests.faults.rig import Rig, until
from tests.integration.channels.feed.conftest import Running
from tests.support.processes import ROOT, environment


async def test_it_ends_quietly_when_nobody_reads_on(rig: Rig, feed: Running) -> None:
    tenant, _ = await rig.tenant()
    reader, writer = os.pipe()
    async with feed(alive_seconds=0.2):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "app.cli", "tail", tenant.slug),
            cwd=ROOT,
            env={**os.environ, **environment(rig.settings)},
            stdout=writer,
            stderr=asyncio.subprocess.PIPE,
        )
        os.close(writer)
        lines = os.fdopen(reader, "rb")
        first = await asyncio.to_thread(lines.readline)
        lines.close()
        await until("the next message finds nobody", lambda: process.returncode is not None)
    assert process.stderr
    assert (b" alive " in first, process.returncode, await process.stderr.read()) == (True, 0, b"")

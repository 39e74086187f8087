"""A real server's log, played into the sink as the server would send it, through queue, worker and store.

Everything that is then served about the match agrees with the log, read independently, and is computed again,
bit for bit, without a service.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from app.commands.match_export import export_match
from app.ingest import worker
from app.ingest.log_update import IngestConfig
from app.settings import Settings
from app.store.connections import Store
from tests.support import real_match
from tests.support.agreement import check_all
from tests.support.queues import private_vhost, queues_of
from tests.support.recomputing import recompute_file
from tests.support.web import issuing, serving


@asynccontextmanager
async def working(settings: Settings, store: Store) -> AsyncIterator[None]:
    """An ingest worker in this process, ended in good order."""
    config = IngestConfig(fresh_millis=600_000)  # however late, everything is offered
    stopping = asyncio.Event()
    running = asyncio.create_task(worker.run(store, queues_of(settings), config, stopping))
    try:
        yield
    finally:
        stopping.set()
        await running


async def test_everything_served_about_the_real_match_is_true(
    settings: Settings, store: Store, real_log: str, tmp_path: Path
) -> None:
    key = await issuing(store, settings.secret_key)(bundles=("cs2.operator",))
    async with private_vhost(settings) as private, serving(private) as client, working(private, store):
        match = await real_match.create(client, key, real_log)
        await match.send()
        ledger = await check_all(store, match, real_log)
        listed = await match.get("/settlements?limit=1000")
    assert [entry["id"] for entry in listed] == [entry.id for entry in ledger]
    file = tmp_path / "match.json.gz"
    file.write_bytes(await export_match(store, match.id, 0))
    result = await asyncio.to_thread(recompute_file, file)
    assert result.returncode == 0, result.stdout
    assert f" prices and {len(ledger)} results equal" in result.stdout

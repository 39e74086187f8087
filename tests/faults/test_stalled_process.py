"""A process that stops in the middle of a statement holds locks: web, ingest and feed processes end its
session."""

from pathlib import Path

import pytest

from app.settings import Settings
from app.store.connections import Store
from tests.faults.rig import Rig, consuming, until
from tests.support.eventually import eventually
from tests.support.processes import started
from tests.support.queues import private_vhost
from tests.support.stalled import stalled

LEASES = "UPDATE tenant_cursor SET holder = 'gone', expires_at = 0"


async def test_its_tenants_are_taken_over(rig: Rig) -> None:
    """It had renewed its leases and not committed. To acquire a lease that is locked, nobody waits."""
    _, url = await rig.tenant()
    async with consuming(url, rig.settings.exchange) as consumer, stalled(rig.store, LEASES):
        await rig.feed()
        await until("the tenant receives alive", lambda: consumer.alives)


@pytest.mark.parametrize("command", [["serve", "--port", "0"], ["ingest"]], ids=lambda command: command[0])
async def test_its_session_is_ended(
    settings: Settings, store: Store, tmp_path: Path, command: list[str]
) -> None:
    async with (
        private_vhost(settings) as private,
        stalled(store) as session,
        started(command[0], private, tmp_path, *command[1:]),
    ):
        await eventually(session.is_closed)

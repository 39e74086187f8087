"""The servers of a test run: those that `scripts/test` has started, or our own for this session."""

import asyncio
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.broker.management import Management
from scripts import services
from scripts.services import Services

#: Set by `scripts/test`: a directory whose servers are running and are ended by whoever started them.
SHARED = "MATCHFEED_SERVICES"


@contextmanager
def running(shared: str | None) -> Iterator[Services]:
    """The servers to test against; those that this call starts end with it."""
    if shared:
        yield services.start(Path(shared), services.wanted())
        return
    directory = Path(tempfile.mkdtemp(prefix="matchfeed-test-"))
    directory.chmod(0o755)
    try:
        yield services.start(directory, services.wanted())
    finally:
        services.stop(directory)
        shutil.rmtree(directory)


@contextmanager
def vhost(found: Services) -> Iterator[str]:
    """A vhost for the internal queues of this run, gone afterwards."""
    name = f"matchfeed-test-{secrets.token_hex(4)}"
    try:
        yield name
    finally:
        asyncio.run(_delete_vhost(found.rabbitmq_api_url, name))


async def _delete_vhost(api_url: str, name: str) -> None:
    async with Management(api_url) as management:
        await management.delete_vhost(name)

"""The servers of a test run: those that `scripts/test` has started, or our own for this session."""

import asyncio
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import msgspec

from app.broker import provisioning
from app.broker.management import Management
from app.settings import Settings
from scripts import services
from scripts.services import Services

#: Set by `scripts/test`: several processes of one run need the servers at once, so nothing is started here.
SHARED = services.SHARED


@contextmanager
def running(shared: str | None) -> Iterator[Services]:
    """The servers to test against; those that this call starts end with it."""
    if shared:
        yield _without_tls(services.wanted())
        return
    directory = Path(tempfile.mkdtemp(prefix="matchfeed-test-"))
    directory.chmod(0o755)
    try:
        yield _without_tls(services.start(directory, services.wanted(), schedulers=0))
    finally:
        services.stop(directory)
        shutil.rmtree(directory)


def _without_tls(found: Services) -> Services:
    """Tests open ten thousand connections. To ask whether the server speaks TLS, as the driver does by
    default, is a third of what each costs it; within this machine nobody does."""
    parts = urlsplit(found.database_url)
    if parts.query or parts.hostname not in ("127.0.0.1", "localhost"):
        return found
    return msgspec.structs.replace(found, database_url=urlunsplit(parts._replace(query="sslmode=disable")))


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


@asynccontextmanager
async def withdrawn(found: Services, *slugs: str) -> AsyncIterator[None]:
    """Take what these tenants got on the broker away again, however the block ends."""
    try:
        yield
    finally:
        async with Management(found.rabbitmq_api_url) as management:
            for slug in slugs:
                await provisioning.deprovision(management, slug)


def settings_for(found: Services, database_url: str, **others: Any) -> Settings:
    """Settings that lead to these servers and that database."""
    return Settings(
        sandbox=True,
        database_url=database_url,
        database_pool_size=4,
        redis_url=found.redis_url,
        rabbitmq_url=found.rabbitmq_url,
        rabbitmq_api_url=found.rabbitmq_api_url,
        rabbitmq_public_host=found.environment()["RABBITMQ_PUBLIC_HOST"],
        broker_authorisation=found.broker_authorisation,
        **others,
    )

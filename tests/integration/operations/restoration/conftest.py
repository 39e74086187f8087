"""A database as after a restore: no process of ours has a session on it, the tests' own have another name."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import msgspec
import pytest

from app.access import admin
from app.access.admin import BrokerConfig
from app.domain.tenant import Tenant
from app.kit.clock import Clock, system_clock
from app.operations.restoration import procedure
from app.operations.restoration.procedure import Restored, RestoreOptions
from app.settings import Settings
from app.store.connections import Store, open_store
from tests.integration.ingest import conftest as log_server

PutInOrder = Callable[..., Awaitable[Restored]]


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    async with await open_store(database_url, 4, session_name="tests") as store:
        yield store


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> int:
    """The present, which is also when the servers' logs begin."""
    present = system_clock()
    monkeypatch.setattr(log_server, "NOW", present - 60_000)
    return present


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Other tests' processes are connected to the internal queues of this run."""
    return msgspec.structs.replace(settings, rabbitmq_internal_vhost="nobody-has-this-vhost")


@pytest.fixture
async def tenant(store: Store, slug: str) -> Tenant:
    async with store.transaction() as tx:
        return await admin.create_tenant(tx, slug, slug, by="tester", now=1)


@pytest.fixture
async def url(store: Store, tenant: Tenant, broker: BrokerConfig) -> str:
    """The URL that the tenant has."""
    return await admin.provision_amqp(store, tenant.slug, broker, by="tester", now=1)


class Urls(dict[str, str]):
    """The AMQP URLs with new passwords, by tenant."""

    def show(self, slug: str, url: str) -> None:
        assert slug not in self, "a URL is shown once"
        self[slug] = url


@pytest.fixture
def urls() -> Urls:
    return Urls()


@pytest.fixture
def put_in_order(database_url: str, settings: Settings, broker: BrokerConfig, urls: Urls) -> PutInOrder:
    """What `matchfeed restored` does, without the wait for processes that reconnect."""

    async def run(clock: Clock = system_clock, **given: Any) -> Restored:
        values = {"by": "tester", "internal_vhost": settings.rabbitmq_internal_vhost, "idle_seconds": 0}
        options = RestoreOptions(**values | given)
        async with await open_store(database_url, 1) as own:
            return await procedure.put_in_order(own, broker, options, urls.show, clock=clock)

    return run

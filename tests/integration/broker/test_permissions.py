"""What a tenant may do on the broker and what it may not: the list of docs/security.md, line by line."""

import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import msgspec
import pytest
from aio_pika.exceptions import AMQPError

from app.broker import permissions
from app.broker.address import parse
from app.broker.connection import open_connection
from app.broker.management import Management
from scripts.services import Services
from tests.integration.broker.conftest import provisioned
from tests.support.loop import Loop
from tests.support.services import withdrawn
from tests.support.tenant_operations import (
    ALLOWED,
    ALLOWED_BY_KIND,
    ALLOWED_BY_LOGIN,
    EXCHANGE,
    REFUSED,
    REFUSED_BY_LOGIN,
    REFUSED_BY_NAME,
)
from tests.support.tenants import channel

SECURITY = Path(__file__).resolve().parents[3] / "docs" / "security.md"


class Tenant(msgspec.Struct, frozen=True):
    slug: str
    url: str


@pytest.fixture(scope="module")
def tenant(services: Services) -> Iterator[Tenant]:
    """A tenant of a broker that sends us authorisation requests. One for all tests, each of which has an
    event loop of its own."""
    with Loop() as loop, loop.opened(_provisioned(services)) as tenant:
        yield tenant


@pytest.fixture(scope="module")
def by_patterns(services: Services, tenant: Tenant) -> Iterator[Tenant]:
    """The same vhost, for a user with the permissions of a tenant whose broker sends us none. Of users
    whose names are no tenant's, the broker itself decides."""
    with Loop() as loop, loop.opened(_permitted(services, tenant.slug)) as tenant:
        yield tenant


@asynccontextmanager
async def _provisioned(services: Services) -> AsyncIterator[Tenant]:
    slug = f"t-{secrets.token_hex(6)}"
    async with withdrawn(services, slug), Management(services.rabbitmq_api_url) as management:
        yield Tenant(slug, await provisioned(management, services, slug, "http"))


@asynccontextmanager
async def _permitted(services: Services, vhost: str) -> AsyncIterator[Tenant]:
    user, password = f"by-patterns-{vhost}", secrets.token_urlsafe()
    permission = permissions.permission(EXCHANGE, "patterns")
    topics = permissions.topic_permissions(EXCHANGE, "patterns")
    assert permission and topics
    async with Management(services.rabbitmq_api_url) as management:
        await management.put_user(user, password)
        await management.set_permissions(vhost, user, **msgspec.structs.asdict(permission))
        for each in topics:
            await management.set_topic_permission(vhost, user, each)
        login = msgspec.structs.replace(parse(services.rabbitmq_url), user=user, password=password)
        yield Tenant(vhost, login.url(vhost))
        await management.delete_user(user)


async def attempt(tenant: Tenant, operation: str) -> None:
    do = (ALLOWED | ALLOWED_BY_KIND | REFUSED)[operation]
    async with channel(tenant.url) as theirs:
        await do(theirs, tenant.slug)


@pytest.mark.parametrize("operation", ALLOWED | ALLOWED_BY_KIND)
async def test_a_tenant_may(tenant: Tenant, operation: str) -> None:
    await attempt(tenant, operation)


@pytest.mark.parametrize("operation", REFUSED)
async def test_a_tenant_may_not(tenant: Tenant, operation: str) -> None:
    with pytest.raises(AMQPError, match="ACCESS_REFUSED"):
        await attempt(tenant, operation)


@pytest.mark.parametrize("operation", ALLOWED)
async def test_a_tenant_in_mode_patterns_may(by_patterns: Tenant, operation: str) -> None:
    await attempt(by_patterns, operation)


@pytest.mark.parametrize("operation", REFUSED | REFUSED_BY_NAME)
async def test_a_tenant_in_mode_patterns_may_not(by_patterns: Tenant, operation: str) -> None:
    with pytest.raises(AMQPError, match="ACCESS_REFUSED"):
        await attempt(by_patterns, operation)


async def test_no_stream_queue_escapes_the_limits(tenant: Tenant) -> None:
    with pytest.raises(AMQPError, match="feature flag is disabled"):
        async with channel(tenant.url) as theirs:
            await theirs.declare_queue(
                f"{tenant.slug}.stream", durable=True, arguments={"x-queue-type": "stream"}
            )


@pytest.mark.parametrize("vhost", ["%2F", "another"])
async def test_a_tenant_has_access_to_no_other_vhost(
    management: Management, tenant: Tenant, vhost: str
) -> None:
    other = tenant.slug + "x"
    url = f"{tenant.url.rpartition('/')[0]}/{other if vhost == 'another' else vhost}"
    await management.put_vhost(other)
    try:
        with pytest.raises(AMQPError):
            async with open_connection(url, 5):
                pass
    finally:
        await management.delete_vhost(other)


async def test_the_management_api_is_not_for_tenants(services: Services, tenant: Tenant) -> None:
    login = parse(tenant.url)
    async with httpx.AsyncClient(auth=(login.user, login.password)) as client:
        where = services.rabbitmq_api_url.rpartition("@")[2]
        for path in ("overview", f"queues/{tenant.slug}", "whoami"):
            assert (await client.get(f"http://{where}/api/{path}")).status_code == 401


def test_the_documents_have_every_line() -> None:
    text = SECURITY.read_text()
    listed = (True, ALLOWED | ALLOWED_BY_KIND | ALLOWED_BY_LOGIN), (False, REFUSED | REFUSED_BY_LOGIN)
    for allowed, operations in listed:
        for operation in operations:
            assert f"| {operation} | {'yes' if allowed else 'no'}" in text, operation

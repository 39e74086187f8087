"""Our own login at the broker, and a tenant to be provisioned."""

from collections.abc import Awaitable, Callable
from functools import partial

import pytest

from app.broker import provisioning
from app.broker.address import Address, parse
from app.broker.management import Management
from app.broker.permissions import AuthorisationMode
from scripts.services import Services

EXCHANGE = "oddsfeed"
Provision = Callable[[], Awaitable[str]]


@pytest.fixture
def broker(services: Services) -> Address:
    return parse(services.rabbitmq_url)


@pytest.fixture
def provision(management: Management, services: Services, slug: str) -> Provision:
    """Provision the tenant `slug`; the URL that it gets."""
    return partial(provisioned, management, services, slug, services.broker_authorisation)


async def provisioned(management: Management, services: Services, slug: str, mode: AuthorisationMode) -> str:
    host, broker = services.environment()["RABBITMQ_PUBLIC_HOST"], parse(services.rabbitmq_url)
    return await provisioning.provision(management, slug, EXCHANGE, host, mode=mode, broker=broker)

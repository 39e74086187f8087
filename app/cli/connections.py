"""What commands share that read or change something: an open store, the broker, how prices are made."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from app.access.admin import BrokerConfig
from app.broker import address
from app.broker.management import Management
from app.operations.restoration.failover import DatabaseFailover
from app.settings import Settings
from app.store.connections import Store, open_store
from app.trading.pricing import PricingConfig


def pricing_config(settings: Settings) -> PricingConfig:
    return msgspec.convert(settings, PricingConfig, from_attributes=True)


@asynccontextmanager
async def command_store(settings: Settings) -> AsyncIterator[Store]:
    """A store with few connections: a command needs no more."""
    size = min(settings.database_pool_size, 2)
    store = await open_store(settings.database_url, size, failover=DatabaseFailover())
    async with store:
        yield store


@asynccontextmanager
async def broker_config(settings: Settings) -> AsyncIterator[BrokerConfig]:
    async with Management(settings.rabbitmq_api_url) as management:
        yield BrokerConfig(
            management,
            settings.exchange,
            settings.rabbitmq_public_host,
            settings.broker_authorisation,
            address.parse(settings.rabbitmq_url),
        )

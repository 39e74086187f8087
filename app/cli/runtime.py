"""What every command shares: settings, an open store, and errors as one line."""

import asyncio
import getpass
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import wraps
from typing import Any, ParamSpec

import click
import msgspec
import uvloop
from aio_pika.exceptions import AMQPError

from app import settings as configuration
from app.access.admin import BrokerConfig
from app.broker import address
from app.broker.management import Management
from app.kit import logging
from app.kit.control_characters import escape_control_characters
from app.kit.errors import Refusal
from app.operations.restoration.failover import DatabaseFailover
from app.sandbox.demonstration import DemoUnavailable
from app.sandbox.simulator.service_client import OperatorRequestFailed, SinkRefused
from app.settings import Settings
from app.store.connections import Store, open_store
from app.trading.pricing import PricingConfig

P = ParamSpec("P")
_EXPECTED = (Refusal, DemoUnavailable, OperatorRequestFailed, SinkRefused, AMQPError, OSError)


def load_settings() -> Settings:
    """The settings in the environment, as every command needs them."""
    return configuration.load()


def pricing_config(settings: Settings) -> PricingConfig:
    return msgspec.convert(settings, PricingConfig, from_attributes=True)


def actor() -> str:
    """The user who runs the command, for the audit."""
    return f"cli:{getpass.getuser()}"


def async_command(command: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run a command's coroutine; an expected failure is printed as one line."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        logging.use_stderr()
        failed: BaseExceptionGroup[Exception] | None = None
        try:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(command(*args, **kwargs))
        except* _EXPECTED as group:
            failed = group
        if failed is not None:
            raise click.ClickException(_first(failed)) from failed

    return run


def _first(group: BaseExceptionGroup[BaseException]) -> str:
    """The message of the first failure, however deep it is nested."""
    failure: BaseException = group
    while isinstance(failure, BaseExceptionGroup):
        failure = failure.exceptions[0]
    return str(failure) or type(failure).__name__


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


def print_json(value: Any) -> None:
    """A result as JSON on standard output."""
    click.echo(escape_control_characters(json.dumps(value, indent=2, ensure_ascii=False)))

"""The web application, the command line and the broker, keys of every kind, and matches."""

from collections.abc import AsyncIterator

import httpx
import pytest
from click.testing import CliRunner

from app.access.admin import BrokerConfig
from app.broker.management import Management
from app.cli import main
from app.cli.connections import broker_config
from app.settings import Settings
from app.store.connections import Store
from scripts.services import Services
from tests.support.command_line import Run, set_environment
from tests.support.queues import private_vhost
from tests.support.story import Story
from tests.support.tenants import give_vhost
from tests.support.web import Headers, IssueKey, issuing, serving


@pytest.fixture
async def private(settings: Settings) -> AsyncIterator[Settings]:
    """Settings with internal queues of this test's own."""
    async with private_vhost(settings) as private:
        yield private


@pytest.fixture
async def management(services: Services) -> AsyncIterator[Management]:
    async with Management(services.rabbitmq_api_url) as management:
        yield management


@pytest.fixture
async def broker(settings: Settings) -> AsyncIterator[BrokerConfig]:
    """What tenants are provisioned with."""
    async with broker_config(settings) as broker:
        yield broker


@pytest.fixture
async def client(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """The application with the queues of all tests, for those that send no logs."""
    async with serving(settings) as client:
        yield client


@pytest.fixture
def issue(store: Store, settings: Settings) -> IssueKey:
    return issuing(store, settings.secret_key)


@pytest.fixture
async def basic(issue: IssueKey) -> Headers:
    """Headers with a bookmaker's key."""
    return {"X-API-Key": await issue(bundles=("cs2.odds.basic",))}


@pytest.fixture
async def provisioned(store: Store, basic: Headers) -> Headers:
    """The bookmaker's key, whose tenant has a vhost."""
    await give_vhost(store)
    return basic


@pytest.fixture
async def operator(issue: IssueKey) -> Headers:
    """Headers with an operator's key."""
    return {"X-API-Key": await issue("house", bundles=("cs2.operator",))}


@pytest.fixture
def story(store: Store) -> Story:
    return Story(store)


@pytest.fixture
def run(anyio_backend: str, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command line with the test's settings in the environment."""
    set_environment(monkeypatch, settings)
    return lambda *words: CliRunner().invoke(main, [str(word) for word in words])

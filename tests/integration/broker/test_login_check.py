"""The check of a tenant's login: every step of it, and the broker's own words where one is refused."""

import pytest
from msgspec.structs import replace

from app.broker import provisioning
from app.broker.address import Address, Node, parse
from app.broker.login_check import Step, check_login
from app.broker.management import Management
from app.broker.permissions import tenant_user
from tests.integration.broker.conftest import EXCHANGE, Provision

STEPS = ("connect", "log_in", "declare", "bind", "delete")


@pytest.fixture
async def login(provision: Provision, broker: Address, slug: str) -> Address:
    """The login of a new tenant."""
    return replace(broker, user=tenant_user(slug), password=parse(await provision()).password)


def names(steps: tuple[Step, ...]) -> tuple[str, ...]:
    return tuple(step.name for step in steps)


async def test_a_login_that_works_leaves_nothing_behind(
    login: Address, slug: str, management: Management
) -> None:
    steps = await check_login(login, slug, EXCHANGE, 10)
    assert names(steps) == STEPS and not any(step.error for step in steps)
    assert [queue.name for queue in await management.queues(slug)] == [provisioning.LOST]


async def test_a_wrong_password_is_refused_in_the_brokers_words(login: Address, slug: str) -> None:
    _, step = await check_login(replace(login, password="wrong"), slug, EXCHANGE, 10)
    assert step.name == "log_in" and "refused" in step.error
    _, step = await check_login(login, "/", EXCHANGE, 10)
    assert "access to vhost '/' refused" in step.error and slug in step.error
    _, step = await check_login(replace(login, user="nobody"), slug, EXCHANGE, 10)
    assert step.error.startswith("ACCESS_REFUSED - Login was refused")


async def test_a_step_that_is_refused_is_the_last(login: Address, slug: str) -> None:
    steps = await check_login(login, slug, "amq.topic", 10)
    assert names(steps) == STEPS[:4]
    assert "amq.topic" in steps[-1].error and not any(step.error for step in steps[:-1])


async def test_a_broker_that_cannot_be_reached_is_a_step_that_failed(login: Address, slug: str) -> None:
    (step,) = await check_login(replace(login, nodes=(Node("127.0.0.1", 1),)), slug, EXCHANGE, 10)
    assert step.name == "connect" and step.error == "the broker cannot be reached (ConnectionRefusedError)"
    (step,) = await check_login(login, slug, EXCHANGE, 0.0)
    assert "no answer" in step.error

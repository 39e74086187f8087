"""How operators see what is published to tenants: over REST, on the command line, as metrics."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import httpx
import msgspec
import pytest
from click.testing import CliRunner

from app.amqp.lease import LeaseLost
from app.broker import broker_users
from app.broker.connection import open_connection
from app.cli import main
from app.kit import metrics
from tests.faults.rig import Rig, consuming, until
from tests.integration.channels.feed.conftest import Running
from tests.support.command_line import set_environment
from tests.support.ports import spare
from tests.support.web import issuing, serving


@pytest.fixture
async def client(rig: Rig) -> AsyncIterator[httpx.AsyncClient]:
    key = await issuing(rig.store, rig.settings.secret_key)("house", bundles=("cs2.operator",))
    async with serving(rig.settings) as client:
        client.headers["X-API-Key"] = key
        yield client


async def row(client: httpx.AsyncClient) -> dict[str, Any]:
    """What operators see of the one tenant."""
    [found] = (await client.get("/ops/v1/feed")).json()["data"]
    return dict(found)


async def test_operators_see_connection_lag_queues_and_losses(
    rig: Rig, feed: Running, client: httpx.AsyncClient
) -> None:
    _, url = await rig.tenant()
    match = await rig.match()
    await rig.write_changes(match, 3)
    idle = await row(client)
    assert (idle["state"], idle["behind"], idle["holder"]) == ("no feed process publishes to it", 3, None)
    async with open_connection(url, 5) as connection:
        channel = await connection.channel()
        queue = await channel.declare_queue(f"{rig.slugs[0]}.q", auto_delete=True)
        await queue.bind(rig.settings.exchange, "hi.#")
        async with feed(alive_seconds=0.5):

            async def depth() -> bool:
                seen = await row(client)
                return seen["queues"] == [
                    {"name": queue.name, "ready": 3, "unacknowledged": 0, "consumers": 0}
                ]

            await until("published, and the broker has counted", depth)
            served = await row(client)
            assert (served["state"], served["behind"], served["behind_seconds"]) == ("connected", 0, 0)
            assert served["alive_seconds_ago"] < 3 and served["dropped"] == 0
        await queue.delete(if_empty=False)


async def test_the_broker_may_be_away(rig: Rig, client: httpx.AsyncClient) -> None:
    await rig.tenant()
    away = msgspec.structs.replace(rig.settings, rabbitmq_api_url="http://guest:guest@127.0.0.1:1")
    async with serving(away) as other:
        answer = await other.get("/ops/v1/feed", headers=client.headers)
    assert answer.status_code == 200 and answer.json()["data"][0]["queues"] is None


async def test_the_command_line_shows_a_table(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    await rig.tenant()
    await rig.write_changes(await rig.match(), 4)
    set_environment(monkeypatch, rig.settings)
    result = await asyncio.to_thread(CliRunner().invoke, main, ["feed", "status"])
    assert result.exit_code == 0, result.output
    heads, line = result.output.splitlines()
    assert heads.split()[:2] == ["tenant", "behind"]
    assert line.split()[:2] == [rig.slugs[0], "4"] and line.endswith("no feed process publishes to it")


async def test_the_feed_process_shows_its_figures(rig: Rig) -> None:
    _, url = await rig.tenant()
    (port,) = spare(1)
    process = await rig.feed(METRICS_PORT=str(port))
    async with consuming(url, rig.settings.exchange) as consumer, httpx.AsyncClient() as client:
        await until("alive", lambda: consumer.alives)
        slug = rig.slugs[0]

        async def shown() -> bool:
            text = (await client.get(f"http://127.0.0.1:{port}/metrics")).text
            figures = (f'feed_connected{{tenant="{slug}"}} 1.0', f'feed_behind{{tenant="{slug}"}} 0.0')
            return all(figure in text for figure in figures)

        await until("shown", shown, 30)
    assert await process.end() == 0


def test_a_port_in_use_stops_no_process() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as in_use,
        metrics.serve("feed", "127.0.0.1", in_use.getsockname()[1]),
    ):
        pass


async def test_a_closed_connection_is_detected(rig: Rig, feed: Running, client: httpx.AsyncClient) -> None:
    await rig.tenant()

    async def connected() -> bool:
        return bool((await row(client))["state"] == "connected")

    seen = False
    with suppress(LeaseLost):  # it may try to come back before the test is over, and is not let in
        async with feed() as session:
            await until("connected", connected)
            user = broker_users.publisher_user(session.holder)
            await rig.management.delete_user(user)
            await rig.management.close_user_connections(user, "test")

            async def gone() -> bool:
                return not await connected()

            await until("seen", gone)
            seen = True
    assert seen

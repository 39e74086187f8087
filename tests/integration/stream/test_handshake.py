"""A key that is ended or changed while its upgrade is under way."""

import asyncio
from typing import Any

import httpx
import pytest
from prometheus_client import REGISTRY
from websockets.exceptions import ConnectionClosed

from app.access.grants import Grants
from app.channels.stream.poller import Poller
from tests.support.eventually import eventually
from tests.support.streaming import refusal, told, until_alive, watching
from tests.support.web import IssueKey


@pytest.fixture
async def office(host: str, issue: IssueKey) -> Any:
    operator = {"X-API-Key": await issue("house", bundles=("cs2.operator",))}
    async with httpx.AsyncClient(base_url=f"http://{host}/ops/v1/tenants/acme", headers=operator) as rest:
        yield rest


async def test_a_key_that_ends_before_the_answer_ends_the_stream(
    host: str, issue: IssueKey, office: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = await issue("acme", bundles=("cs2.stats",))
    knocked, answer, begin = asyncio.Event(), asyncio.Event(), Poller.begin

    async def later(poller: Poller) -> None:
        knocked.set()
        await answer.wait()
        await begin(poller)

    async def ended() -> float:
        return REGISTRY.get_sample_value("matchfeed_stream_closed_total", {"code": "1008"}) or 0

    async def enter() -> int | None:
        async with watching(host, raw) as client:
            with pytest.raises(ConnectionClosed):
                await client.recv()
            return client.close_code

    monkeypatch.setattr(Poller, "begin", later)
    before = await ended()
    entering = asyncio.create_task(enter())
    await knocked.wait()
    assert (await office.post("/revoke")).is_success
    await eventually(ended, lambda now: now > before)
    answer.set()
    async with asyncio.timeout(5):
        assert await entering == 1008


async def test_what_a_key_may_do_is_not_taken_from_before_a_change(
    host: str, issue: IssueKey, office: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = await issue("acme", bundles=("cs2.odds.basic",))
    (key,) = (await office.get("/keys")).json()["data"]
    look_up, knocks = Grants.of, list[Any]()

    async def of(grants: Grants, raw_key: str, address: str | None = None) -> Any:
        grant = await look_up(grants, raw_key, address)
        if raw_key == raw:
            knocks.append(grant)
            if len(knocks) == 1:
                changed = await office.patch(f"/keys/{key['key_id']}", json={"sports": ["soccer"]})
                assert changed.is_success
        return grant

    monkeypatch.setattr(Grants, "of", of)
    path = f"/cs2/v1/stream?api_key={raw}"
    assert [(await refusal(host, path)).status_code for _ in range(2)] == [503, 403]


async def test_a_look_at_the_keys_that_fails_is_taken_again(
    host: str, issue: IssueKey, office: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw, withdrawn, failures = await issue("acme", bundles=("cs2.stats",)), Grants.withdrawn, []

    async def broken(grants: Grants, presented: Any) -> Any:
        if not failures:
            failures.append(presented)
            raise RuntimeError("broken")
        return await withdrawn(grants, presented)

    async with watching(host, raw) as client:
        await until_alive(client)
        monkeypatch.setattr(Grants, "withdrawn", broken)
        assert (await office.post("/revoke")).is_success
        with pytest.raises(ConnectionClosed):
            while True:
                await told(client, 5)
    assert failures and client.close_code == 1008

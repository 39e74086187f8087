"""A key that ends or changes while its upgrade is in progress."""

import asyncio
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from app.access.grants import Grants
from app.channels.stream.poller import Poller
from tests.support.eventually import eventually
from tests.support.streaming import closed, closed_so_far, refusal, subscribed, until_alive
from tests.support.web import IssueKey


@pytest.fixture
async def operator_api(host: str, issue: IssueKey) -> Any:
    operator = {"X-API-Key": await issue("house", bundles=("cs2.operator",))}
    async with httpx.AsyncClient(base_url=f"http://{host}/ops/v1/tenants/acme", headers=operator) as rest:
        yield rest


async def test_a_key_that_ends_before_the_answer_ends_the_stream(
    host: str, issue: IssueKey, operator_api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = await issue("acme", bundles=("cs2.stats",))
    begun, answer, begin = asyncio.Event(), asyncio.Event(), Poller.begin

    async def later(poller: Poller) -> None:
        begun.set()
        await answer.wait()
        await begin(poller)

    async def enter() -> int | None:
        async with subscribed(host, raw) as client:
            with pytest.raises(ConnectionClosed):
                await client.recv()
            return client.close_code

    monkeypatch.setattr(Poller, "begin", later)
    before = closed_so_far(1008)
    entering = asyncio.create_task(enter())
    await begun.wait()
    assert (await operator_api.post("/revoke")).is_success
    await eventually(lambda: closed_so_far(1008), lambda now: now > before)
    answer.set()
    async with asyncio.timeout(60):
        assert await entering == 1008


async def test_a_grant_read_before_a_change_of_the_key_is_not_used(
    host: str, issue: IssueKey, operator_api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = await issue("acme", bundles=("cs2.odds.basic",))
    (key,) = (await operator_api.get("/keys")).json()["data"]
    look_up, grants_read = Grants.grant_of, list[Any]()

    async def grant_of(grants: Grants, raw_key: str, address: str | None = None) -> Any:
        grant = await look_up(grants, raw_key, address)
        if raw_key == raw:
            grants_read.append(grant)
            if len(grants_read) == 1:
                changed = await operator_api.patch(f"/keys/{key['key_id']}", json={"sports": ["soccer"]})
                assert changed.is_success
        return grant

    monkeypatch.setattr(Grants, "grant_of", grant_of)
    path = f"/cs2/v1/stream?api_key={raw}"
    assert [(await refusal(host, path)).status_code for _ in range(2)] == [503, 403]


async def test_a_failed_lookup_of_the_keys_is_retried(
    host: str, issue: IssueKey, operator_api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw, withdrawn, failures = await issue("acme", bundles=("cs2.stats",)), Grants.no_longer_valid, []

    async def broken(grants: Grants, presented: Any) -> Any:
        if not failures:
            failures.append(presented)
            raise RuntimeError("broken")
        return await withdrawn(grants, presented)

    async with subscribed(host, raw) as client:
        await until_alive(client)
        monkeypatch.setattr(Grants, "no_longer_valid", broken)
        assert (await operator_api.post("/revoke")).is_success
        assert await closed(client) == 1008
    assert failures

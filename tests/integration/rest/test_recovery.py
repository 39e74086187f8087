"""Recoveries over HTTP: what is acknowledged, refused and shown."""

from functools import partial

import httpx
import pytest
from msgspec.structs import replace

from app.domain import scopes
from app.kit.clock import system_clock
from app.store import recovery_jobs, tenants
from app.store.connections import Store
from tests.support.web import Headers, IssueKey, data

REQUEST = "/cs2/v1/recovery/initiate_request"


async def ask(client: httpx.AsyncClient, headers: Headers, **query: str) -> httpx.Response:
    return await client.post(REQUEST, params=query, headers=headers)


async def test_the_acknowledgement(client: httpx.AsyncClient, provisioned: Headers) -> None:
    before, after = system_clock(), system_clock() - 60_000
    query = {"request_id": "12345678901234567890", "node_id": "3", "after": str(after)}
    answer = await ask(client, provisioned, **query)
    assert answer.status_code == 202
    shown = answer.json()["data"]
    assert before <= shown.pop("scheduled_at") <= system_clock()
    assert shown == {"request_id": "12345678901234567890", "node_id": "3", "after": after}


@pytest.mark.parametrize("after", [{}, {"after": "0"}])
async def test_the_default_of_after_is_returned(
    client: httpx.AsyncClient, provisioned: Headers, after: dict[str, str]
) -> None:
    answer = await ask(client, provisioned, request_id="7", **after)
    assert answer.status_code == 202
    assert answer.json()["data"]["after"] == 0
    assert set(answer.json()["data"]) == {"request_id", "after", "scheduled_at"}


async def test_what_does_not_fit_is_named(client: httpx.AsyncClient, provisioned: Headers) -> None:
    for query, wrong in [
        ({}, "request_id"),
        ({"request_id": "0"}, "request_id"),
        ({"request_id": "7", "node_id": "a"}, "node_id"),
        ({"request_id": "7", "after": "soon"}, "after"),
        ({"request_id": "7", "after": "1"}, "after"),
        ({"request_id": "7", "after": "99999999999999"}, "after"),
        ({"request_id": "7", "product": "2"}, "product"),
    ]:
        answer = await ask(client, provisioned, **query)
        assert answer.status_code == 422, query
        (field,) = answer.json()["detail"]
        assert field["loc"] == ["query", wrong] and field["msg"] and field["type"], query


async def test_the_window_is_returned(client: httpx.AsyncClient, provisioned: Headers) -> None:
    answer = await ask(client, provisioned, request_id="7", after="1")
    (field,) = answer.json()["detail"]
    earliest = field["ctx"]["earliest"]
    assert str(earliest) in field["msg"] and abs(earliest - (system_clock() - 4320 * 60_000)) < 10_000
    again = await ask(client, provisioned, request_id="7", after=str(earliest))
    assert again.status_code == 202, "what we name is accepted, although some time has passed"


async def test_one_at_a_time_for_each_node(client: httpx.AsyncClient, provisioned: Headers) -> None:
    request = partial(ask, client, provisioned)
    assert (await request(request_id="7")).status_code == 202
    refused = await request(request_id="8")
    assert refused.status_code == 409
    assert "request_id 7," in refused.json()["detail"]
    assert 0 < int(refused.headers["retry-after"]) <= 600
    assert "This very request" in (await request(request_id="7")).json()["detail"]
    assert (await request(request_id="8", node_id="1")).status_code == 202
    assert (await request(request_id="8", node_id="2")).status_code == 202


async def test_without_a_vhost_or_the_scope(
    client: httpx.AsyncClient, basic: Headers, issue: IssueKey
) -> None:
    answer = await ask(client, basic, request_id="7")
    assert answer.status_code == 409 and "vhost" in answer.json()["detail"]
    answer = await ask(client, {"X-API-Key": await issue(bundles=("cs2.stats",))}, request_id="7")
    assert answer.status_code == 403 and scopes.RECOVERY in answer.json()["detail"]


async def test_how_far_it_has_come(store: Store, client: httpx.AsyncClient, provisioned: Headers) -> None:
    assert (await client.get("/cs2/v1/recovery/7", headers=provisioned)).status_code == 404
    await ask(client, provisioned, request_id="7")
    shown = await data(client, "/cs2/v1/recovery/7", provisioned)
    assert (shown["request_id"], shown["state"], shown["attempts"]) == ("7", "scheduled", 0)
    assert shown["progress"] == {"steps": 0, "steps_done": 0, "envelopes": 0}
    async with store.transaction() as tx:
        tenant = await tenants.by_slug(tx, "acme")
        found = await recovery_jobs.find(tx, tenant.id, "7")
        assert found
        await tx.execute("UPDATE recovery_job SET state = 'running', attempts = 1 WHERE id = $1", found.id)
        await recovery_jobs.progress(tx, replace(found, attempts=1), 4, 1, 50)
    shown = await data(client, "/cs2/v1/recovery/7", provisioned)
    assert (shown["state"], shown["progress"]) == ("running", {"steps": 4, "steps_done": 1, "envelopes": 50})


async def test_others_recoveries_are_not_shown(
    client: httpx.AsyncClient, provisioned: Headers, issue: IssueKey
) -> None:
    await ask(client, provisioned, request_id="7")
    other = {"X-API-Key": await issue("beta", bundles=("cs2.odds.basic",))}
    assert (await client.get("/cs2/v1/recovery/7", headers=other)).status_code == 404

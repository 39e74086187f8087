"""The paths that concern no sport, and who may call what."""

import re
from datetime import datetime
from urllib.parse import unquote

import httpx
from lxml import etree

from app.domain import scopes
from app.kit.clock import system_clock
from app.store import heartbeats
from app.store.connections import Store
from tests.support.eventually import eventually
from tests.support.web import Headers, IssueKey


async def beat(store: Store, age: int = 0) -> None:
    """A feed process lived `age` ms ago."""
    async with store.transaction() as tx:
        await heartbeats.record(tx, "feed-1", heartbeats.FEED, system_clock() - age)


async def test_alive(client: httpx.AsyncClient, basic: Headers, store: Store) -> None:
    await beat(store)
    answer = await client.get("/v1/alive", headers=basic)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("application/json")
    data = answer.json()["data"]
    assert data["status"] == "ok"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", data["timestamp"])
    assert datetime.fromisoformat(data["timestamp"])


async def test_alive_shows_that_no_feed_process_runs(
    client: httpx.AsyncClient, basic: Headers, store: Store
) -> None:
    async def feed_state() -> tuple[str, str | None]:
        status = (await client.get("/v1/alive", headers=basic)).json()["data"]["status"]
        sibling = (await client.get("/v1/alive.xml", headers=basic)).content
        xml = await client.get("/v1/alive", headers=basic | {"Accept": "application/xml"})
        subscribed = {etree.fromstring(one).get("subscribed") for one in (sibling, xml.content)}
        assert len(subscribed) == 1
        return status, subscribed.pop()

    assert await feed_state() == ("feed_down", "0")
    await beat(store)
    assert await feed_state() == ("ok", "1")
    await beat(store, age=60_000)
    assert await feed_state() == ("feed_down", "0")


async def test_the_status_of_health_shows_a_failing_part(client: httpx.AsyncClient, basic: Headers) -> None:
    async def ready(query: str = "") -> httpx.Response:
        return await client.get(f"/v1/ready{query}", headers=basic)

    await eventually(lambda: ready("?parts=ingest_queues"), lambda answer: answer.status_code == 200)
    ill = await ready()
    assert ill.status_code == 503 and "ingest worker" in ill.json()["detail"]
    assert int(ill.headers["Retry-After"]) > 0
    assert (await ready("?parts=database,ingest_queues")).json()["data"]["status"] == "ok"
    assert (await ready("?parts=database,ingest_worker")).status_code == 503
    assert (await ready("?parts=nonsense")).status_code == 422


async def test_health_names_failing_parts(client: httpx.AsyncClient, basic: Headers) -> None:
    async def parts() -> dict[str, str]:
        data = (await client.get("/v1/health", headers=basic)).json()["data"]
        assert data["status"] == "ill"
        found_parts: dict[str, str] = data["parts"]
        return found_parts

    found = await eventually(parts, lambda found_parts: found_parts["ingest_queues"] == "ok")
    assert found["database"] == found["log_batches"] == "ok"
    assert "ingest worker" in found["ingest_worker"]


async def test_whoami_shows_the_key(client: httpx.AsyncClient, issue: IssueKey) -> None:
    raw = await issue(bundles=("cs2.stats",), sports=("cs2", "soccer"), rate_limit_rpm=90)
    data = (await client.get("/v1/whoami", headers={"x-access-token": raw})).json()["data"]
    assert set(data) == {"tenant_id", "name", "scopes", "sport_allowlist", "rate_limit_rpm"}
    assert data["name"] == "Acme"
    assert data["scopes"] == sorted(scopes.BUNDLES["cs2.stats"])
    assert (data["sport_allowlist"], data["rate_limit_rpm"]) == (["cs2", "soccer"], 90)


async def test_sports(client: httpx.AsyncClient, basic: Headers) -> None:
    body = (await client.get("/v1/sports", headers=basic)).json()
    assert body["meta"] == {"count": 2}
    assert all(
        set(row) == {"slug", "name", "api_version", "base_url", "capabilities"} for row in body["data"]
    )
    assert all(isinstance(value, str) and value for row in body["data"] for value in row.values())
    assert [(row["slug"], row["api_version"], row["base_url"]) for row in body["data"]] == [
        ("cs2", "v1", "/cs2/v1"),
        ("soccer", "v1", "/soccer/v1"),
    ]
    assert [row["capabilities"] for row in body["data"]] == ["odds,feed,statistics", "profiles,matches"]
    xml = await client.get("/v1/sports", headers=basic | {"Accept": "application/xml"})
    shown = {item.get("slug"): item.get("capabilities") for item in etree.fromstring(xml.content)[0]}
    assert shown == {row["slug"]: row["capabilities"] for row in body["data"]}


async def test_every_refusal_has_the_same_form(client: httpx.AsyncClient, basic: Headers) -> None:
    headers = basic | {"X-Request-Id": "mine-1", "Accept": "application/xml"}
    for method, path, status in [
        ("GET", "/nothing/here", 404),
        ("GET", "/cs2/v1/matches/1/nothing", 404),
        ("POST", "/v1/alive", 405),
        ("GET", "/v1/alive?verbose=1", 422),
        ("GET", "/cs2/v1/matches?limit=0", 422),
        ("GET", "/cs2/v1/matches?limit=201", 422),
        ("GET", "/cs2/v1/matches?limit=many", 422),
        ("GET", "/cs2/v1/matches?status=over", 422),
        ("GET", "/cs2/v1/matches/od:match:404404", 404),
        ("GET", "/cs2/v1/matches/unknown", 422),
        ("GET", "/cs2/v1/matches/od%3Amatch%3A404", 404),
        ("GET", "/cs2/v1/matches/%ff%00", 404),
        ("POST", "/ops/v1/matches", 403),
        ("GET", "/ops/v1/metrics", 403),
    ]:
        answer = await client.request(method, path, headers=headers)
        assert answer.status_code == status, path
        assert answer.headers["content-type"].startswith("application/json"), path
        assert answer.headers["x-request-id"] == "mine-1", path
        detail = answer.json()["detail"]
        if status != 422:
            assert set(answer.json()) == {"detail"} and isinstance(detail, str), path
            continue
        for field in detail:
            assert {"loc", "msg", "type"} <= set(field) <= {"loc", "msg", "type", "input", "ctx"}, path
            where, name = field["loc"]
            given = httpx.URL(path).params[name] if where == "query" else _last(path)
            assert field["input"] == given, path


def _last(path: str) -> str:
    """The last segment of an address, as the service reads it."""
    return unquote(path.rpartition("/")[2], errors="replace")


async def test_an_invalid_request_id_is_replaced(client: httpx.AsyncClient) -> None:
    answer = await client.get("/v1/alive", headers={"X-Request-Id": "a b" * 40})
    assert re.fullmatch("[0-9a-f]{32}", answer.headers["x-request-id"])

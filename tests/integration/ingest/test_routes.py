"""The log sink and the operators' routes over HTTP."""

from collections.abc import AsyncIterator
from time import monotonic
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from app.settings import Settings
from app.store import tenants
from app.store.connections import Store
from tests.integration.ingest.conftest import NOW
from tests.support.clocks import ManualClock
from tests.support.eventually import eventually
from tests.support.queues import taking
from tests.support.stored import records
from tests.support.web import Headers, IssueKey, serving

NEW = {
    "team_a": "Northwind",
    "team_b": "Harbour",
    "event": "Test Cup",
    "bo_type": "bo3",
    "scheduled_at": NOW,
    "allow_unrated": True,
}


@pytest.fixture
async def client(private: Settings, clock: ManualClock) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(private, clock) as client:
        yield client


async def create(client: httpx.AsyncClient, operator: Headers, **fields: Any) -> dict[str, Any]:
    answer = await client.post("/ops/v1/matches", headers=operator, json=NEW | fields)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()["data"]
    return made


async def post_log(
    client: httpx.AsyncClient, url: str, body: bytes = b"a line\n", **more: str
) -> httpx.Response:
    """Send until the queues are connected, which happens in the background."""

    async def post() -> httpx.Response:
        return await client.post(url, content=body, headers={"Content-Type": "text/plain"} | more)

    return await eventually(post, lambda answer: answer.status_code != 503)


async def test_a_created_match_comes_with_the_address_of_its_log(
    client: httpx.AsyncClient, operator: Headers, settings: Settings
) -> None:
    made = await create(client, operator)
    assert made["urn"] == f"od:match:{made['number']}"
    assert made["match"]["status"] == "upcoming" and made["match"]["bo_type"] == "bo3"
    assert made["log_sink_url"].startswith(f"{settings.public_url}/ops/v1/matches/{made['id']}/log?token=")
    shown = await client.get(f"/ops/v1/matches/{made['urn']}", headers=operator)
    assert shown.json()["data"] == made


async def test_a_repeated_request_creates_nothing(client: httpx.AsyncClient, operator: Headers) -> None:
    first = await create(client, operator, request_id="r1")
    assert await create(client, operator, request_id="r1") == first
    other = await client.post(
        "/ops/v1/matches", headers=operator, json=NEW | {"request_id": "r1", "event": "Other"}
    )
    assert other.status_code == 409
    listed = (await client.get("/cs2/v1/matches", headers=operator)).json()
    assert listed["meta"]["total"] == 1


async def test_what_does_not_fit_is_refused(client: httpx.AsyncClient, operator: Headers) -> None:
    for fields in [
        {"team_a": ""},
        {"team_b": "Northwind"},
        {"bo_type": "bo2"},
        {"scheduled_at": "soon"},
        {"scheduled_at": "2031-01-01T10:00:00"},
        {"unknown": 1},
        {"home_strength": "high"},
        {"home_strength": 1e308},
        {"away_strength": -1},
    ]:
        answer = await client.post("/ops/v1/matches", headers=operator, json=NEW | fields)
        assert answer.status_code == 422, fields
        assert answer.json()["detail"][0]["loc"][0] == "body", fields


async def test_a_body_that_is_no_json_is_refused(client: httpx.AsyncClient, operator: Headers) -> None:
    for body in (b"{", b"\xff", b"", b"[]"):
        answer = await client.post("/ops/v1/matches", headers=operator, content=body)
        assert answer.status_code in (400, 422) and set(answer.json()) == {"detail"}


async def test_a_log_body_travels_unchanged(
    client: httpx.AsyncClient, operator: Headers, private: Settings
) -> None:
    made = await create(client, operator)
    body = b'L 01/19/2026 - 18:55:38: "\xff\x00 \xe2\x98\x83"\n'
    offsets = {"X-Logbytes-Beginoffset": "100", "X-Logbytes-Endoffset": str(100 + len(body))}
    answer = await post_log(
        client, made["log_sink_url"], body, **{"X-Server-Instance-Token": "run"}, **offsets
    )
    assert (answer.status_code, answer.text) == (200, "OK")
    assert answer.headers["content-type"].startswith("text/plain")
    assert (await post_log(client, made["log_sink_url"])).status_code == 200
    queues, seen = taking(private)
    async with queues:
        await eventually(lambda: len(seen), lambda number: number == 2)
    full, bare = seen
    assert (str(full.match_id), full.number, full.body) == (made["id"], made["number"], body)
    assert (full.instance, full.begin, full.end, full.arrived_at) == ("run", 100, 100 + len(body), NOW)
    assert (bare.instance, bare.begin, bare.end) == ("", None, None)
    assert bare.id != full.id


async def test_lines_that_come_twice_without_offsets_are_one_batch(
    client: httpx.AsyncClient, operator: Headers, private: Settings
) -> None:
    """A relay repeats a request that was not answered in time; one line may be written twice in a second."""
    url, other = [(await create(client, operator))["log_sink_url"] for _ in range(2)]
    bodies = [b"one\ntwo\n", b"one\ntwo\n", b"one\nthree\n", b"one\n", b"one\n"]
    for sink, body in [*((url, body) for body in bodies), (other, bodies[0])]:
        assert (await post_log(client, sink, body)).status_code == 200
    queues, seen = taking(private)
    async with queues:
        await eventually(lambda: len(seen), lambda number: number == 6)
    ids = {(batch.match_id, batch.body, batch.id) for batch in seen}
    assert len(ids) == 5 == len({batch.id for batch in seen})


async def test_a_body_that_is_encoded_is_refused(client: httpx.AsyncClient, operator: Headers) -> None:
    """None of its lines could be read."""
    url = (await create(client, operator))["log_sink_url"]
    for encoding in ("gzip", "deflate, br"):
        answer = await client.post(url, content=b"\x1f\x8b", headers={"Content-Encoding": encoding})
        (refused,) = answer.json()["detail"]
        assert (answer.status_code, refused["loc"]) == (422, ["header", "content-encoding"])
    assert (await post_log(client, url, **{"Content-Encoding": "identity"})).status_code == 200


async def test_lines_of_no_stated_length_are_refused(client: httpx.AsyncClient, operator: Headers) -> None:
    """They are not read, so OK would be wrong."""
    url = (await create(client, operator))["log_sink_url"]
    request = client.build_request("POST", url, content=b"a line\n")
    del request.headers["Content-Length"]
    answer = await client.send(request)
    (refused,) = answer.json()["detail"]
    assert (answer.status_code, refused["loc"]) == (422, ["header", "content-length"])


async def test_the_sink_wants_the_token_of_its_match(client: httpx.AsyncClient, operator: Headers) -> None:
    first, second = await create(client, operator), await create(client, operator)
    path, token = first["log_sink_url"].split("?token=")
    foreign = second["log_sink_url"].split("?token=")[1]
    for wrong in (foreign, token[:-1], token + "0", "", "1"):
        assert (await client.post(f"{path}?token={wrong}", content=b"x")).status_code == 403
    assert (await client.post(path, content=b"x")).status_code == 422
    assert (await client.post(first["log_sink_url"] + "&more=1", content=b"x")).status_code == 422


async def test_a_body_too_large_is_refused(
    client: httpx.AsyncClient, operator: Headers, settings: Settings
) -> None:
    made = await create(client, operator)
    fits, too_large = b"x" * settings.log_batch_bytes, b"x" * (settings.log_batch_bytes + 1)
    assert (await post_log(client, made["log_sink_url"], too_large)).status_code == 413
    assert (await post_log(client, made["log_sink_url"], fits)).status_code == 200


async def test_without_a_broker_the_sink_fails_within_two_seconds(
    settings: Settings, operator: Headers
) -> None:
    away = replace(
        settings, rabbitmq_url="amqp://guest:guest@127.0.0.1:1", rabbitmq_api_url="http://127.0.0.1:1"
    )
    async with serving(away) as client:
        made = await create(client, operator)
        began = monotonic()
        answer = await client.post(made["log_sink_url"], content=b"x")
        assert monotonic() - began < 2
    assert answer.status_code == 503 and int(answer.headers["retry-after"]) >= 1


async def test_bookings(client: httpx.AsyncClient, operator: Headers, issue: IssueKey, store: Store) -> None:
    await issue("acme", bundles=("cs2.odds.basic",))
    made = await create(client, operator)
    path = f"/ops/v1/tenants/acme/bookings/{made['urn']}"
    for booked in (False, True):
        answer = await client.put(path, headers=operator, json={"booked": booked})
        assert answer.json() == {"data": {"booked": booked}}
        async with store.autocommit() as tx:
            assert bool(await tenants.unbooked(tx)) is not booked
    unknown = "/ops/v1/tenants/nobody/bookings/" + made["id"]
    assert (await client.put(unknown, headers=operator, json={"booked": True})).status_code == 404


async def test_cancelling(client: httpx.AsyncClient, operator: Headers) -> None:
    made = await create(client, operator)
    path = f"/ops/v1/matches/{made['id']}/cancel"
    answer = await client.post(path, headers=operator)
    assert (answer.status_code, answer.json()["data"]["status"]) == (200, "cancelled")
    assert (await client.post(path, headers=operator)).status_code == 409
    assert (await client.post("/ops/v1/matches/od:match:99/cancel", headers=operator)).status_code == 404


async def test_trimming_keeps_the_newest_and_what_is_not_over(
    client: httpx.AsyncClient, operator: Headers, clock: ManualClock, store: Store
) -> None:
    made = [await create(client, operator) for _ in range(4)]
    for one in made[:3]:
        clock.now += 1000
        await client.post(f"/ops/v1/matches/{one['id']}/cancel", headers=operator)
    for keep, gone in ((3, 0), (1, 2), (1, 0)):
        answer = await client.post("/ops/v1/trim", headers=operator, json={"keep_finished": keep})
        assert answer.json() == {"data": {"matches": gone}}
    states = [
        (await client.get(f"/cs2/v1/matches/{one['id']}", headers=operator)).status_code for one in made
    ]
    assert states == [404, 404, 200, 200]
    trimmed = [(await records(store, one["id"], 1))[0] for one in made]
    done = ["match.trim", "match.trim", "match.cancel", "match.create"]
    assert [record.action for record in trimmed] == done
    assert trimmed[0].actor.startswith("key:house/") and trimmed[0].details == {"keep_finished": 1}


async def test_trimming_is_for_a_sandbox(private: Settings, operator: Headers, clock: ManualClock) -> None:
    async with serving(replace(private, sandbox=False), clock) as client:
        made = await create(client, operator)
        await client.post(f"/ops/v1/matches/{made['id']}/cancel", headers=operator)
        answer = await client.post("/ops/v1/trim", headers=operator, json={"keep_finished": 0})
        assert answer.status_code == 403 and "matchfeed match forget" in answer.json()["detail"]
        assert (await client.get(f"/cs2/v1/matches/{made['id']}", headers=operator)).status_code == 200


async def test_metrics_are_for_operators(client: httpx.AsyncClient, operator: Headers) -> None:
    answer = await client.get("/ops/v1/metrics", headers=operator)
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/plain")
    assert "matchfeed_log_batches" in answer.text
    assert (await client.get("/ops/v1/metrics")).status_code == 401

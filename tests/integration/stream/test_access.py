"""Which upgrades are accepted or refused, and which connections are closed, with which codes and reasons."""

import asyncio
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

import httpx
import msgspec
import pytest

from app.access.api_keys import new_key
from app.domain import scopes
from app.domain.match import Status
from app.kit.clock import system_clock
from app.kit.errors import Unavailable
from app.settings import Settings
from app.store.connections import Store
from tests.support.databases import end_sessions
from tests.support.eventually import eventually
from tests.support.lengths import short_then_long
from tests.support.story import Story
from tests.support.streaming import (
    closed,
    next_frame,
    refusal,
    shown_by_rest,
    streaming,
    subscribed,
    until_alive,
)
from tests.support.web import IssueKey


async def test_a_refused_upgrade_is_an_http_answer(host: str, issue: IssueKey, story: Story) -> None:
    match = await story.match()
    good = await issue(bundles=("cs2.stats",))
    soccer = await issue(bundles=("cs2.stats",), sports=("soccer",))
    over = await issue(bundles=("cs2.scoretock",))
    stream, one = "/cs2/v1/stream", f"/cs2/v1/stream/{match.id}"
    expected: dict[str, tuple[int, str]] = {
        stream: (401, "api_key"),
        f"{stream}?api_key=": (401, "api_key"),
        f"{one}?since=4": (401, "api_key"),
        f"{stream}?api_key={new_key()}": (403, "not valid"),
        f"{stream}?api_key=nonsense": (403, "not valid"),
        f"{stream}?api_key={good}&api_key={new_key()}": (400, "api_key"),
        f"{stream}?api_key={soccer}": (403, "cs2"),
        f"{stream}/od:match:404404?api_key={good}": (404, "od:match:404404"),
        f"{stream}/nonsense?api_key={good}": (422, '"loc":["path","match_id"]'),
        f"{one}?api_key={over}": (404, str(match.id)),
        f"{stream}?api_key={good}&since=x": (422, "since"),
        f"{stream}?api_key={good}&since=-1": (422, "since"),
        f"{stream}?api_key={good}&sinse=1": (422, "sinse"),
        f"{stream}?api_key={good}&sinse=1&since=x": (422, "sinse"),
        f"{stream}?api_key={good}&since=x&sinse=1": (422, "seq of a frame"),
        f"{stream}s?api_key={good}": (404, "address"),
        f"{one}/more?api_key={good}": (404, "address"),
        f"/soccer/v1/stream?api_key={soccer}": (404, "without prices"),
    }
    for path, (status, text) in expected.items():
        response = await refusal(host, path)
        body = msgspec.json.decode(response.body)
        assert (response.status_code, set(body)) == (status, {"detail"}), path
        assert text in response.body.decode(), path
        assert response.headers["content-type"] == "application/json"
        assert response.headers["x-request-id"]


async def test_a_key_in_a_header_is_refused(host: str, raw: str) -> None:
    response = await refusal(host, "/cs2/v1/stream", additional_headers={"X-API-Key": raw})
    assert response.status_code == 401


async def test_a_match_is_named_either_way(host: str, raw: str, story: Story) -> None:
    match = await story.match(status=Status.UPCOMING)
    for ref in (str(match.id), f"od:match:{match.number}", f"od%3Amatch%3A{match.number}"):
        async with subscribed(host, raw, ref) as client:
            shown, alive = await until_alive(client)
            assert (shown["type"], shown["data"]["id"]) == ("match.updated", str(match.id))
            assert client.response and client.response.headers["x-request-id"]


async def test_a_key_without_stream_scopes_receives_alive_only(
    host: str, issue: IssueKey, story: Story
) -> None:
    raw = await issue(bundles=("cs2.stats",))
    match = await story.match()
    async with subscribed(host, raw) as client:
        begun = await next_frame(client)
        await story.start(match)
        next_one = await next_frame(client)
    assert (begun["type"], next_one["type"]) == ("alive", "alive")
    assert begun["data"].keys() == (await shown_by_rest(host, raw, "/v1/alive")).keys()
    assert next_one["meta"]["seq"] > begun["meta"]["seq"]


async def test_a_finished_only_key_receives_the_end_only(host: str, issue: IssueKey, story: Story) -> None:
    everything = tuple(sorted(scopes.ALL))
    raw = await issue(scopes=everything, finished_only=True)
    match = await story.match()
    async with subscribed(host, raw) as client:
        (alive,) = await until_alive(client)
        await story.start(match)
        await until_alive(client)
        await story.finish(match)
        frames = await until_alive(client)
    assert [(frame["type"], frame["data"].get("status")) for frame in frames[:-1]] == [
        ("match.finished", "finished")
    ]


async def test_pages_of_other_origins_may_not_connect(settings: Settings, raw: str) -> None:
    origins = {
        "public_url": "https://feed.example/base/",
        "stream_origins": "https://a.example, https://b.example",
    }
    async with streaming(msgspec.structs.replace(settings, **origins)) as host:
        path = f"/cs2/v1/stream?api_key={raw}"
        for origin in ("https://evil.example", "null", "https://feed.example.evil"):
            response = await refusal(host, path, origin=origin)
            assert response.status_code == 403
        for origin in ("https://a.example", "https://b.example", "https://feed.example", None):
            async with subscribed(host, raw, origin=origin) as client:
                await until_alive(client)


async def test_a_tenant_holds_so_many_streams(settings: Settings, issue: IssueKey) -> None:
    first, second = await issue(bundles=("cs2.stats",)), await issue(bundles=("cs2.stats",))
    other = await issue("other", bundles=("cs2.stats",))
    async with streaming(msgspec.structs.replace(settings, stream_connections=2)) as host:
        async with subscribed(host, first), subscribed(host, second):
            response = await refusal(host, f"/cs2/v1/stream?api_key={first}")
            assert response.status_code == 429
            assert int(response.headers["retry-after"]) > 0
            async with subscribed(host, other) as client:
                await until_alive(client)

        async def again() -> bool:
            async with subscribed(host, first) as client:
                return bool(await until_alive(client))

        assert await again()


async def test_unauthenticated_addresses_are_limited_as_on_rest(settings: Settings, raw: str) -> None:
    """On a clock that stands still, so that no refusal is worked off."""
    now = system_clock()
    async with streaming(settings, lambda: now) as host, httpx.AsyncClient(base_url=f"http://{host}") as rest:
        refusals = 0
        while (await rest.get("/v1/whoami")).status_code == 401:
            if refusals % 100 == 0:
                assert (await rest.get("/v1/whoami", headers={"X-API-Key": raw})).status_code == 200
                assert (await refusal(host, "/cs2/v1/stream?api_key=nonsense")).status_code == 403
            refusals += 1
        assert refusals < 600  # what was refused on the stream counted too
        refused = await refusal(host, "/cs2/v1/stream")
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) > 0
        async with subscribed(host, raw) as client:
            await until_alive(client)


async def test_a_client_that_sends_too_much_is_closed(host: str, raw: str) -> None:
    async with subscribed(host, raw) as client:
        for _ in range(30):
            await client.send("hello")
        assert await closed(client) == 1008
    async with subscribed(host, raw) as client:
        await client.send("x" * 5000)
        assert await closed(client) == 1009
    async with subscribed(host, raw) as client:
        for _ in range(30):
            await client.ping()
        assert await closed(client) == 1008
    async with subscribed(host, raw) as client:
        await client.send(b"a few are accepted")
        await client.send("and ignored")
        await (await client.ping())
        await until_alive(client)


UNREACHABLE = "redis://127.0.0.1:1/0"


@pytest.mark.parametrize("times", short_then_long([8, 100]))
@pytest.mark.parametrize("redis", ["with Redis", "without Redis"])
@pytest.mark.parametrize("ending", ["revoke", "rotate"])
async def test_an_ended_key_ends_its_streams_within_a_second(
    settings: Settings,
    issue: IssueKey,
    record_property: Callable[[str, object], None],
    ending: str,
    redis: str,
    times: int,
) -> None:
    if redis == "without Redis":
        settings = msgspec.structs.replace(settings, redis_url=UNREACHABLE)
    operator = {"X-API-Key": await issue("house", bundles=("cs2.operator",), rate_limit_rpm=1_000_000)}
    worst = 0.0
    async with (
        streaming(settings) as first_host,
        streaming(settings) as other,
        httpx.AsyncClient(base_url=f"http://{first_host}/ops/v1/tenants/house", headers=operator) as rest,
    ):
        for _ in range(times // 2):
            made = (await rest.post("/keys", json={"bundles": ["cs2.odds.basic"]})).json()["data"]
            raw, key = made["api_key"], made["key"]["key_id"]
            async with subscribed(first_host, raw) as here, subscribed(other, raw) as there:
                await until_alive(here)
                await until_alive(there)
                begun = time.perf_counter()
                assert (await rest.post(f"/keys/{key}/{ending}")).is_success
                for client in (here, there):
                    assert await closed(client) == 1008
                worst = max(worst, time.perf_counter() - begun)
            for host in (first_host, other):
                assert (await refusal(host, f"/cs2/v1/stream?api_key={raw}")).status_code == 403
    record_property("slowest_seconds", worst)
    print(f"\n{ending}, {times} streams in two processes: slowest {worst * 1000:.1f} ms")
    assert worst < 1


async def test_a_revoked_tenant_and_a_moved_key_lose_their_streams(host: str, issue: IssueKey) -> None:
    operator = {"X-API-Key": await issue("house", bundles=("cs2.operator",))}
    raw, moved = await issue("acme", bundles=("cs2.stats",)), await issue("other", bundles=("cs2.stats",))
    async with (
        httpx.AsyncClient(base_url=f"http://{host}/ops/v1/tenants", headers=operator) as rest,
        subscribed(host, raw) as client,
        subscribed(host, moved) as other,
    ):
        assert (await rest.post("/acme/revoke")).is_success
        assert await closed(client) == 1008
        assert (await rest.post("/acme/reactivate")).is_success
        (key,) = (await rest.get("/other/keys")).json()["data"]
        await until_alive(other)
        change = {"networks": ["192.0.2.0/24"]}
        assert (await rest.patch(f"/other/keys/{key['key_id']}", json=change)).is_success
        assert await closed(other) == 1008


async def test_keys_are_looked_up_while_notify_does_not_work(
    host: str, store: Any, issue: IssueKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The LISTEN connection is terminated and cannot be opened again while a key ends."""
    raw = await issue(bundles=("cs2.stats",))

    async def away(_: Store) -> Any:
        raise Unavailable("away")

    async with subscribed(host, raw) as client:
        await until_alive(client)
        monkeypatch.setattr(Store, "dedicated", away)
        await eventually(lambda: end_sessions(store, "%LISTEN%"))
        async with store.transaction() as tx:
            await tx.execute("UPDATE api_key SET active = false")
        begun = time.perf_counter()
        assert await closed(client) == 1008
        assert time.perf_counter() - begun < 1


async def test_clients_of_a_process_that_stops_are_closed_with_1001(
    settings: Settings, raw: str, story: Story
) -> None:
    match = await story.match()
    async with streaming(settings) as other, AsyncExitStack() as process:
        host = await process.enter_async_context(streaming(settings))
        async with subscribed(host, raw) as client:
            last = (await until_alive(client))[-1]["meta"]["seq"]
            ending = asyncio.create_task(closed(client))
            await process.aclose()
            assert await ending == 1001
        await story.finish(match)
        async with subscribed(other, raw, since=last) as again:
            finished, alive = await until_alive(again)
            assert finished["type"] == "match.finished"
            assert alive["meta"]["snapshot"] is False


async def test_a_text_that_is_not_utf_8_ends_the_stream_without_a_traceback(
    host: str, issue: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async with subscribed(host, await issue("acme", bundles=("cs2.stats",))) as client:
        await until_alive(client)
        await client.send(b"\xff\xfe", text=True)
        assert await closed(client) == 1007
    assert not [one for one in caplog.records if one.exc_info]

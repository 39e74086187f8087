"""So many requests a minute for a key, whichever process gets them; and a bound on limiter."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import httpx
import msgspec
import pytest

from app.access.api_keys import new_key
from app.kit.clock import system_clock
from app.kit.metrics import rate_limit_unchecked, unauthenticated
from app.settings import Settings
from app.store import counters
from app.store.connections import Store
from tests.support.databases import sessions
from tests.support.eventually import eventually
from tests.support.redis import PrivateRedis
from tests.support.web import Headers, IssueKey, processes, serving


@pytest.fixture
async def timeless(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """A service whose clock stands still, so that nothing is forgiven."""
    now = system_clock()
    async with serving(settings, lambda: now) as client:
        yield client


def state(answer: httpx.Response) -> tuple[int, int, int, int]:
    """Quota, window, remaining, seconds: from the two headers."""
    policy = re.fullmatch(r'"key";q=(\d+);w=(\d+)', answer.headers["RateLimit-Policy"])
    left = re.fullmatch(r'"key";r=(\d+);t=(\d+)', answer.headers["RateLimit"])
    assert policy and left
    quota, window, remaining, seconds = (int(number) for number in (*policy.groups(), *left.groups()))
    return quota, window, remaining, seconds


async def test_the_601st_request_is_refused_by_any_process(settings: Settings, issue: IssueKey) -> None:
    headers = {"X-API-Key": await issue(bundles=("cs2.stats",))}
    async with processes(settings, 2) as pair:
        for turn in range(12):
            answers = await asyncio.gather(
                *[pair[(turn + n) % 2].get("/v1/whoami", headers=headers) for n in range(50)]
            )
            assert {answer.status_code for answer in answers} == {200}
        assert state(answers[-1])[:3] == (600, 60, 0)
        for client in pair:
            refused = await client.get("/v1/sports", headers=headers)
            assert refused.status_code == 429
            assert 1 <= int(refused.headers["Retry-After"]) <= 60
            assert state(refused)[2:] == (0, int(refused.headers["Retry-After"]))
            assert set(refused.json()) == {"detail"}
            assert refused.headers["X-Request-Id"]
        other = {"X-API-Key": await issue(bundles=("cs2.stats",))}
        assert (await pair[0].get("/v1/whoami", headers=other)).status_code == 200


ANSWERS = (
    ("GET", "/v1/whoami", 200),
    ("GET", "/v1/whoami?color=red", 422),
    ("GET", "/cs2/v1/matches/od:match:404404", 404),
    ("GET", "/ops/v1/tenants", 403),
    ("POST", "/ops/v1/tenants", 403),
)


async def test_every_response_to_a_key_has_rate_limit_headers(
    client: httpx.AsyncClient, issue: IssueKey
) -> None:
    headers = {"X-API-Key": await issue(bundles=("cs2.odds.basic",), rate_limit_rpm=7)}
    for left, (method, path, status) in zip((6, 5, 4, 3, 2), ANSWERS, strict=True):
        answer = await client.request(method, path, headers=headers)
        assert answer.status_code == status
        assert state(answer)[:3] == (7, 60, left)


async def test_the_facade_counts_like_every_other_path(client: httpx.AsyncClient, issue: IssueKey) -> None:
    headers = {"X-API-Key": await issue(bundles=("cs2.odds.basic",), rate_limit_rpm=2)}
    first = await client.get("/v1/sports/en/sports", headers=headers)
    assert first.headers["content-type"].startswith("application/xml") and state(first)[:3] == (2, 60, 1)
    assert (await client.get("/v1/whoami", headers=headers)).status_code == 200
    refused = await client.get("/v1/descriptions/producers", headers=headers)
    assert refused.status_code == 429 and set(refused.json()) == {"detail"}
    assert 1 <= int(refused.headers["Retry-After"]) <= 60


async def test_responses_without_a_valid_key_have_no_rate_limit_headers(client: httpx.AsyncClient) -> None:
    answer = await client.get("/v1/whoami")
    assert answer.status_code == 401
    assert not [name for name in answer.headers if name.startswith("ratelimit")]


async def test_without_redis_every_request_passes_and_is_counted(
    settings: Settings, issue: IssueKey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors: list[str] = []
    # Not the captured output: a logger stays with the stream that it first wrote to, in any test.
    monkeypatch.setattr(counters.log, "error", lambda event, **_: errors.append(event), raising=False)
    headers = {"X-API-Key": await issue(bundles=("cs2.stats",), rate_limit_rpm=3)}
    with PrivateRedis(tmp_path) as redis:
        away = msgspec.structs.replace(settings, redis_url=redis.url)
        async with serving(away) as client:
            for status in (200, 200, 200, 429):
                assert (await client.get("/v1/whoami", headers=headers)).status_code == status
            redis.stop()
            before = rate_limit_unchecked._value.get()
            for _ in range(20):
                answer = await client.get("/v1/whoami", headers=headers)
                assert answer.status_code == 200
                assert answer.headers["RateLimit-Policy"] == '"key";q=3;w=60'
            assert rate_limit_unchecked._value.get() == before + 20
            parts = (await client.get("/v1/health", headers=headers)).json()["data"]["parts"]
            assert "Redis" in parts["rate_limits"]
    assert len(errors) == 1 and "Redis is away" in errors[0]


async def listeners(store: Store) -> int:
    """How many processes LISTEN for changes to keys; only such a process caches keys."""
    return await sessions(store, "%LISTEN%grants%")


async def test_a_valid_key_is_served_whatever_others_at_its_address_do(
    settings: Settings, store: Store, issue: IssueKey
) -> None:
    """Not a key that was seen before, nor one that is new; whatever happens to other keys meanwhile."""
    now = [system_clock()]
    known = {"X-API-Key": await issue(bundles=("cs2.stats",))}
    async with serving(settings, lambda: now[0]) as client:

        async def status_of(headers: Headers, path: str = "/v1/whoami") -> int:
            return (await client.get(path, headers=headers)).status_code

        await eventually(lambda: listeners(store))
        assert await status_of(known) == 200
        for _ in range(640):
            await status_of({"X-API-Key": "x"})
        assert await status_of({"X-API-Key": "x"}) == 429
        fresh = {"X-API-Key": await issue(bundles=("cs2.odds.basic",))}  # every process forgets what it knows
        assert [await status_of(known) for _ in range(20)] == [200] * 20
        assert await status_of(fresh) == 200
        assert await status_of({"X-API-Key": new_key()}) == 429


async def test_unknown_addresses_count_as_requests_without_a_key(
    timeless: httpx.AsyncClient, issue: IssueKey
) -> None:
    known = {"X-API-Key": await issue(bundles=("cs2.stats",))}
    before = unauthenticated.labels("path")._value.get()
    statuses = [(await timeless.get("/nothing/here", headers=known)).status_code for _ in range(300)]
    statuses += [(await timeless.delete("/v1/whoami", headers=known)).status_code for _ in range(300)]
    assert statuses == [404] * 300 + [405] * 300
    assert unauthenticated.labels("path")._value.get() == before + 600
    assert (await timeless.get("/nothing/here")).status_code == 429
    assert (await timeless.get("/v1/whoami")).status_code == 429
    assert (await timeless.get("/v1/whoami", headers=known)).status_code == 200


async def test_log_tokens_that_do_not_fit_count_too(timeless: httpx.AsyncClient) -> None:
    sink = f"/ops/v1/matches/{uuid4()}/log?token=1-{'0' * 40}"
    before = unauthenticated.labels("log_token")._value.get()
    assert {(await timeless.post(sink, content=b"x")).status_code for _ in range(600)} == {403}
    assert unauthenticated.labels("log_token")._value.get() == before + 600
    assert (await timeless.get("/v1/whoami")).status_code == 429


async def test_two_different_keys_are_refused_wherever_they_are_shown(client: httpx.AsyncClient) -> None:
    both = {"X-API-Key": "one", "x-access-token": "other"}
    for path in ("/v1/whoami", "/nothing", "/v1/sports/en/nothing", "/cs2/v1"):
        assert (await client.get(path, headers=both)).status_code == 400


async def test_requests_without_a_valid_key_are_limited(
    settings: Settings, store: Store, issue: IssueKey
) -> None:
    """Nobody at their address is let down by it: not who is known, and soon not who is new."""
    now = [system_clock()]
    known = {"X-API-Key": await issue(bundles=("cs2.stats",))}
    async with serving(settings, lambda: now[0]) as client:

        async def request_status(headers: Headers) -> int:
            return (await client.get("/v1/whoami", headers=headers)).status_code

        await eventually(lambda: listeners(store))
        assert {await request_status(known) for _ in range(50)} == {200}
        invalid = [{}, {"X-API-Key": "x"}, {"X-API-Key": new_key()}]
        statuses = [await request_status(invalid[turn % 3]) for turn in range(600)]
        assert set(statuses) == {401, 403}
        answer = await client.get("/v1/whoami")
        assert (answer.status_code, answer.headers["Retry-After"]) == (429, "1")
        assert await request_status({"X-API-Key": new_key()}) == 429
        assert await request_status(known) == 200
        now[0] += 1000
        assert await request_status({"X-API-Key": await issue(bundles=("cs2.stats",))}) == 200
        assert [await request_status({}) for _ in range(11)].count(401) == 10

"""What is requested again is not read again until it has changed."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from app.domain import scopes
from app.domain.match import Match
from app.store import matches
from app.store.connections import Store
from app.store.transaction import Tx
from tests.support.databases import end_sessions
from tests.support.eventually import eventually
from tests.support.story import Story, offer
from tests.support.tenants import book
from tests.support.web import Headers, IssueKey

XML = {"Accept": "application/xml"}
PATHS = (
    "/v1/whoami",
    "/cs2/v1/matches",
    "/cs2/v1/matches?status=live&limit=7",
    "/cs2/v1/matches/{id}",
    "/cs2/v1/matches/{id}/summary",
    "/cs2/v1/matches/{id}/markets",
    "/cs2/v1/matches/{id}/rounds",
    "/cs2/v1/matches/{id}/timeline",
    "/cs2/v1/matches/{id}/settlements",
)
Reads = Callable[[], int]


def counting(monkeypatch: pytest.MonkeyPatch, name: str) -> Reads:
    """How often that method of the store was called, so far."""
    calls = 0
    method = getattr(Store, name)

    @asynccontextmanager
    async def counted(self: Store) -> AsyncIterator[Tx]:
        nonlocal calls
        calls += 1
        async with method(self) as tx:
            yield tx

    monkeypatch.setattr(Store, name, counted)
    return lambda: calls


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Reads:
    """How often a connection to the database was acquired."""
    return counting(monkeypatch, "autocommit")


@pytest.fixture
def snapshots(monkeypatch: pytest.MonkeyPatch) -> Reads:
    """How often a handler has read; keys are read without a snapshot."""
    return counting(monkeypatch, "snapshot")


async def warm(client: httpx.AsyncClient, path: str, headers: Headers, reads: Reads) -> httpx.Response:
    """The response, once it is cached."""

    async def fetch() -> tuple[int, httpx.Response]:
        before = reads()
        return before, await client.get(path, headers=headers)

    _, answer = await eventually(fetch, lambda result: reads() == result[0])
    assert answer.status_code == 200, answer.text
    return answer


async def test_hot_reads_touch_no_database(
    client: httpx.AsyncClient, live: Match, basic: Headers, reads: Reads
) -> None:
    for path in PATHS:
        address = path.format(id=live.id)
        for headers in (basic, basic | XML):
            cold = await client.get(address, headers=headers)
            cached = await warm(client, address, headers, reads)
            assert cached.content == cold.content
            assert cached.headers["etag"] == cold.headers["etag"]
            assert {"vary", "cache-control", "ratelimit", "x-request-id"} <= set(cached.headers)
            known = headers | {"If-None-Match": cached.headers["etag"]}
            assert (await client.get(address, headers=known)).status_code == 304
            assert (await client.head(address, headers=headers)).content == b""
    sibling = f"/cs2/v1/matches/{live.id}.xml"
    assert (await warm(client, sibling, basic, reads)).content.startswith(b"<fixtures_fixture")


async def test_a_change_is_seen_in_all_that_shows_it(
    client: httpx.AsyncClient, live: Match, basic: Headers, reads: Reads, store: Store
) -> None:
    tale = Story(store)
    for path, seen in [
        ("/cs2/v1/matches/{id}/markets", "map=1|round=97|team=home"),
        ("/cs2/v1/matches/{id}", "map=1|round=98|team=home"),
        ("/cs2/v1/matches/{id}/summary", '"finished"'),
    ]:
        address = path.format(id=live.id)
        before = await warm(client, address, basic, reads)
        assert seen not in before.text
        if "round=" in seen:
            await tale.offer(live, offer(int(seen.split("|")[1].removeprefix("round="))))
        else:
            await tale.finish(live)

        async def fetch(address: str = address) -> str:
            return (await client.get(address, headers=basic)).text

        await eventually(fetch, lambda text, seen=seen: seen in text)
    listed = await warm(client, "/cs2/v1/matches?status=finished", basic, reads)
    assert [row["id"] for row in listed.json()["data"]] == [str(live.id)]


async def test_lists_follow_their_rows(
    client: httpx.AsyncClient, live: Match, basic: Headers, reads: Reads, store: Store
) -> None:
    async def ids() -> list[str]:
        answer = await client.get("/cs2/v1/matches?status=live", headers=basic)
        return [row["id"] for row in answer.json()["data"]]

    await warm(client, "/cs2/v1/matches?status=live", basic, reads)
    other = await Story(store).match()
    assert set(await eventually(ids, lambda seen: len(seen) == 2)) == {str(live.id), str(other.id)}
    await Story(store).cancel(other)
    assert await eventually(ids, lambda seen: len(seen) == 1) == [str(live.id)]
    async with store.transaction() as tx:
        await tx.execute("UPDATE match SET status = 'finished', finished_at = 1 WHERE id = $1", live.id)
        assert await matches.trim(tx, 2) == [live.id]
    assert await eventually(ids, lambda seen: not seen) == []
    assert (await client.get(f"/cs2/v1/matches/{live.id}", headers=basic)).status_code == 404


async def test_keys_share_what_they_see_alike_and_nothing_else(
    client: httpx.AsyncClient, live: Match, issue: IssueKey, snapshots: Reads
) -> None:
    async def fetch(**properties: Any) -> tuple[int, set[str]]:
        headers, before = {"X-API-Key": await issue(**properties)}, snapshots()
        answer = await client.get(f"/cs2/v1/matches/{live.id}", headers=headers)
        return snapshots() - before, set(answer.json().get("data", ()))

    first = {"X-API-Key": await issue(scopes=(scopes.READ,))}
    await warm(client, f"/cs2/v1/matches/{live.id}", first, snapshots)
    again, fields = await fetch(slug="other", scopes=(scopes.READ, scopes.TEAMS_LIST))
    assert again == 0 and "markets" not in fields and "maps" in fields
    more, fields = await fetch(scopes=(scopes.READ, scopes.MARKETS))
    assert more == 1 and "markets" in fields
    hidden, fields = await fetch(scopes=(scopes.READ,), finished_only=True)
    assert hidden == 1 and not fields


async def test_bookings_are_the_tenants_own(
    client: httpx.AsyncClient, live: Match, issue: IssueKey, reads: Reads, store: Store
) -> None:
    path = f"/cs2/v1/matches/{live.id}"
    ours, theirs = [{"X-API-Key": await issue(slug, bundles=("cs2.operator",))} for slug in ("acme", "beta")]

    async def status(headers: Headers) -> tuple[str, bool]:
        data = (await client.get(path, headers=headers)).json()["data"]
        fixture = (await client.get(path, headers=headers | XML)).text
        return data["booking_status"], 'liveodds="booked"' in fixture

    for headers in (ours, theirs):
        await warm(client, path, headers, reads)
        assert await status(headers) == ("booked", True)
    await book(store, live, False, now=1)

    async def fetch() -> tuple[str, bool]:
        return await status(ours)

    assert await eventually(fetch, lambda result: result[0] != "booked") == ("unbooked", False)
    assert await status(theirs) == ("booked", True)


async def test_changes_during_a_lost_connection_are_seen(
    client: httpx.AsyncClient, live: Match, basic: Headers, reads: Reads, store: Store
) -> None:
    """The LISTEN connection is cut off; what changes meanwhile is seen."""
    path = f"/cs2/v1/matches/{live.id}/markets"
    await warm(client, path, basic, reads)
    assert await end_sessions(store, "%LISTEN%shown%") == 1
    await Story(store).offer(live, offer(99))

    async def fetch() -> str:
        return (await client.get(path, headers=basic)).text

    await eventually(fetch, lambda text: "round=99" in text)
    await warm(client, path, basic, reads)

"""A client's digest against what is on offer to it."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from decimal import Decimal
from typing import Any

import httpx
import msgspec
import pytest
from msgspec.structs import replace

from app.domain import scopes
from app.domain.ids import match_urn
from app.domain.market import MarketStatus
from app.domain.match import Match, Status
from app.store.connections import Store
from app.wire.views.selfcheck import MARKETS
from tests.support.stored import head
from tests.support.story import Story, offer
from tests.support.tenants import book, give_vhost
from tests.support.web import Headers, IssueKey

SUSPENDED = MarketStatus.SUSPENDED


@pytest.fixture
async def match(story: Story) -> Match:
    """A match with an active, a suspended and a settled market."""
    match = await story.match(offer(1), offer(2, status=SUSPENDED), offer(3))
    await story.settle(match, offer(3))
    return match


def held(match: Match, *markets: Any, **fields: Any) -> dict[str, Any]:
    return {"match": match_urn(match.number), "markets": list(markets), **fields}


def active(number: int, odds: float = 1.85) -> list[Any]:
    return [13, f"map=1|round={number}|team=home", 1, odds]


def suspended(number: int) -> list[Any]:
    return [13, f"map=1|round={number}|team=home", -1]


async def check(client: httpx.AsyncClient, headers: Headers, *matches: Any, **body: Any) -> Any:
    answer = await client.post("/cs2/v1/selfcheck", json={"matches": matches, **body}, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


def kinds(data: Any) -> dict[tuple[str, str], str]:
    return {(each["match"], each["specifiers"]): each["kind"] for each in data["differences"]}


async def test_an_equal_book_has_no_difference(
    client: httpx.AsyncClient, match: Match, basic: Headers
) -> None:
    for named in (match_urn(match.number), str(match.id)):
        mine = held(match, active(1), suspended(2)) | {"match": named}
        data = await check(client, basic, mine)
        assert data == {"matches": 1, "markets": 2, "count": 0, "kinds": {}, "differences": []}


async def test_each_difference_names_match_market_and_both_sides(
    client: httpx.AsyncClient, match: Match, basic: Headers
) -> None:
    data = await check(client, basic, held(match, active(1, 1.9), active(2), active(3)))
    urn, where = match_urn(match.number), "map=1|round={}|team=home".format
    assert data["count"] == 3
    assert data["kinds"] == {"wrong_price": 1, "stale": 1, "extra": 1}
    common, ours, dear = {"match": urn, "id": 13}, {"status": 1, "odds": 1.85}, {"status": 1, "odds": 1.9}
    assert sorted(data["differences"], key=lambda each: each["specifiers"]) == [
        {"kind": "wrong_price", "specifiers": where(1), "yours": dear, "ours": ours, **common},
        {"kind": "stale", "specifiers": where(2), "yours": ours, "ours": ours | {"status": -1}, **common},
        {"kind": "extra", "specifiers": where(3), "yours": ours, **common},
    ]


async def test_what_a_complete_digest_leaves_out_is_missing(
    client: httpx.AsyncClient, match: Match, story: Story, basic: Headers
) -> None:
    other = await story.match(offer(1))
    whole = await check(client, basic, held(match, active(1), suspended(2)))
    assert kinds(whole) == {(match_urn(other.number), "map=1|round=1|team=home"): "missing"}
    part = await check(client, basic, held(match, active(1), suspended(2)), complete=False)
    assert (part["count"], part["matches"]) == (0, 1)
    assert (await check(client, basic))["kinds"] == {"missing": 3}


async def test_behind_shows_that_newer_changes_exist(
    client: httpx.AsyncClient, match: Match, story: Story, basic: Headers
) -> None:
    book = held(match, active(1), suspended(2), seq=10**6)
    await story.offer(match, replace(offer(1), odds=Decimal("1.91")))
    ahead = await check(client, basic, book)
    assert [each["behind"] for each in ahead["differences"]] == [False]
    late = await check(client, basic, book | {"seq": 1})
    assert [each["behind"] for each in late["differences"]] == [True]


async def test_only_what_is_the_tenants_own_counts(
    client: httpx.AsyncClient, match: Match, store: Store, basic: Headers, issue: IssueKey
) -> None:
    other = {"X-API-Key": await issue("beta", bundles=("cs2.odds.basic",))}
    await book(store, match, False, "beta")
    assert (await check(client, other))["count"] == 0
    data = await check(client, other, held(match, active(1)))
    assert data["kinds"] == {"extra": 1}
    assert "ours" not in data["differences"][0]
    assert (await check(client, basic))["kinds"] == {"missing": 2}


async def test_of_an_unbooked_match_only_what_is_active_differs(
    client: httpx.AsyncClient, match: Match, story: Story, store: Store, basic: Headers
) -> None:
    """Its last message suspends what was active, and no message closes what is suspended."""
    await give_vhost(store)
    await book(store, match, False, now=1)
    other = await story.match()
    for named in (match_urn(match.number), str(match.id)):
        mine = held(match, active(1), suspended(2), suspended(3)) | {"match": named}
        data = await check(client, basic, mine)
        assert kinds(data) == {(named, "map=1|round=1|team=home"): "extra"}
        assert (data["matches"], data["markets"]) == (0, 0)
    unknown = {"match": f"od:match:{other.number + 1}", "markets": [suspended(1)]}
    data = await check(client, basic, held(match, suspended(1), suspended(2)), unknown)
    assert kinds(data) == {(unknown["match"], "map=1|round=1|team=home"): "extra"}


async def test_behind_includes_the_first_message_of_a_match_that_is_booked_again(
    client: httpx.AsyncClient, match: Match, store: Store, basic: Headers
) -> None:
    """It is the tenant's alone, and in no match's last seq."""
    await give_vhost(store)
    for booked in (False, True):
        await book(store, match, booked, now=1)
    newest = await head(store)
    mine = held(match, suspended(1), suspended(2))
    early = await check(client, basic, mine | {"seq": newest - 3})
    late = await check(client, basic, mine | {"seq": newest})
    assert [each["behind"] for each in early["differences"]] == [True]
    assert [each["behind"] for each in late["differences"]] == [False]


async def test_a_key_for_finished_matches_learns_nothing_of_others(
    client: httpx.AsyncClient, match: Match, story: Story, store: Store, issue: IssueKey
) -> None:
    headers = {"X-API-Key": await issue(scopes=(scopes.MARKETS,), finished_only=True)}
    unknown = await story.match(status=Status.UPCOMING)
    data = await check(client, headers, held(match, active(1)), held(unknown, active(1)))
    assert (data["matches"], data["markets"], data["kinds"]) == (0, 0, {"extra": 2})
    await book(store, match, False, now=1)
    assert (await check(client, headers, held(match, suspended(2))))["kinds"] == {"extra": 1}


MATCH = "od:match:1"


async def test_what_does_not_fit_is_named(client: httpx.AsyncClient, basic: Headers) -> None:
    for body, where in [
        ({}, ["matches"]),
        ({"matches": [], "also": 1}, ["also"]),
        ({"matches": [{"match": "7", "markets": []}]}, ["matches", 0, "match"]),
        ({"matches": [{"match": MATCH, "markets": []}] * 2}, ["matches", 1, "match"]),
        ({"matches": [{"match": MATCH, "markets": [[13, "", 1]]}]}, ["matches", 0, "markets", 0]),
        ({"matches": [{"match": MATCH, "markets": [[13, "", -1]] * 2}]}, ["matches", 0, "markets"]),
        ({"matches": [{"match": MATCH, "markets": [[13, "", -3, 1.5]]}]}, ["matches", 0, "markets", 0, 2]),
        ({"matches": [{"match": MATCH, "markets": [["?", "", 1, 1.5]]}]}, ["matches", 0, "markets", 0, 0]),
        (
            {"matches": [{"match": MATCH, "markets": [[1, str(n), -1] for n in range(MARKETS + 1)]}]},
            ["matches"],
        ),
    ]:
        answer = await client.post("/cs2/v1/selfcheck", json=body, headers=basic)
        assert answer.status_code == 422, answer.text
        assert [each["loc"] for each in answer.json()["detail"]] == [["body", *where]], body


async def test_one_match_under_both_names_is_refused(
    client: httpx.AsyncClient, match: Match, basic: Headers
) -> None:
    number, small, large = held(match, active(1))["match"], str(match.id), str(match.id).upper()
    for first, second in ((number, small), (number, large), (small, large)):
        both: list[Any] = [{"match": name, "markets": []} for name in (first, second)]
        answer = await client.post("/cs2/v1/selfcheck", json={"matches": both}, headers=basic)
        assert answer.status_code == 422, (first, second)
        assert answer.json()["detail"][0]["type"] == "twice"


#: As large as a client may send them; each once took a second, of the event loop or beside it.
LIMIT = 2_621_440
ROW = b'[13.0,"map=1|round=3|team=home",1.0,1.85]'
HOSTILE = {
    "texts of NUL": b'{"matches":[%s]}' % b",".join([rb'"\u0000"'] * 280_000),
    "a NUL at the end of a long list": b'{"matches":[%s,"\\u0000"]}' % b",".join([b"[]"] * 800_000),
    "numbers that are whole in the end": b'{"matches":[%s]}' % b",".join([b"1.0"] * 600_000),
    "no NUL": b'{"matches":[%s]}' % b",".join([rb'"\\u0000"'] * 250_000),
    "too many markets": b'{"matches":[{"match":"od:match:1","markets":[%s]}]}' % b",".join([ROW] * 60_000),
    "rows of numbers that are whole in the end": b'{"matches":[{"match":"od:match:1","markets":[%s]}]}'
    % b",".join([b"[1.0,1.0,1.0,1.0]"] * 140_000),
}


@pytest.mark.parametrize(
    "used", [time.thread_time, time.process_time], ids=["of the event loop", "of the process"]
)
async def test_a_hostile_body_takes_little(
    client: httpx.AsyncClient, basic: Headers, used: Callable[[], float]
) -> None:
    """Of this very thread's processor, in which the loop runs and everybody else is answered; and of the
    process: work beside the loop holds it up as well, for Python does one thing at a time."""
    for name, body in HOSTILE.items():
        assert len(body) <= LIMIT
        begun = used()
        answer = await client.post("/cs2/v1/selfcheck", content=body, headers=basic)
        elapsed = used() - begun
        assert (answer.status_code, len(answer.json()["detail"]) <= 20) == (422, True), name
        assert elapsed < 0.15, (name, elapsed)


async def test_the_largest_book_fits_and_no_more(client: httpx.AsyncClient, basic: Headers) -> None:
    rows = [active(number, 1.851) for number in range(1, MARKETS + 1)]
    body = msgspec.json.encode({"matches": [{"match": "od:match:1", "markets": rows}]})
    assert len(body) < LIMIT
    assert (await client.post("/cs2/v1/selfcheck", content=body, headers=basic)).status_code == 200
    larger = await client.post("/cs2/v1/selfcheck", content=b" " * (LIMIT + 1), headers=basic)
    assert larger.status_code == 413


async def test_a_tenant_has_a_few_checks_at_once(
    client: httpx.AsyncClient, basic: Headers, issue: IssueKey
) -> None:
    """Further checks, by any of its keys, are refused before their bodies are read; those of others are
    not."""
    ended, being_read = asyncio.Event(), asyncio.Semaphore(0)

    async def slow() -> AsyncIterator[bytes]:
        being_read.release()
        yield b'{"matches":'
        await ended.wait()
        yield b"[]}"

    async def check_empty_book(headers: Headers) -> httpx.Response:
        return await client.post("/cs2/v1/selfcheck", json={"matches": []}, headers=headers)

    async with asyncio.TaskGroup() as group:
        held = [
            group.create_task(client.post("/cs2/v1/selfcheck", content=slow(), headers=basic))
            for _ in range(2)
        ]
        for _ in held:
            await being_read.acquire()
        refused = await check_empty_book({"X-API-Key": await issue(bundles=("cs2.odds.basic",))})
        assert refused.status_code == 429
        assert int(refused.headers["Retry-After"]) > 0 and "Retry" not in refused.json()["detail"]
        other = {"X-API-Key": await issue("other", bundles=("cs2.odds.basic",))}
        assert (await check_empty_book(other)).status_code == 200
        ended.set()
    assert [task.result().status_code for task in held] == [200, 200]
    assert (await check_empty_book(basic)).status_code == 200

"""Changes over HTTP by the page: what the stream sends on connecting, in parts, and requests that wait."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any
from uuid import UUID

import httpx
import msgspec
import pytest
from prometheus_client import REGISTRY

from app.access.api_keys import new_key
from app.channels.stream.poller import Poller
from app.channels.stream.projection import Projection
from app.channels.stream.updates import MatchState
from app.domain.match import Status
from app.settings import Settings
from app.store import changes
from app.store.connections import Store
from app.store.transaction import Tx
from tests.support import stored
from tests.support.changes import PATH, Message, disposable, page, pages, requesting
from tests.support.eventually import eventually
from tests.support.lengths import short_then_long
from tests.support.story import Story, offer
from tests.support.streaming import streaming, subscribed, until_alive, until_present
from tests.support.web import IssueKey


def bare(frames: list[Message]) -> list[Message]:
    """Frames without the moment at which they were made."""
    return [
        {"type": frame["type"], "data": frame["data"], "seq": frame["meta"]["seq"]}
        for frame in frames
        if frame["type"] != "alive"
    ]


def by_name(frames: list[Message]) -> list[Message]:
    return sorted(bare(frames), key=lambda frame: msgspec.json.encode(frame, order="sorted"))


async def test_a_snapshot_in_parts_is_that_of_the_stream(host: str, raw: str, story: Story) -> None:
    match = await story.match(offer(1), offer(2))
    await story.match(offer(1), offer(3))
    await story.match(offer(4), status=Status.UPCOMING)
    for one in [False, True]:
        for limit in [1, 2, 3, 1000]:
            ref = str(match.id) if one else ""
            async with subscribed(host, raw, ref) as client:
                *shown, _ = await until_alive(client)
            async with requesting(host, raw) as client:
                found, since = await pages(client, limit=limit, **({"match": ref} if one else {}))
            frames = [frame for part in found for frame in part]
            assert by_name(frames) == by_name(shown), (one, limit)
            assert all(frame["meta"]["snapshot"] for frame in frames), (one, limit)
            assert [frame["type"] for frame in frames].index("alive") == len(frames) - 1, (one, limit)
            assert frames[-1]["meta"]["seq"] == since, (one, limit)
            assert all(len(bare(part)) <= limit for part in found), (one, limit)


async def test_what_changes_while_a_snapshot_is_sent_in_parts_is_not_lost(
    host: str, raw: str, story: Story
) -> None:
    first = await story.match(offer(1))
    second = await story.match(offer(1))
    async with requesting(host, raw) as client:
        shown, meta = await page(client, limit=2)
        assert {frame["data"].get("match_id", frame["data"].get("id")) for frame in shown} == {str(first.id)}
        await story.settle(first, offer(1))  # behind the place, which has been sent as open
        await story.offer(second, offer(2))  # before it
        third = await story.match(offer(1))
        head = await stored.head(story.store)
        await page(client, since_seq=head)  # the process reads up to there
        snapshot, meta = await page(client, limit=2, cursor=meta["next_cursor"])
        while "next_cursor" in meta:
            part, meta = await page(client, limit=2, cursor=meta["next_cursor"])
            snapshot += part
        following = meta["next_since_seq"]
        assert meta["more"], "what has changed since it began is missing"
        missed = await until_present_by_pages(client, following, head)
    assert snapshot[-1]["meta"]["snapshot"] is True
    assert following < snapshot[0]["meta"]["seq"] or following == snapshot[-1]["meta"]["seq"]
    assert missed[-1]["meta"]["snapshot"] is False
    after = bare(missed)
    assert [frame["type"] for frame in after].count("bet_settlement") == 1
    assert str(third.id) in msgspec.json.encode(after).decode()
    last = {
        (frame["data"]["match_id"], frame["data"]["market_offer_id"]): frame["data"]["status"]
        for frame in [*bare(shown), *bare(snapshot), *after]
        if frame["type"].startswith("market.")
    }
    assert last[str(first.id), "13:map=1|round=1|team=home"] == "settled"
    assert last[str(second.id), "13:map=1|round=2|team=home"] == "active"


async def until_present_by_pages(client: httpx.AsyncClient, since: int, head: int) -> list[Message]:
    """All frames after `since`, by small pages, until everything up to `head` has come."""
    found: list[Message] = []
    while since < head:
        frames, meta = await page(client, since_seq=since, limit=2, wait=30)
        found, since = [*found, *frames], meta["next_since_seq"]
    return found


async def test_pages_of_what_was_missed_leave_nothing_out(settings: Settings, raw: str, story: Story) -> None:
    """From the process that sent it already, and from one that reads it from the database."""
    match = await story.match()
    async with streaming(settings) as host, streaming(settings) as other, subscribed(host, raw) as present:
        begun = (await until_alive(present))[-1]["meta"]["seq"]
        await story.offer(match, offer(1), offer(2))
        await story.settle(match, offer(1))
        await story.take_back(match, offer(1))
        await story.settle(match, offer(1))
        seen = bare(await until_present(present, story.store))
        for process in (host, other):
            for limit in (1, 3, 1000):
                async with requesting(process, raw) as client:
                    found, reached = await pages(client, limit=limit, since_seq=begun)
                check_missed(found, seen, limit, begun, reached)


def check_missed(
    found: list[list[Message]], seen: list[Message], limit: int, begun: int, reached: int
) -> None:
    frames = [frame for part in found for frame in part]
    seqs = [frame["meta"]["seq"] for frame in frames[:-1]]
    assert seqs == sorted(set(seqs)) and all(begun < seq <= reached for seq in seqs)
    assert all(len(bare(part)) <= limit for part in found)
    received = bare(frames)
    assert [one for one in received if one["type"] == "bet_settlement"] == [
        one for one in seen if one["type"] == "bet_settlement"
    ]
    assert received[-1] == seen[-1]
    assert frames[-1]["meta"]["snapshot"] is False
    assert frames[-1]["meta"]["seq"] == reached


async def test_a_since_too_old_or_in_the_future_begins_a_snapshot(
    host: str, raw: str, story: Story, store: Store
) -> None:
    match = await story.match(offer(1))
    await story.offer(match, offer(2))
    async with store.transaction() as tx:
        assert await changes.prune(tx, 2**60)
    async with requesting(host, raw) as client:
        for since in (0, 10**15):
            found, _ = await pages(client, since_seq=since, limit=2)
            frames = [frame for part in found for frame in part]
            kinds = sorted(frame["type"] for frame in frames[:-1])
            assert kinds == [*["market.updated"] * 2, "match.updated"]
            assert frames[-1]["meta"]["snapshot"] is True


async def test_a_cursor_from_before_a_restore_leads_to_another_snapshot(
    host: str, raw: str, story: Story
) -> None:
    await story.match(offer(1))
    async with requesting(host, raw) as client:
        frames, meta = await page(client, cursor=f"{10**15}-1")
        assert (frames, meta["more"]) == ([], True)
        frames, _ = await page(client, since_seq=meta["next_since_seq"])
    assert frames[0]["meta"]["snapshot"] is True


async def test_a_request_that_waits_is_answered_by_the_next_change(host: str, raw: str, story: Story) -> None:
    match = await story.match(offer(1))
    async with requesting(host, raw) as client:
        _, since = await pages(client)
        begun = asyncio.get_running_loop().time()
        waiting = asyncio.create_task(page(client, since_seq=since, wait=30))
        await held(1)
        await story.settle(match, offer(1))
        frames, meta = await waiting
        assert asyncio.get_running_loop().time() - begun < 15
        assert {"market.updated", "bet_settlement", "alive"} == {frame["type"] for frame in frames}
        assert meta["next_since_seq"] > since


async def test_a_change_that_the_key_is_not_sent_does_not_end_the_wait(
    host: str, raw: str, issue: IssueKey, story: Story
) -> None:
    match = await story.match(offer(1))
    poor = await issue(bundles=("cs2.stats",))
    async with requesting(host, poor) as client:
        _, since = await pages(client)
        waiting = asyncio.create_task(page(client, since_seq=since, wait=1))
        await held(1)
        await story.settle(match, offer(1))
        (alive,), meta = await waiting
    assert alive["type"] == "alive" and not meta["more"]
    assert meta["next_since_seq"] > since


async def held(count: int) -> None:
    """Wait until so many requests wait."""
    await eventually(
        lambda: REGISTRY.get_sample_value("matchfeed_stream_waiting"), lambda seen: seen == count
    )


@pytest.mark.parametrize("ending", ["revoke", "rotate"])
async def test_a_request_that_waits_ends_when_its_key_does(host: str, issue: IssueKey, ending: str) -> None:
    operator = await issue("house", bundles=("cs2.operator",))
    async with requesting(host, operator) as ops:
        raw, end = await disposable(ops, ending)
        async with requesting(host, raw) as client:
            _, since = await pages(client)
            waiting = asyncio.create_task(client.get(PATH, params={"since_seq": since, "wait": 30}))
            await held(1)
            await end()
            answer = await waiting
    assert answer.status_code == 403 and "not valid" in answer.json()["detail"]
    await held(0)


async def test_a_process_that_stops_answers_who_waits(settings: Settings, raw: str, story: Story) -> None:
    async with AsyncExitStack() as stack:
        async with streaming(settings) as host:
            client = await stack.enter_async_context(requesting(host, raw))
            _, since = await pages(client)
            waiting = asyncio.create_task(page(client, since_seq=since, wait=30))
            await held(1)
        (alive,), meta = await waiting
    assert (alive["type"], meta["next_since_seq"]) == ("alive", since)


async def test_requests_that_wait_count_as_streams_of_the_tenant(
    settings: Settings, issue: IssueKey, story: Story
) -> None:
    settings = msgspec.structs.replace(settings, stream_connections=1)
    raw = await issue(bundles=("cs2.odds.basic",))
    async with streaming(settings) as host, requesting(host, raw) as client:
        _, since = await pages(client)
        waiting = asyncio.create_task(page(client, since_seq=since, wait=30))
        await held(1)
        refused = await client.get(PATH, params={"since_seq": since, "wait": 30})
        assert refused.status_code == 429 and "streams" in refused.json()["detail"]
        assert (await client.get(PATH, params={"since_seq": since})).status_code == 200
        waiting.cancel()
        await held(0)  # a client that has left is noticed
        async with subscribed(host, raw) as stream:
            await until_alive(stream)


async def test_what_is_refused_is_refused_in_words(host: str, raw: str, issue: IssueKey) -> None:
    soccer = await issue(bundles=("cs2.stats",), sports=("soccer",))
    expected: list[tuple[str | None, dict[str, Any], dict[str, str], int, str]] = [
        (None, {}, {}, 401, "X-API-Key"),
        (new_key(), {}, {}, 403, "not valid"),
        (soccer, {}, {}, 403, "cs2"),
        (raw, {"match": "od:match:404404"}, {}, 404, "od:match:404404"),
        (raw, {"match": "nonsense"}, {}, 422, '"loc":["query","match"]'),
        (raw, {"since_seq": "x"}, {}, 422, "since_seq"),
        (raw, {"since_seq": -1}, {}, 422, "since_seq"),
        (raw, {"limit": 0}, {}, 422, "limit"),
        (raw, {"limit": 1001}, {}, 422, "limit"),
        (raw, {"wait": 31}, {}, 422, "wait"),
        (raw, {"cursor": "x"}, {}, 422, "cursor"),
        (raw, {"sinse": 1}, {}, 422, "sinse"),
        (raw, {}, {"Last-Event-ID": "x"}, 422, "Last-Event-ID"),
        (raw, {}, {"Accept": "text/csv"}, 406, "text/event-stream"),
    ]
    async with httpx.AsyncClient(base_url=f"http://{host}") as client:
        for key, query, headers, status, text in expected:
            sent = headers | ({"X-API-Key": key} if key else {})
            answer = await client.get(PATH, params=query, headers=sent)
            assert (answer.status_code, set(answer.json())) == (status, {"detail"}), (query, headers)
            assert text in answer.text


async def test_pages_as_xml_say_the_same(host: str, raw: str, story: Story) -> None:
    await story.match(offer(1))
    async with requesting(host, raw) as client:
        answer = await client.get(PATH, headers={"Accept": "application/xml"})
    assert answer.headers["content-type"] == "application/xml"
    assert 'type="match.updated"' in answer.text and 'next_since_seq="' in answer.text


@pytest.mark.parametrize(
    "properties",
    short_then_long(
        [
            {"scopes": ("cs2:matches:list", "cs2:stream:matches")},
            {"bundles": ("cs2.operator",)},
            {"scopes": ("cs2:markets:read", "cs2:stream:markets")},
            {"bundles": ("cs2.stats",)},
            {"bundles": ("cs2.odds.basic",), "finished_only": True},
        ],
        short=2,
        ids=["matches", "operator", "markets", "no stream scope", "finished only"],
    ),
)
async def test_a_key_is_sent_what_its_scopes_let_through(
    host: str, issue: IssueKey, story: Story, properties: dict[str, Any]
) -> None:
    """The same as on the stream."""
    match = await story.match(offer(1))
    raw = await issue(**properties)
    async with subscribed(host, raw) as stream, requesting(host, raw) as client:
        shown = bare(await until_alive(stream))
        found, since = await pages(client)
        assert by_name(found[0]) == sorted(
            shown, key=lambda frame: msgspec.json.encode(frame, order="sorted")
        )
        await story.offer(match, offer(1, odds=offer(1).odds + 1))
        seen = bare(await until_present(stream, story.store))
        missed, _ = await pages(client, since_seq=since)
        assert bare(missed[0]) == seen


async def test_a_request_about_one_match_waits_for_that_match(host: str, raw: str, story: Story) -> None:
    match, other = await story.match(offer(1)), await story.match(offer(1))
    async with requesting(host, raw) as client:
        _, since = await pages(client, match=f"od:match:{match.number}")
        waiting = asyncio.create_task(page(client, since_seq=since, match=str(match.id), wait=30))
        await held(1)
        await story.settle(other, offer(1))
        await story.settle(match, offer(1))
        frames, _ = await waiting
    settled = [frame["data"]["match_id"] for frame in frames if frame["type"] == "bet_settlement"]
    assert settled == [str(match.id)]
    assert str(other.id) not in msgspec.json.encode(frames).decode()


async def test_page_after_page_the_state_is_loaded_once(
    settings: Settings, raw: str, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads, load = list[UUID | None](), Projection._load_initial

    async def counting(projection: Projection, tx: Tx) -> dict[UUID, MatchState]:
        loads.append(projection.match_id)
        return await load(projection, tx)

    monkeypatch.setattr(Projection, "_load_initial", counting)
    match = await story.match(offer(1))
    async with streaming(settings) as host, requesting(host, raw) as client:
        for _ in range(3):
            await pages(client)
            await page(client, match=str(match.id))
    assert loads.count(None) == 1
    assert loads.count(match.id) == 3  # of one match that is little, and there are many matches


async def test_a_poller_without_clients_ends(
    settings: Settings, raw: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.channels.stream.subscriptions._IDLE_SECONDS", 0)
    ended = asyncio.Event()
    run = Poller.run

    async def watched(poller: Poller) -> None:
        try:
            await run(poller)
        finally:
            ended.set()

    monkeypatch.setattr(Poller, "run", watched)
    async with streaming(settings) as host, requesting(host, raw) as client:
        await pages(client)
        async with asyncio.timeout(60):
            await ended.wait()
        await pages(client)

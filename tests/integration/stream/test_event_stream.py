"""The stream as server-sent events: what is sent, from where it resumes, and how it ends."""

import asyncio
import socket

import msgspec
import pytest
from prometheus_client import REGISTRY

from app.settings import Settings
from app.store import changes
from app.store.connections import Store
from tests.support.changes import PATH, Event, disposable, events, requesting
from tests.support.eventually import eventually
from tests.support.story import Story, offer
from tests.support.streaming import closed_so_far, streaming, subscribed, until_alive, until_present
from tests.support.web import IssueKey


async def test_events_are_the_frames_of_the_stream(host: str, raw: str, story: Story) -> None:
    match = await story.match(offer(1), offer(2))
    async with subscribed(host, raw) as stream, events(host, raw) as client:
        *snapshot, alive = await client.until("alive")
        assert client.response.headers["content-type"] == "text/event-stream"
        begun = await until_alive(stream)
        assert [event.data["data"] for event in snapshot] == [frame["data"] for frame in begun[:-1]]
        assert {event.id for event in snapshot} == {""}
        assert alive.data["meta"]["snapshot"] is True
        await story.settle(match, offer(1))
        await story.offer(match, offer(2, odds=offer(2).odds + 1))
        shown = [frame for frame in await until_present(stream, story.store) if frame["type"] != "alive"]
        seen: list[Event] = []
        while len(seen) < len(shown):
            seen += [event for event in await client.until("alive") if event.name != "alive"]
    assert [event.data for event in seen] == shown
    assert [(event.name, event.id) for event in seen] == [
        (frame["type"], str(frame["meta"]["seq"])) for frame in shown
    ]


async def test_the_last_event_resumes(host: str, raw: str, story: Story) -> None:
    match = await story.match(offer(1))
    async with events(host, raw) as client:
        *_, alive = await client.until("alive")
    await story.settle(match, offer(1))
    await noticed(host, raw, story)
    async with events(host, raw, alive.id, since_seq=0) as client:
        *missed, alive = await client.until("alive")
        assert alive.data["meta"]["snapshot"] is False
        assert "bet_settlement" in {event.name for event in missed}
        first = missed[0].id
    async with events(host, raw, first) as client:
        *rest, _ = await client.until("alive")
    assert [event.id for event in rest] == [event.id for event in missed[1:]]
    async with events(host, raw, since_seq=alive.id, match=str(match.id)) as client:
        (alive,) = await client.until("alive")
        assert alive.data["meta"]["snapshot"] is False


async def test_who_is_cut_off_in_a_snapshot_receives_another(
    settings: Settings, raw: str, story: Story, store: Store
) -> None:
    match = await story.match(offer(1))
    async with streaming(settings) as host, events(host, raw) as client:
        last = (await client.until("alive"))[-1].id
    await story.settle(match, offer(1))
    await story.offer(match, offer(2), offer(3))
    async with store.transaction() as tx:
        assert await changes.prune(tx, 2**60)
    async with streaming(settings) as host:
        for _ in range(2):
            async with events(host, raw, last) as client:
                event = await client.next()
                assert event and event.data["meta"]["snapshot"] is True
                assert event.id == last


async def noticed(host: str, raw: str, story: Story) -> None:
    """Wait until the process has read everything that was written so far."""
    async with subscribed(host, raw) as stream:
        await until_present(stream, story.store)


@pytest.mark.parametrize("ending", ["revoke", "rotate"])
async def test_an_ended_key_ends_its_streams(host: str, issue: IssueKey, ending: str) -> None:
    operator = await issue("house", bundles=("cs2.operator",))
    async with requesting(host, operator) as ops:
        raw, end = await disposable(ops, ending)
        async with events(host, raw) as client:
            await client.until("alive")
            await end()
            closed = (await client.until("closed"))[-1]
            assert closed.data["code"] == 1008
            assert await client.next() is None
        async with requesting(host, raw) as again:
            answer = await again.get(PATH, headers={"Accept": "text/event-stream"})
    assert answer.status_code == 403


async def test_a_process_that_stops_says_so(settings: Settings, raw: str, story: Story) -> None:
    async with streaming(settings) as host:
        await story.match(offer(1))
        stream = events(host, raw)
        client = await stream.__aenter__()
        await client.until("alive")
    closed = (await client.until("closed"))[-1]
    assert closed.data["code"] == 1001
    assert await client.next() is None
    await stream.__aexit__(None, None, None)


async def test_streams_of_a_tenant_are_counted_together(settings: Settings, issue: IssueKey) -> None:
    raw = await issue(bundles=("cs2.odds.basic",))
    settings = msgspec.structs.replace(settings, stream_connections=1)
    async with streaming(settings) as host, requesting(host, raw) as rest:
        headers = {"Accept": "text/event-stream"}
        async with subscribed(host, raw) as stream:
            await until_alive(stream)
            assert (await rest.get(PATH, headers=headers)).status_code == 429
        async with events(host, raw) as client:
            await client.until("alive")
            refused = await rest.get(PATH, headers=headers)
            assert refused.status_code == 429 and "streams" in refused.json()["detail"]

        async def status() -> int:
            async with rest.stream("GET", PATH, headers=headers) as response:
                return response.status_code

        await eventually(status, lambda found: found == 200)  # the one that left is noticed


async def test_a_client_that_reads_too_slowly_is_closed_and_no_other(
    settings: Settings, raw: str, story: Story
) -> None:
    match = await story.match()
    settings = msgspec.structs.replace(settings, stream_backlog=100)
    small = socket.socket()
    small.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    async with streaming(settings, buffer=4096) as host, subscribed(host, raw) as quick:
        name, port = host.split(":")
        small.connect((name, int(port)))
        head = f"GET {PATH} HTTP/1.1\r\nHost: {host}\r\nX-API-Key: {raw}\r\nAccept: text/event-stream\r\n\r\n"
        small.sendall(head.encode())
        small.setblocking(False)
        begun, loop = b"", asyncio.get_running_loop()
        while b"event: alive" not in begun:
            begun += await loop.sock_recv(small, 1024)
        await until_alive(quick)
        before, begin, seen = closed_so_far(4008), 1, set[str]()
        while closed_so_far(4008) == before:
            assert begin < 3000
            await story.offer(match, *map(offer, range(begin, begin + 100)))
            begin += 100
            frames = await until_present(quick, story.store)
            seen |= {frame["data"].get("market_offer_id", "") for frame in frames} - {""}
        assert len(seen) == begin - 1
        # It is cut off, though it has not read to the end; the quick one is not.
        await eventually(
            lambda: REGISTRY.get_sample_value("matchfeed_stream_connections"), lambda left: left == 1
        )
        await until_alive(quick)
        small.close()


async def test_head_begins_no_stream(host: str, raw: str) -> None:
    async with requesting(host, raw) as client:
        answer = await client.head(PATH, headers={"Accept": "text/event-stream"})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/event-stream")

"""Resuming after a seq, and reading too slowly."""

import asyncio
import socket

import msgspec
import pytest
from websockets.exceptions import ConnectionClosed

from app.domain.match import Status
from app.settings import Settings
from app.store import changes
from app.store.connections import Store
from tests.support.story import Story, offer
from tests.support.streaming import (
    Message,
    closed_so_far,
    next_frame,
    streaming,
    subscribed,
    until_alive,
    until_present,
)


def numbered(frames: list[Message]) -> list[tuple[str, int]]:
    return [(frame["type"], frame["meta"]["seq"]) for frame in frames if frame["type"] != "alive"]


@pytest.mark.parametrize("elsewhere", [False, True])
async def test_a_client_that_resumes_receives_what_it_missed_and_no_more(
    settings: Settings, raw: str, story: Story, elsewhere: bool
) -> None:
    """From the process that sent the rest, out of its cache, or from one that reads it from the database."""
    match = await story.match()
    async with streaming(settings) as host, streaming(settings) as other, subscribed(host, raw) as present:
        begun = (await until_alive(present))[-1]["meta"]["seq"]
        await story.offer(match, offer(1), offer(2))
        await story.settle(match, offer(1))
        await story.take_back(match, offer(1))
        await story.settle(match, offer(1))
        seen = numbered(await until_present(present, story.store))
        updates = [one for one in seen if one[0] == "market.updated"]
        superseded = updates[:-1]
        assert [kind for kind, _ in seen].count("bet_settlement") == 3
        for since in (begun, *(seq for _, seq in seen)):
            async with subscribed(other if elsewhere else host, raw, since=since) as client:
                *missed, alive = await until_alive(client)
            assert alive["meta"]["snapshot"] is False
            assert not any("snapshot" in frame["meta"] for frame in missed)
            assert numbered(missed) == [one for one in seen if one[1] > since and one not in superseded]


async def test_each_of_two_connections_of_a_key_receives_what_it_missed(
    host: str, raw: str, story: Story
) -> None:
    """One is cut off and resumes; what the other has received meanwhile counts for the other alone."""
    match = await story.match()
    async with subscribed(host, raw) as staying:
        begun = (await until_alive(staying))[-1]["meta"]["seq"]
        async with subscribed(host, raw) as cut_off:
            await until_alive(cut_off)
        await story.offer(match, offer(1))
        await story.settle(match, offer(1))
        seen = await until_present(staying, story.store)
        async with subscribed(host, raw, since=begun) as back:
            *missed, alive = await until_alive(back)
            assert alive["meta"]["snapshot"] is False
            newest = {(kind, seq) for kind, seq in numbered(seen)}
            assert set(numbered(missed)) <= newest
            assert {frame["type"] for frame in missed} == {
                frame["type"] for frame in seen if frame["type"] != "alive"
            }
            await story.take_back(match, offer(1))
            both = [numbered(await until_present(each, story.store)) for each in (staying, back)]
            assert both[0] == both[1] != []


@pytest.mark.parametrize("ref", [False, True])
async def test_a_since_too_old_or_in_the_future_gets_a_snapshot(
    host: str, raw: str, story: Story, store: Store, ref: bool
) -> None:
    match = await story.match(offer(1))
    await story.offer(match, offer(2))
    async with store.transaction() as tx:
        assert await changes.prune(tx, 2**60)
    for since in (0, 10**15):
        async with subscribed(host, raw, str(match.id) if ref else "", since=since) as client:
            *shown, alive = await until_alive(client)
        assert alive["meta"]["snapshot"] is True
        assert sorted(frame["type"] for frame in shown) == [*["market.updated"] * 2, "match.updated"]
        assert all(frame["meta"]["snapshot"] for frame in shown)
        assert all(0 < frame["meta"]["seq"] <= alive["meta"]["seq"] for frame in shown)


async def test_seqs_outlive_the_pruned_changes(
    settings: Settings, raw: str, story: Story, store: Store
) -> None:
    """A snapshot has the same seqs in a process that read the changes as in one started after pruning."""

    async def snapshot(host: str) -> list[tuple[str, str, int]]:
        async with subscribed(host, raw) as client:
            *shown, _ = await until_alive(client)
        data = [(frame["type"], frame["data"], frame["meta"]["seq"]) for frame in shown]
        return [(kind, frame.get("market_offer_id", frame.get("id")), seq) for kind, frame, seq in data]

    match, over = await story.announce(Status.LIVE), await story.announce(Status.LIVE)
    await story.offer(match, offer(1), offer(2))
    await story.offer(match, offer(1, odds=offer(1).odds + 1))
    await story.offer(over, offer(3))
    async with streaming(settings) as host, streaming(settings) as other, subscribed(host, raw) as connected:
        await until_alive(connected)
        before = await snapshot(host)
        assert len({seq for *_, seq in before}) == len(before) == 5
        async with store.transaction() as tx:
            assert await changes.prune(tx, 2**60)
        assert await snapshot(other) == await snapshot(host) == before
        await story.finish(over)
        async with store.transaction() as tx:
            assert await changes.prune_seqs(tx) == 1  # the newest envelope's seq is never pruned
        while (await next_frame(connected))["type"] != "match.finished":
            pass
        assert {seq for *_, seq in await snapshot(host)} < {seq for *_, seq in before}


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
        async with subscribed(host, raw, sock=small, max_queue=1) as slow:
            await until_alive(quick)
            seen: list[Message] = []
            before, begin = closed_so_far(4008), 1
            while closed_so_far(4008) == before:
                assert begin < 3000
                await story.offer(match, *map(offer, range(begin, begin + 100)))
                begin += 100
                seen += await until_present(quick, story.store)
            assert len({frame["data"].get("market_offer_id") for frame in seen} - {None}) == begin - 1
            last = 0
            with pytest.raises(ConnectionClosed):
                while True:
                    last = (await next_frame(slow))["meta"]["seq"]
            assert slow.close_code == 4008
        async with subscribed(host, raw, since=last) as again:
            missed = numbered(await until_alive(again))
        assert missed == [one for one in numbered(seen) if one[1] > last]


async def test_another_server_protocol_works_too(settings: Settings, raw: str, story: Story) -> None:
    """Without our protocol, frames are sent one by one."""
    match = await story.match()
    async with streaming(settings, ws="auto") as host, subscribed(host, raw) as client:
        await until_alive(client)
        await story.offer(match, *map(offer, range(1, 50)))
        received = numbered(await until_present(client, story.store))
        assert len(received) == 49
        assert [seq for _, seq in received] == sorted(seq for _, seq in received)
        async with asyncio.timeout(60):
            await client.close()

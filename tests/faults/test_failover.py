"""The database fails over to a standby while everything runs: with commits missing, and without.

Two feed processes, a web process, a tenant whose client recovers when it is notified, and one of the stream
that resumes. What they had received when the primary was killed may be unknown to the promoted server.
"""

import asyncio
import contextlib
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
import websockets

from app.domain.match import Match
from app.kit.errors import Unavailable
from app.operations.restoration.failover import DatabaseFailover
from app.settings import Settings
from app.store.alerts import AlertKind
from app.store.connections import Store, open_store
from tests.faults.keys import issue
from tests.faults.rig import Consumer, Rig, consuming, rigged, until
from tests.support import standby, stored
from tests.support.folding import Folded, Message
from tests.support.meanwhile import meanwhile
from tests.support.processes import ROOT
from tests.support.standby import Pair
from tests.support.story import Story, offer
from tests.support.streaming import next_frame, streaming, subscribed

sys.path.insert(0, str(ROOT / "scripts" / "client"))
from matchfeed_client import Client


def of_present(consumer: Consumer, mark: int) -> set[int]:
    """The numbers received that were assigned after the fail-over."""
    return {seq for seq in consumer.seqs if seq > mark}


class Resuming:
    """A client of the stream that connects again, `since` the highest seq that it has. A frame of one seq is
    always the same frame, in all its connections."""

    def __init__(self, host: str, key: str) -> None:
        self.folded = Folded()
        self.connections = 0
        self._host, self._key = host, key
        self._seen: dict[int, Message] = {}
        self.contradictions: list[tuple[Message, Message]] = []

    async def run(self) -> None:
        while True:
            since = self.folded.last if self.connections else None
            self.connections += 1
            self.folded.connected()
            with contextlib.suppress(OSError, TimeoutError, websockets.WebSocketException):
                async with subscribed(self._host, self._key, since=since) as client:
                    while True:
                        self._receive(await next_frame(client))
            await asyncio.sleep(0.1)

    def _receive(self, frame: Message) -> None:
        seq = frame["meta"]["seq"]
        if frame["type"] != "alive" and "snapshot" not in frame["meta"]:
            known = self._seen.setdefault(seq, msgspec.json.decode(msgspec.json.encode(frame)))
            if known["type"] != frame["type"] or known["meta"].get("hash") != frame["meta"].get("hash"):
                self.contradictions.append((known, frame))
        self.folded.fold(frame)


class Everyone:
    """All that take part."""

    def __init__(self, rig: Rig, consumer: Consumer, client: Client, stream: Resuming, rest: Any) -> None:
        self.rig, self.consumer, self.client, self.stream = rig, consumer, client, stream
        self.rest: httpx.AsyncClient = rest
        self.story = Story(rig.store)

    async def has_it_all(self) -> None:
        """What is committed has arrived over AMQP and on the stream, and the client's book is complete."""
        async with self.rig.store.autocommit() as tx:
            head: int = await tx.value("SELECT max(envelope_seq) FROM change WHERE message <> ''")
        book = self.client.book
        await until("it arrives over AMQP", lambda: head in self.consumer.seqs)
        await until("it arrives on the stream", lambda: self.stream.folded.last >= head)
        await until("the client has recovered", lambda: not book.due and not book.recovery)

    async def check_agreement(self, *matches: Match) -> None:
        """The client's book, the stream and REST have the same markets, some of which are open."""

        async def compared() -> bool:
            found = await self.client.compare()
            return not found.differences and found.markets > 0

        await until("the book is the service's", compared)
        for match in matches:
            shown = (await self.rest.get(f"/cs2/v1/matches/{match.id}/markets")).json()["data"]
            offered = {
                one["market_offer_id"]: one for one in shown if one["status"] in ("active", "suspended")
            }
            assert self.stream.folded.offers[str(match.id)] == offered, match.number


@asynccontextmanager
async def running(servers: Pair, settings: Settings, directory: Path) -> AsyncIterator[Everyone]:
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        store = await enter(await open_store(servers.url, 4, failover=DatabaseFailover()))
        rig = await enter(rigged(settings, store, directory))
        tenant, url = await rig.tenant()
        key = (await issue(rig, tenant.slug, rate_limit_rpm=100_000)).raw
        host = await enter(streaming(settings))
        base = f"http://{host}"
        rest = await enter(httpx.AsyncClient(base_url=base, headers={"X-API-Key": key}))
        consumer = await enter(consuming(url, settings.exchange))
        client = await enter(Client(url, base, key, exchange=settings.exchange))
        stream = Resuming(host, key)
        await enter(meanwhile(stream.run(), consumed(client)))
        for _ in range(2):
            await rig.feed(ALIVE_SECONDS="2", FEED_LEASE_MILLIS="3000")
        await until("alive", lambda: consumer.alives and not client.book.due)
        yield Everyone(rig, consumer, client, stream, rest)


async def consumed(client: Client) -> None:
    async for _ in client:
        pass


async def timeline_row(store: Store) -> Any:
    async with store.autocommit() as tx:
        return await tx.row("SELECT * FROM database_timeline")


async def failover_alert(store: Store) -> str:
    found = await stored.open_alerts(store, AlertKind.DATABASE_FAILOVER)
    return found[0].detail if found else ""


@asynccontextmanager
async def traffic(everyone: Everyone, match: Match) -> AsyncIterator[None]:
    """Odds of a match change all the time, whenever the database can be written to."""

    async def write() -> None:
        for number in count():
            with contextlib.suppress(Unavailable):
                await everyone.story.offer(match, offer(1 + number % 3, probability=0.2 + number % 60 / 100))
            await asyncio.sleep(0.01)

    async with meanwhile(write()):
        yield


@pytest.mark.parametrize(
    "synchronous",
    [
        pytest.param(False, id="asynchronous"),
        pytest.param(True, id="synchronous", marks=pytest.mark.long),
    ],
)
async def test_books_rest_and_stream_agree_afterwards(
    standby_data: Path, settings: Settings, tmp_path: Path, *, synchronous: bool
) -> None:
    async with standby.pair(standby_data, synchronous=synchronous) as servers:
        settings = msgspec.structs.replace(
            settings, database_url=servers.url, stream_poll_all_millis=100, alive_seconds=2
        )
        async with running(servers, settings, tmp_path) as everyone:
            story, consumer, store = everyone.story, everyone.consumer, everyone.rig.store
            match, steady = await story.match(offer(1), offer(2), offer(3)), await story.match()
            await everyone.has_it_all()
            if not synchronous:
                await servers.lag()
            # What the clients have of this may be forgotten: a market, a result, a match.
            await story.offer(match, offer(4))
            await story.settle(match, offer(2))
            newest = await story.announce()
            await story.offer(newest, offer(1))
            await everyone.has_it_all()
            async with traffic(everyone, steady):
                await until("odds change", lambda: len(consumer.live) > 30)
                notices = consumer.downs
                servers.primary.kill()
                killed = time.monotonic()
                await servers.promote()
                await until("the tenant is notified", lambda: consumer.downs > notices)
                print(f"notified {time.monotonic() - killed:.1f} s after the primary was killed")
                row = await timeline_row(store)
                await until("odds change again", lambda: len(of_present(consumer, row["mark"])) > 30)
            await story.offer(match, offer(1), offer(5))
            await everyone.has_it_all()
            kept = [match, steady, newest] if synchronous else [match, steady]
            await everyone.check_agreement(*kept)
            row, said = await timeline_row(store), await failover_alert(store)
    mark = row["mark"]
    consumer.check_identity()
    assert everyone.stream.contradictions == [] and everyone.stream.connections > 1
    first = consumer.notices[notices]
    assert all(got.seq < mark for got in consumer.got[:first] if got.seq)
    assert all(got.seq > mark for got in consumer.got[first:] if got.seq), "nothing of before comes later"
    received = max(consumer.seqs - of_present(consumer, mark))
    assert max(row["head"], row["known_seq"]) >= received, "all that was received is known"
    if synchronous:
        assert row["head"] >= received and said.startswith("no process knows of a lost commit")
    else:
        assert row["head"] < received and said.startswith(f"commits are lost, up to seq {row['known_seq']} ")
        assert str(newest.id) not in everyone.stream.folded.matches

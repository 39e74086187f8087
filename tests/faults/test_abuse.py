"""A tenant does its worst with its broker login: the others go on receiving, and the log sink taking."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import aio_pika
import httpx
import pytest
from aio_pika.abc import AbstractIncomingMessage
from aio_pika.exceptions import AMQPError

from app.broker.connection import open_connection
from app.settings import Settings
from app.store.connections import Store
from tests.faults import fold
from tests.faults.broker import PrivateBroker
from tests.faults.rig import Rig, consuming, rigged, until
from tests.support import unfinished
from tests.support.eventually import eventually
from tests.support.life import Life, Living
from tests.support.meanwhile import meanwhile
from tests.support.queues import private_vhost
from tests.support.story import Story
from tests.support.tenant_operations import REFUSED
from tests.support.web import issuing, serving

#: Bytes that the broker may use beyond what it needs at rest.
SPARE = 96 * 1024 * 1024
BODY = aio_pika.Message(bytes(8192))
MATCH = {"team_a": "A", "team_b": "B", "event": "Cup", "bo_type": "bo1", "scheduled_at": 1_800_000_000_000}
REFUSALS = (AMQPError, OSError, RuntimeError, TimeoutError)


@pytest.fixture
async def rig(settings: Settings, store: Store, tmp_path: Path, broker: PrivateBroker) -> AsyncIterator[Rig]:
    async with private_vhost(broker.used_by(settings)) as private, rigged(private, store, tmp_path) as rig:
        await broker.narrow(SPARE)
        yield rig
        await broker.feed()


class Sink:
    """Posts a line to the log of a match, again and again; `answers` are the statuses, newest last."""

    def __init__(self, client: httpx.AsyncClient, url: str) -> None:
        self._client, self._url, self.answers = client, url, list[int]()

    async def post(self) -> int:
        answer = await self._client.post(
            self._url, content=b"a line\n", headers={"Content-Type": "text/plain"}
        )
        self.answers.append(answer.status_code)
        return answer.status_code

    async def run(self) -> None:
        while True:
            await self.post()
            await asyncio.sleep(0.1)


@asynccontextmanager
async def sink(rig: Rig) -> AsyncIterator[Sink]:
    """A log sink in this process, being posted to."""
    key = await issuing(rig.store, rig.settings.secret_key)("house", bundles=("cs2.operator",))
    async with serving(rig.settings) as client:
        made = await client.post("/ops/v1/matches", headers={"X-API-Key": key}, json=MATCH)
        posting = Sink(client, made.json()["data"]["log_sink_url"])
        await eventually(posting.post, lambda status: status == 200)
        posting.answers.clear()
        async with meanwhile(posting.run()):
            yield posting


@asynccontextmanager
async def going_on(*work: asyncio.Task[None]) -> AsyncIterator[None]:
    try:
        yield
    finally:
        pending = set(work)
        while pending:  # the client library may answer a cancellation with an error of its own
            for task in pending:
                task.cancel()
            _, pending = await asyncio.wait(pending, timeout=0.1)


async def hold(url: str, slug: str, exchange: str) -> None:
    """Ten queues of everything, bound in many ways; nothing is acknowledged."""

    async def ignore(message: AbstractIncomingMessage) -> None: ...

    async with open_connection(url, 5) as connection:
        channel = await connection.channel()
        for number in range(10):
            queue = await channel.declare_queue(f"{slug}.{number}", durable=True)
            await queue.bind(exchange, "#")
            for match in range(50):
                await queue.bind(exchange, f"#.od:match.{match}.#")
            await queue.consume(ignore)
        await asyncio.Event().wait()


async def fill(url: str, slug: str) -> None:
    """Publish into a queue of its own whichever way there may be, as much as the broker takes."""
    async with open_connection(url, 5) as connection:
        for name in ("", f"{slug}.x"):
            with contextlib.suppress(AMQPError, RuntimeError):
                channel = await connection.channel(publisher_confirms=False)
                exchange = await channel.declare_exchange(name) if name else channel.default_exchange
                if name:
                    await (await channel.get_queue(f"{slug}.0")).bind(exchange, f"{slug}.0")
                for _ in range(36_000):
                    await exchange.publish(BODY, f"{slug}.0")


async def try_everything(url: str, slug: str) -> None:
    """One refused operation after another, and publishing, for ever."""
    while True:
        for operation in REFUSED.values():
            with contextlib.suppress(*REFUSALS):
                async with open_connection(url, 5) as connection:
                    await operation(await connection.channel(), slug)
        with contextlib.suppress(*REFUSALS):
            await fill(url, slug)


async def test_an_abusive_tenant_does_not_affect_others(rig: Rig, broker: PrivateBroker) -> None:
    async with AsyncExitStack() as stack:
        abuser, url = await rig.tenant()
        _, honest_url = await rig.tenant()
        exchange = rig.settings.exchange
        honest = await stack.enter_async_context(consuming(honest_url, exchange))
        await rig.feed(ALIVE_SECONDS="1")
        await until("alive", lambda: honest.alives)
        posting = await stack.enter_async_context(sink(rig))
        holding = asyncio.create_task(hold(url, abuser.slug, exchange))
        trying = asyncio.create_task(try_everything(url, abuser.slug))
        await stack.enter_async_context(going_on(holding, trying))
        living = Living(Life(Story(rig.store), 3), pause=0.01)
        await living.more(200)
        await living.end()
        everything = await fold.everything(rig.store)
        await until("the other has all", lambda: honest.seqs == everything)
        assert not await broker.alarmed()
        assert honest.downs == 0
        assert len(posting.answers) > 20 and set(posting.answers) == {200}
        fold.check(honest, await fold.ledger_of(rig.store))


@pytest.mark.long
async def test_an_endless_message_delays_others_briefly(rig: Rig, broker: PrivateBroker) -> None:
    """It fills the broker to its alarm, for rights are looked at when a message is there; who sends it is cut
    off, and all that waited comes."""
    async with AsyncExitStack() as stack:
        abuser, url = await rig.tenant()
        _, honest_url = await rig.tenant()
        honest = await stack.enter_async_context(consuming(honest_url, rig.settings.exchange))
        await rig.feed(ALIVE_SECONDS="1")
        await until("alive", lambda: honest.alives)
        posting = await stack.enter_async_context(sink(rig))
        flood = await stack.enter_async_context(unfinished.publishing(url, rig.settings.exchange))
        sending = asyncio.create_task(unfinished.send(flood, 16 * SPARE))
        await until("the alarm", broker.alarmed)
        began = time.monotonic()
        living = Living(Life(Story(rig.store), 4), pause=0.01)
        await living.more(50)
        await living.end()
        await until("the alarm is over", lambda: _calm(broker), 60)
        print(f"the alarm was over after {time.monotonic() - began:.1f} s")
        with pytest.raises(OSError):
            await sending
        everything = await fold.everything(rig.store)
        await until("the other has all", lambda: honest.seqs == everything)
        await eventually(posting.post, lambda status: status == 200)
        assert not await rig.management.connection_count(f"op-{abuser.slug}")


async def _calm(broker: PrivateBroker) -> bool:
    return not await broker.alarmed()

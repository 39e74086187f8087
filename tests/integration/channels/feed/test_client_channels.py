"""The client package beside the queue of live messages: the stream, and a replay."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from matchfeed_client import ClientError, Rest, Results
from matchfeed_client import messages as m
from matchfeed_client.replays import Replay
from matchfeed_client.stream import Stream

from app.domain.ids import match_urn
from app.store.connections import Store
from tests.faults.keys import issue
from tests.faults.rig import Rig, consuming
from tests.support.eventually import eventually
from tests.support.meanwhile import meanwhile
from tests.support.processes import ROOT
from tests.support.story import Story, offer
from tests.support.wire import serving_http

Access = dict[str, str]


@pytest.fixture
async def access(rig: Rig) -> AsyncIterator[Access]:
    """A tenant's login, and the address of a service that publishes to it."""
    tenant, url = await rig.tenant()
    key = (await issue(rig, tenant.slug)).raw
    await rig.feed()
    async with serving_http(rig.settings) as port:
        yield {"amqp_url": url, "base_url": f"http://127.0.0.1:{port}", "api_key": key}


async def follow(stream: Stream, frames: list[dict[str, Any]]) -> None:
    async for frame in stream:
        frames.append(frame)


def shown(stream: Stream) -> dict[str, str]:
    return {key.specifiers: str(offer.odds) for _, key, offer in stream.book.open()}


async def test_the_stream_resumes_where_it_was_left(access: Access, story: Story) -> None:
    first, second = offer(1), offer(2, odds=Decimal("2.1"))
    match = await story.match(first)
    stream, frames = Stream(access["base_url"], access["api_key"]), list[dict[str, Any]]()
    assert stream.book.stale
    async with meanwhile(follow(stream, frames)):
        await eventually(lambda: shown(stream) == {first.specifiers: "1.85"})
    since = stream.since
    await story.settle(match, first)
    await story.offer(match, second)
    resumed, missed = Stream(access["base_url"], access["api_key"], book=stream.book, since=since), []
    assert not shown(resumed), "nothing is open before what was missed has come"
    async with meanwhile(follow(resumed, missed)):
        await eventually(lambda: shown(resumed) == {second.specifiers: "2.1"})
    assert [frame["type"] for frame in missed if frame["type"] == "bet_settlement"]
    assert not any(frame["meta"].get("snapshot") for frame in missed)


async def test_a_refused_key_ends_the_stream_with_what_to_do(access: Access) -> None:
    with pytest.raises(ClientError, match="key"):
        await follow(Stream(access["base_url"], "mfk_unknown"), [])


async def test_a_replay_has_the_messages_of_then_and_ends(
    rig: Rig, store: Store, story: Story, access: Access
) -> None:
    async with consuming(access["amqp_url"], rig.settings.exchange) as live:
        match, _ = await story.settled()
        await story.finish(match)
        await eventually(lambda: len(live.live) == 5)
    messages, results = list[Any](), Results()
    async with Rest(access["base_url"], access["api_key"]) as rest:
        replay = Replay(access["amqp_url"], rest, [match_urn(match.number)], node="7", max_delay=0)
        async with asyncio.timeout(60):
            async for message in replay:
                messages.append(message)
                results.receive(message)
    assert len(messages) == len(live.live)
    assert isinstance(messages[0], m.FixtureChange | m.OddsChange)
    assert [row["outcome"] for row in results.rows()] == ["won"]
    with pytest.raises(ClientError, match="od:match:999999"):
        async with Rest(access["base_url"], access["api_key"]) as rest:
            async for _ in Replay(access["amqp_url"], rest, ["od:match:999999"]):
                pass


@pytest.mark.parametrize("name", ["amqp", "pages", "events", "websocket"])
async def test_each_example_prints_what_comes_until_it_is_interrupted(
    access: Access, story: Story, tmp_path: Path, name: str
) -> None:
    await story.match(offer(1))
    here, state = tmp_path / "here", tmp_path / "state"
    here.mkdir()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-u", str(ROOT / "scripts/client/examples" / f"{name}.py")),
        env=os.environ
        | {variable.upper(): value for variable, value in access.items()}
        | {"PYTHONPATH": str(ROOT / "scripts/client"), "MATCHFEED_STATE": str(state)},
        cwd=here,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(60):
            while not (line := await process.stdout.readline()).endswith(b" 1 markets are open\n"):
                assert line, "it has ended by itself"
            process.send_signal(signal.SIGINT)
            _, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 130 and b"Traceback" not in errors, errors
    assert os.listdir(here) == [] and len(os.listdir(state)) == 1

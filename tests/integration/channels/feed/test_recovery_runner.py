"""Recoveries as a tenant's client receives them, from a feed process of its own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aio_pika
import msgspec
import pytest
from aio_pika.abc import AbstractIncomingMessage
from lxml import etree

from app.domain.recovery import RecoveryKind, RecoveryState
from app.kit.clock import system_clock
from app.kit.errors import Conflict
from tests.faults.rig import Rig, consume, until
from tests.support.eventually import eventually
from tests.support.recoveries import ended, held_up, recover
from tests.support.story import Story, offer
from tests.support.tenants import book


class Received(msgspec.Struct, frozen=True):
    """A message as it came, and its parsed root."""

    key: str
    message: AbstractIncomingMessage
    root: etree._Element

    @property
    def request_id(self) -> str | None:
        return self.root.get("request_id")


@asynccontextmanager
async def receiving(url: str, exchange: str, *bindings: str) -> AsyncIterator[list[Received]]:
    """What comes to a queue with these bindings, as it comes."""
    received: list[Received] = []

    async def take(message: AbstractIncomingMessage) -> None:
        received.append(Received(message.routing_key or "", message, etree.fromstring(message.body)))

    async with await aio_pika.connect(url) as connection:
        await consume(await connection.channel(), exchange, take, *bindings)
        yield received


def _find(received: list[Received], tag: str) -> list[Received]:
    return [each for each in received if each.root.tag == tag]


async def ends(received: list[Received], count: int = 1) -> list[Received]:
    """The ends of recoveries, once so many have come."""
    return await eventually(lambda: _find(received, "snapshot_complete"), lambda found: len(found) == count)


async def test_a_recovery_from_beginning_to_end(rig: Rig, story: Story) -> None:
    tenant, url = await rig.tenant()
    match, bare = await story.match(), await story.match()
    await story.offer(match, offer(1), offer(2), offer(3))
    after = story.at
    await story.settle(match, offer(1))
    settled_at = story.at - 1
    await story.void(match, offer(2))
    await rig.feed()
    async with receiving(url, rig.settings.exchange, "#") as received:
        job = await recover(rig.store, tenant, "41", node_id="9", after=after)
        done = await ended(rig.store, job)
        await ends(received)
    assert (done.state, done.error) == (RecoveryState.COMPLETED, "")
    assert (done.envelopes, done.steps_done) == (4, done.steps)
    replayed = [each for each in received if each.request_id == "41"]
    live = "lo.-.live.{}.2.od:match.{}.9"
    assert [each.key for each in replayed] == [
        live.format("odds_change", match.number),
        live.format("odds_change", bare.number),
        live.format("bet_settlement", match.number),
        live.format("bet_cancel", match.number),
        "-.-.-.snapshot_complete.-.-.-.9",
    ]
    for each in replayed:
        assert each.message.headers["recovery"] == 1
        assert each.message.content_type == "application/xml"
        assert each.message.timestamp and each.root.get("product") == "2"
        assert int(each.message.timestamp.timestamp()) == int(each.root.get("timestamp", "0")) // 1000
    odds, empty, settlement, _, _ = replayed
    assert [market.get("specifiers") for market in odds.root.iter("market")] == [offer(3).specifiers]
    assert empty.root.find("odds") is not None and not list(empty.root.iter("market"))
    assert abs(int(odds.root.get("timestamp", "0")) - system_clock()) < 60_000
    assert int(settlement.root.get("timestamp", "0")) == settled_at
    assert [each.message.headers["x-seq"] > 0 for each in replayed[:-1]] == [True, False, True, True]
    assert done.steps == len(["present", "ledger", "the end"])
    again = await recover(rig.store, tenant, "42", node_id="9")
    assert again.token == job.token + 1


async def test_a_request_right_after_the_end_is_accepted(rig: Rig) -> None:
    tenant, url = await rig.tenant()
    await rig.feed()
    async with receiving(url, rig.settings.exchange, "-.-.-.snapshot_complete.#") as received:
        for number in range(1, 11):
            await recover(rig.store, tenant, str(number))
            await ends(received, number)
    assert [each.request_id for each in received] == [str(number) for number in range(1, 11)]


async def test_matches_are_replayed_in_the_order_of_requests_beside_everything(
    rig: Rig, story: Story
) -> None:
    """While one match cannot be read, further requests of the same node are accepted; each is completed."""
    tenant, url = await rig.tenant()
    match = await story.match(offer(1))
    await rig.feed()
    async with receiving(url, rig.settings.exchange, "#") as received:
        async with held_up(rig.store, match):
            for request_id, kind in (
                ("1", RecoveryKind.EVENT_ODDS),
                ("2", RecoveryKind.EVENT_STATEFUL),
                ("3", RecoveryKind.EVENT_ODDS),
            ):
                await recover(rig.store, tenant, request_id, node_id="9", kind=kind, match=match)
            whole = await recover(rig.store, tenant, "4", node_id="9")
        await ended(rig.store, whole)
        complete = [each.request_id for each in await ends(received, 4)]
    assert sorted(complete) == ["1", "2", "3", "4"]
    assert [request_id for request_id in complete if request_id != "4"] == ["1", "2", "3"]


async def test_nodes_of_one_tenant_run_beside_each_other(rig: Rig, story: Story) -> None:
    tenant, url = await rig.tenant()
    for _ in range(60):
        await story.match()
    await rig.feed()
    async with receiving(url, rig.settings.exchange, "#") as received:
        accepted = [await recover(rig.store, tenant, "5", node_id=str(node)) for node in range(1, 7)]
        with pytest.raises(Conflict):
            await recover(rig.store, tenant, "6", node_id="3")
        assert {(await ended(rig.store, job)).state for job in accepted} == {RecoveryState.COMPLETED}
        await ends(received, 6)
    for node in range(1, 7):
        mine = [each for each in received if each.key.endswith(f".{node}")]
        assert len(mine) == 61 and mine[-1].root.tag == "snapshot_complete"


async def test_an_end_that_no_queue_receives_fails_the_recovery_published_once(
    rig: Rig, story: Story
) -> None:
    tenant, url = await rig.tenant()
    await story.match()
    process = await rig.feed()
    async with receiving(url, rig.settings.exchange, "lo.#") as received:
        done = await ended(rig.store, await recover(rig.store, tenant, "5"))
        assert (done.state, done.attempts, done.envelopes) == (RecoveryState.FAILED, 1, 1)
        assert "did not reach any queue" in done.error
        assert [(each.root.tag, each.request_id) for each in received] == [("odds_change", "5")]
    (line,) = await eventually(lambda: process.lines("recovery failed"))
    assert {name: line[name] for name in ("tenant", "recovery", "node", "attempt", "level", "error")} == {
        "tenant": tenant.slug,
        "recovery": "5",
        "node": "-",
        "attempt": 1,
        "level": "error",
        "error": done.error,
    }
    await recover(rig.store, tenant, "7")


async def test_an_end_that_no_queue_received_comes_once_one_is_bound(rig: Rig, story: Story) -> None:
    """By itself: what was published before it is not published again."""
    tenant, url = await rig.tenant()
    await story.match()
    await rig.feed()
    exchange = rig.settings.exchange
    async with receiving(url, exchange, "lo.#") as received:
        job = await recover(rig.store, tenant, "5")
        await eventually(lambda: _find(received, "odds_change"))
        async with receiving(url, exchange, "-.-.-.snapshot_complete.#") as end:
            done = await ended(rig.store, job)
            await ends(end)
    assert (done.state, done.attempts, done.error) == (RecoveryState.COMPLETED, 1, "")
    assert [(each.root.tag, each.request_id) for each in (*received, *end)] == [
        ("odds_change", "5"),
        ("snapshot_complete", "5"),
    ]


@pytest.mark.parametrize("fault", ["kill", "pause"])
async def test_what_a_process_loses_in_the_middle_is_run_again(rig: Rig, story: Story, fault: str) -> None:
    tenant, url = await rig.tenant()
    created = [await story.match() for _ in range(60)]
    process = await rig.feed()
    async with receiving(url, rig.settings.exchange, "lo.#", "-.-.-.snapshot_complete.#") as received:
        async with held_up(rig.store, created[-1]):
            job = await recover(rig.store, tenant, "5")
            await eventually(lambda: _find(received, "odds_change"), lambda found: len(found) == 50)
            if fault == "kill":
                await process.kill()
            else:
                process.pause()
        await rig.feed()
        done = await ended(rig.store, job)
        await ends(received)
        if fault == "pause":
            process.resume()
            await until("noticed", lambda: process.logged("starting a new session under another name"))
    assert (done.state, done.attempts) == (RecoveryState.COMPLETED, 2)
    assert len(received) == 50 + 60 + 1, "the stopped process published something"
    last = [each.root.get("event_id") for each in received[50:-1]]
    assert last == [f"od:match:{match.number}" for match in created]
    assert received[-1].root.tag == "snapshot_complete"


async def test_unbooked_between_two_recoveries(rig: Rig, story: Story) -> None:
    tenant, url = await rig.tenant()
    match = await story.match()
    await rig.feed()
    async with receiving(url, rig.settings.exchange, "lo.#", "-.-.-.snapshot_complete.#") as received:
        await ended(rig.store, await recover(rig.store, tenant, "5"))
        await book(rig.store, match, False, tenant.slug)
        await ended(rig.store, await recover(rig.store, tenant, "6"))
        await ends(received, 2)
    assert [(each.root.tag, each.request_id) for each in received] == [
        ("odds_change", "5"),
        ("snapshot_complete", "5"),
        ("snapshot_complete", "6"),
    ]

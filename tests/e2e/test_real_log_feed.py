"""The main job, whole: a real server's log in at one end, a bookmaker's queue at the other.

The service's own processes run as in production, and `matchfeed match send-log` plays the log fifty times as
fast as it was. What the bookmaker received agrees with the log, read independently.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import msgspec
import pytest
from lxml import etree

from app.domain.market import specifier_values
from app.settings import Settings
from app.store.connections import Store
from scripts.local_services.ports import free_ports
from tests.faults.rig import Consumer, Rig, consuming, rigged, until
from tests.support import real_match, truth
from tests.support.eventually import eventually
from tests.support.processes import ROOT, environment, output, started
from tests.support.queues import private_vhost
from tests.support.web import answers, issuing

SPEED = "50"
Market = tuple[int, str]
ROUND_WINNER = 13
#: The market types of a match of one map: all but those of a series (2 to 5). At this speed many rounds are
#: over before they were on offer, so that it depends on the moment whether kills with the AWP (16, 33), which
#: nobody can buy in a pistol round, and those of players (36 to 40) are offered.
ON_ONE_MAP, SOMETIMES = {1, *range(6, 41)}, {16, 33, *range(36, 41)}
SCHEMA = etree.XMLSchema(etree.parse(ROOT / "schemas" / "feed.xsd"))


@pytest.fixture
async def rig(settings: Settings, store: Store, tmp_path: Path) -> AsyncIterator[Rig]:
    public = msgspec.structs.replace(settings, public_url=f"http://127.0.0.1:{free_ports([0])[0]}")
    async with private_vhost(public) as private, rigged(private, store, tmp_path) as rig:
        yield rig


@asynccontextmanager
async def service(rig: Rig, directory: Path) -> AsyncIterator[None]:
    """Web, ingest and feed processes."""
    port = rig.settings.public_url.rpartition(":")[2]
    async with (
        started("serve", rig.settings, directory, "--port", port),
        started("ingest", rig.settings, directory),
        started("feed", rig.settings, directory),
    ):
        yield


async def play(rig: Rig, match_id: str, log: str, directory: Path) -> None:
    """`matchfeed match send-log`, to its end."""
    file = directory / "server.log"
    file.write_text(log)
    command = ("-m", "app.cli", "match", "send-log", file, "--match", match_id, "--speed", SPEED)
    variables = os.environ | environment(rig.settings)
    await asyncio.to_thread(output, sys.executable, *command, cwd=ROOT, env=variables)


def received(consumer: Consumer, kind: str) -> Iterator[etree._Element]:
    for got in consumer.live:
        if got.key.split(".")[3] == kind:
            yield etree.fromstring(got.body)


def results(consumer: Consumer) -> dict[Market, str]:
    """The last state of each settled market; what was rolled back and not settled again is left out."""
    last: dict[Market, str] = {}
    for got in consumer.live:
        root = etree.fromstring(got.body)
        for market in root.iter("market"):
            key = int(market.get("id", "0")), market.get("specifiers", "")
            if root.tag == "bet_settlement":
                last[key] = market[0].get("result", "")
            elif root.tag == "rollback_bet_settlement":
                del last[key]
    return last


def over(consumer: Consumer) -> bool:
    states = (root.find("sport_event_status") for root in received(consumer, "odds_change"))
    return any(state is not None and state.get("status") == "4" for state in states)


async def test_the_queue_receives_the_truth_about_the_real_match(
    rig: Rig, store: Store, real_log: str, tmp_path: Path
) -> None:
    key = await issuing(store, rig.settings.secret_key)(bundles=("cs2.operator",))
    _, url = await rig.tenant()
    async with (
        service(rig, tmp_path),
        consuming(url, rig.settings.exchange) as consumer,
        httpx.AsyncClient(base_url=rig.settings.public_url, trust_env=False) as client,
    ):
        await until("the feed is alive", lambda: consumer.alives, 30)
        await eventually(lambda: answers(client), seconds=30)
        match = await real_match.create(client, key, real_log)
        await play(rig, match.id, real_log, tmp_path)
        await until("the match is published as over", lambda: over(consumer), 30)
        open_at_end = await match.get("/markets")
    check(consumer, truth.derive(real_log))
    assert open_at_end == []


def check(consumer: Consumer, true: truth.Truth) -> None:
    """Each envelope is valid and published once, in order; each market offered was settled as in the log."""
    for got in consumer.live:
        SCHEMA.assertValid(etree.fromstring(got.body))
    consumer.check_order()
    assert consumer.repeats == 0
    settled = results(consumer)
    offered = {
        (int(market.get("id", "0")), market.get("specifiers", ""))
        for root in received(consumer, "odds_change")
        for market in root.iter("market")
    }
    types = {type_id for type_id, _ in offered}
    assert types | SOMETIMES == ON_ONE_MAP
    assert (16 in types) is (33 in types) and (36 in types) is (37 in types), "no yes without its no"
    winners = {specifiers for type_id, specifiers in offered if type_id == ROUND_WINNER}
    assert len(winners) > 2, "only the first round was offered"
    void = {key for key in offered if truth.is_void(true, key[0], specifier_values(key[1]))}
    assert set(settled) == offered - void
    assert {
        (int(market.get("id", "0")), market.get("specifiers", ""))
        for root in received(consumer, "bet_cancel")
        for market in root.iter("market")
    } == void
    for (type_id, specifiers), result in settled.items():
        expected = "1" if truth.is_won(true, type_id, specifier_values(specifiers)) else "0"
        assert (type_id, specifiers, result) == (type_id, specifiers, expected)

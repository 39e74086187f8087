"""What each fault of the menu does to the demo. Each returns when nothing is broken any more."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from uuid import uuid4

import aio_pika
import click
import httpx
from aio_pika.abc import AbstractExchange

from app.amqp.envelope import Envelope, Press
from app.broker.address import parse
from app.broker.connection import open_connection
from app.broker.management import Management
from app.cli.context import opened, settled
from app.cli.demonstration import Demo
from app.domain.tenant import Tenant
from app.simulator.oddities import NONE, Line
from app.simulator.operator import Operator
from app.simulator.pace import Pace
from app.simulator.sender import Manner, Sender, sink_address
from app.simulator.series import Plan
from app.simulator.series import simulate as played
from app.simulator.world import world
from app.store import changes, rehearsal, tenants
from app.store.connections import Store

AWAY, SILENCE, PAUSE, BRIEF = 25.0, 40.0, 8.0, 10.0
_TOLD_AGAIN = 20  #: envelopes
_GATHER_SECONDS = 6.0
_LEASE_SECONDS = 4.0  #: after so long nobody holds a dead process' tenants
_FAST = Pace(60.0)
Choice = Callable[[list[Envelope]], list[Envelope]]


async def feed(demo: Demo, tenant: str) -> None:
    _say(f"the feed process is killed, and kept away for {AWAY:.0f} s")
    demo.end("feed", away=AWAY)
    await asyncio.sleep(AWAY)
    _say("the feed process may come back")


async def ingest(demo: Demo, tenant: str) -> None:
    _say(f"the ingest process is killed, and kept away for {AWAY:.0f} s")
    demo.end("ingest", away=AWAY)
    await asyncio.sleep(AWAY)
    _say("the ingest process may come back")


async def source(demo: Demo, tenant: str) -> None:
    _say(f"every game server falls silent for {SILENCE:.0f} s")
    with demo.stopped("simulator"):
        await asyncio.sleep(SILENCE)
    _say("the game servers go on")


async def consumer(demo: Demo, tenant: str) -> None:
    _say(f"the bookmaker is killed, its queue gone with it, for {BRIEF:.0f} s")
    demo.end("bookmaker", away=BRIEF)
    await asyncio.sleep(BRIEF)


async def broker(demo: Demo, tenant: str) -> None:
    if demo.end_private_broker():
        _say("the broker is killed; it is started again at once, which takes some seconds")
        return
    _say("the broker is not the demo's own: every connection of the demo's tenants to it is closed")
    async with Management(settled().rabbitmq_api_url) as management:
        for slug in ("acme", "beta", "board"):
            for connection in await management.connections(slug):
                await management.close_connection(connection, "rehearsal")


async def downtime(demo: Demo, tenant: str) -> None:
    _say(f"the whole service is killed, and kept away for {AWAY:.0f} s")
    demo.end("web", "feed", "ingest", away=AWAY)
    await asyncio.sleep(AWAY)
    _say("the service may come back")


async def delay(demo: Demo, tenant: str) -> None:
    _say(f"the feed process is stopped for {PAUSE:.0f} s; what it has to tell comes late")
    with demo.stopped("feed"):
        await asyncio.sleep(PAUSE)
    _say("the feed process goes on")


async def drop(demo: Demo, tenant: str) -> None:
    lost = await _held_back(demo, tenant, tell=lambda envelopes: [])
    _say(f"{lost} messages will never come")


async def reorder(demo: Demo, tenant: str) -> None:
    told = await _held_back(demo, tenant, tell=lambda envelopes: list(reversed(envelopes)))
    _say(f"{told} messages were told last first")


async def duplicate(demo: Demo, tenant: str) -> None:
    async with opened(settled()) as store:
        async with store.reading() as tx:
            known = await tenants.by_slug(tx, tenant)
            newest = await changes.head(tx)
        envelopes = await _envelopes(store, known, max(0, newest - 1_000), newest)
        await _publish(tenant, envelopes[-_TOLD_AGAIN:])
    _say(f"the last {len(envelopes[-_TOLD_AGAIN:])} messages are told once more")


async def rollback(demo: Demo, tenant: str) -> None:
    key = {"X-API-Key": demo.description["operator_key"]}
    async with (
        httpx.AsyncClient(base_url=demo.description["base_url"], headers=key, trust_env=False) as client,
        httpx.AsyncClient(base_url=demo.description["operator_url"], headers=key, trust_env=False) as office,
    ):
        match, entry = await _settled_last(client)
        command = {
            "command": "roll_back_market",
            "market_id": entry["market_id"],
            "specifiers": entry["specifiers"],
            "reason": "a rehearsal",
            "release": True,
        }
        (await office.post(f"/ops/v1/matches/{match}/commands", json=command)).raise_for_status()
    name = entry["market_offer_id"]
    _say(f"an operator takes the settlement of {name} of {match} back; the engine settles it again")


async def restore(demo: Demo, tenant: str) -> None:
    """A match of its own, played fast, in which a round is played again from a backup."""
    async with httpx.AsyncClient(timeout=10, trust_env=False) as client:
        told = demo.description
        operator = Operator(client, told["base_url"], told["operator_key"], operator_url=told["operator_url"])
        plan, lines, place = _with_a_restore()
        now = time.time_ns() // 1_000_000
        match = await operator.create(plan, "Rehearsal", scheduled_at=now, reference=f"fault-{uuid4().hex}")
        teams = f"{plan.home.name} v {plan.away.name}"
        _say(f"od:match:{match.number} {teams} begins, {_FAST.speed:.0f} times as fast as it would be played")
        address = sink_address(operator.base_url, match.log_sink_url)
        sender = Sender(client, address, uuid4().hex, manner=Manner(every=0.25))
        await sender.send(lines[:place], _FAST)
        _say("the server loads a backup: rounds that were told and settled are void")
        await sender.send(lines[place:], _FAST)
        _say(f"od:match:{match.number} is over")


def _say(line: str) -> None:
    click.secho(f"       {line}", bold=True)


async def _held_back(demo: Demo, tenant: str, tell: Choice) -> int:
    """Keep a tenant's messages back for some seconds, publish `tell` of them, and go on behind them all;
    how many there were."""
    _say(f"what the tenant {tenant} has to be told is held back for {_GATHER_SECONDS:.0f} s")
    demo.end("feed", away=_GATHER_SECONDS + _LEASE_SECONDS + 5)
    await asyncio.sleep(max(_GATHER_SECONDS, _LEASE_SECONDS))
    try:
        async with opened(settled()) as store:
            async with store.reading() as tx:
                known = await tenants.by_slug(tx, tenant)
                told = await rehearsal.place(tx, known.id)
                newest = await changes.head(tx)
            envelopes = await _envelopes(store, known, told, newest)
            await _publish(tenant, tell(envelopes))
            async with store.transaction() as tx:
                await rehearsal.skip(tx, known.id, newest)
    finally:
        demo.bring_back("feed")
    return len(envelopes)


async def _envelopes(store: Store, tenant: Tenant, after: int, upto: int) -> list[Envelope]:
    """What the change log tells that tenant, in order."""
    settings = settled()
    async with store.reading() as tx:
        rows = [row for row in await changes.read(tx, after, 5_000) if row.seq <= upto]
        booked = await tenants.booked(tx, tenant.id, {row.match_id for row in rows})
    press = Press(settings.exchange, settings.producer_id)
    return [each for each in press.envelopes(rows) if each.frames and each.match_id in booked]


async def _publish(tenant: str, envelopes: Sequence[Envelope]) -> None:
    settings = settled()
    async with open_connection(parse(settings.rabbitmq_url).url(tenant), 10) as connection:
        channel = await connection.channel()
        exchange = await channel.get_exchange(settings.exchange, ensure=False)
        for envelope in envelopes:
            await _tell(exchange, envelope)


async def _tell(exchange: AbstractExchange, envelope: Envelope) -> None:
    told = envelope.message
    body = aio_pika.Message(
        told.body, content_type="application/xml", message_id=told.message_id, headers=dict(told.headers)
    )
    await exchange.publish(body, told.routing_key, mandatory=False)


async def _settled_last(client: httpx.AsyncClient) -> tuple[str, dict[str, str]]:
    """A match being played, and its newest settlement that still stands."""
    listed = (await client.get("/cs2/v1/matches", params={"status": "live"})).raise_for_status().json()
    for match in listed["data"]:
        path = f"/cs2/v1/matches/{match['id']}/settlements"
        ledger = (await client.get(path, params={"limit": 1000})).raise_for_status().json()["data"]
        last = {entry["market_offer_id"]: entry for entry in ledger}
        standing = [entry for entry in last.values() if entry["new_status"] == "settled"]
        if standing:
            return match["urn"], standing[-1]
    raise click.ClickException("nothing is settled yet in any live match; try again in a minute")


def _with_a_restore() -> tuple[Plan, list[Line], int]:
    """A match in which exactly that goes wrong, its lines, and where in them the backup is loaded."""
    oddities, rng = replace(NONE, restore=0.08), Random()
    while True:
        home, away = world().pair(rng)
        begin = time.time_ns() // 1_000_000
        plan = Plan(
            home, away, rng.randrange(2**31), begin, pace=_FAST, dress="millis", brief=True, oddities=oddities
        )
        lines, truth = played(plan)
        places = [number for number, line in enumerate(lines) if "mp_backup_restore_load_file" in line.text]
        if len(places) == 1 and truth.maps[0].voided:
            return plan, lines, places[0]

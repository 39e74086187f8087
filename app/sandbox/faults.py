"""The fault menu: what each fault does to the demo. Each returns when nothing is broken any more."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from uuid import uuid4

import aio_pika
import httpx
import msgspec

from app.amqp.envelope import Envelope, EnvelopeRenderer
from app.amqp.frames import CONTENT_TYPE
from app.broker.address import parse
from app.broker.connection import open_connection
from app.broker.management import Management
from app.domain.tenant import Tenant
from app.sandbox.demonstration import DemoUnavailable, RunningDemo
from app.sandbox.simulator.anomalies import NONE, LogLine
from app.sandbox.simulator.fictional_world import fictional_world
from app.sandbox.simulator.match_simulation import MatchPlan, Pace, simulate
from app.sandbox.simulator.service_client import LogSender, OperatorClient, SendConfig, sink_address
from app.store import changes, cursors, tenants
from app.store.connections import Store, open_store

_DOWN_SECONDS, _CONSUMER_DOWN_SECONDS = 25.0, 10.0
_SILENT_SECONDS, _STOPPED_SECONDS = 40.0, 8.0
_DUPLICATES = 20  #: envelopes
_WITHHELD_SECONDS = 6.0
_LEASE_SECONDS = 4.0  #: after so long the leases of a dead process have expired
_FAST = Pace(60.0)
_DATABASE_CONNECTIONS = 2

BOOKMAKER = "board"  #: the tenant whose bookmaker the demo runs


@dataclass(frozen=True)
class FaultTarget:
    """What a fault is done to: the demo, its servers, and the tenant whose messages are meant.

    `print_step` prints what the fault does at this moment."""

    demo: RunningDemo
    tenant: str
    database_url: str
    rabbitmq_url: str
    rabbitmq_api_url: str
    exchange: str
    producer_id: int
    print_step: Callable[[str], None]


@dataclass(frozen=True)
class DemoFault:
    """`recovers`: it is healed only after a recovery of the bookmaker. `shows`: it is healed only after a
    line of this kind in the bookmaker's story. `of_tenant`: it is about one tenant's messages, and the
    bookmaker notices nothing of another tenant's."""

    inject: Callable[[FaultTarget], Awaitable[None]]
    about: str
    recovers: bool = False
    shows: str = ""
    of_tenant: bool = False

    def seen_by_bookmaker(self, tenant: str) -> "DemoFault":
        """The fault as the bookmaker notices it when it is done to this tenant."""
        unseen = self.of_tenant and tenant != BOOKMAKER
        return replace(self, recovers=False, shows="") if unseen else self


async def kill_process(target: FaultTarget, name: str) -> None:
    target.print_step(f"the {name} process is killed and stays down for {_DOWN_SECONDS:.0f} s")
    target.demo.kill(name, seconds=_DOWN_SECONDS)
    await asyncio.sleep(_DOWN_SECONDS)
    target.print_step(f"the {name} process may restart")


async def silence_sources(target: FaultTarget) -> None:
    target.print_step(f"every game server is silent for {_SILENT_SECONDS:.0f} s")
    with target.demo.stopped("simulator"):
        await asyncio.sleep(_SILENT_SECONDS)
    target.print_step("the game servers continue")


async def kill_consumer(target: FaultTarget) -> None:
    target.print_step(
        f"the bookmaker is killed, its queue is deleted, and it stays down for {_CONSUMER_DOWN_SECONDS:.0f} s"
    )
    target.demo.kill("bookmaker", seconds=_CONSUMER_DOWN_SECONDS)
    await asyncio.sleep(_CONSUMER_DOWN_SECONDS)


async def kill_broker(target: FaultTarget) -> None:
    if target.demo.kill_private_broker():
        target.print_step("the broker is killed; it is started again at once, which takes some seconds")
        return
    target.print_step("the broker is shared: only the connections of the demo's tenants are closed")
    async with Management(target.rabbitmq_api_url) as management:
        for slug in ("acme", "beta", "board"):
            for connection in await management.connections(slug):
                await management.close_connection(connection, "rehearsal")


async def kill_service(target: FaultTarget) -> None:
    target.print_step(f"the whole service is killed and stays down for {_DOWN_SECONDS:.0f} s")
    target.demo.kill("web", "feed", "ingest", seconds=_DOWN_SECONDS)
    await asyncio.sleep(_DOWN_SECONDS)
    target.print_step("the service may restart")


async def delay_messages(target: FaultTarget) -> None:
    target.print_step(f"the feed process is stopped for {_STOPPED_SECONDS:.0f} s; its messages come late")
    with target.demo.stopped("feed"):
        await asyncio.sleep(_STOPPED_SECONDS)
    target.print_step("the feed process continues")


async def drop_messages(target: FaultTarget) -> None:
    count = await _withhold(target, publish=lambda envelopes: [])
    target.print_step(f"{count} messages will never come")


async def reorder_messages(target: FaultTarget) -> None:
    count = await _withhold(target, publish=lambda envelopes: list(reversed(envelopes)))
    target.print_step(f"{count} messages were published in reverse order")


async def duplicate_messages(target: FaultTarget) -> None:
    async with await open_store(target.database_url, _DATABASE_CONNECTIONS) as store:
        async with store.autocommit() as tx:
            tenant = await tenants.by_slug(tx, target.tenant)
            newest = await changes.head(tx)
        envelopes = await _envelopes(target, store, tenant, max(0, newest - 1_000), newest)
        await _publish(target, envelopes[-_DUPLICATES:])
    target.print_step(f"the last {len(envelopes[-_DUPLICATES:])} messages are published a second time")


async def roll_back_settlement(target: FaultTarget) -> None:
    description = target.demo.description
    key = {"X-API-Key": description["operator_key"]}
    async with (
        httpx.AsyncClient(base_url=description["base_url"], headers=key, trust_env=False) as client,
        httpx.AsyncClient(base_url=description["operator_url"], headers=key, trust_env=False) as operators,
    ):
        match, entry = await _newest_settlement(client)
        command = {
            "command": "roll_back_market",
            "market_id": entry["market_id"],
            "specifiers": entry["specifiers"],
            "reason": "a rehearsal",
            "release": True,
        }
        (await operators.post(f"/ops/v1/matches/{match}/commands", json=command)).raise_for_status()
    name = entry["market_offer_id"]
    target.print_step(f"an operator rolls back the settlement of {name} of {match}; the engine settles again")


async def restore_round(target: FaultTarget) -> None:
    """A match of its own, played fast, in which a round is played again from a backup."""
    async with httpx.AsyncClient(timeout=10, trust_env=False) as client:
        demo = target.demo.description
        operator = OperatorClient(
            client, demo["base_url"], demo["operator_key"], operator_url=demo["operator_url"]
        )
        plan, lines, index = _match_with_restore()
        now = time.time_ns() // 1_000_000
        match = await operator.create(plan, "Rehearsal", scheduled_at=now, reference=f"fault-{uuid4().hex}")
        title = f"od:match:{match.number} {plan.home.name} v {plan.away.name}"
        target.print_step(f"{title} begins, {_FAST.speed:.0f} times as fast as a real match")
        address = sink_address(operator.base_url, match.log_sink_url)
        sender = LogSender(client, address, uuid4().hex, config=SendConfig(batch_seconds=0.25))
        await sender.send(lines[:index], _FAST)
        target.print_step("the server loads a backup: rounds that were published and settled are void")
        await sender.send(lines[index:], _FAST)
        target.print_step(f"od:match:{match.number} is over")


FAULTS = {
    "feed": DemoFault(
        partial(kill_process, name="feed"), "The process that publishes dies for 25 s.", recovers=True
    ),
    "ingest": DemoFault(
        partial(kill_process, name="ingest"), "The process that applies logs dies for 25 s.", recovers=True
    ),
    "source": DemoFault(silence_sources, "Every game server is silent for 40 s.", shows="suspended"),
    "consumer": DemoFault(kill_consumer, "The bookmaker dies for 10 s.", recovers=True),
    "broker": DemoFault(
        kill_broker, "The broker dies (a shared one closes the tenants' connections).", recovers=True
    ),
    "downtime": DemoFault(kill_service, "The whole service dies for 25 s.", recovers=True),
    "delay": DemoFault(delay_messages, "Messages come 8 s late.", of_tenant=True),
    "drop": DemoFault(drop_messages, "Messages of some seconds never come.", recovers=True, of_tenant=True),
    "duplicate": DemoFault(
        duplicate_messages, "The last messages come twice.", shows="again", of_tenant=True
    ),
    "reorder": DemoFault(
        reorder_messages, "Messages of some seconds come in reverse order.", recovers=True, of_tenant=True
    ),
    "rollback": DemoFault(roll_back_settlement, "A settlement is rolled back, and made again.", shows="back"),
    "restore": DemoFault(restore_round, "A round is played again from a backup.", shows="back"),
}


async def _withhold(target: FaultTarget, publish: Callable[[list[Envelope]], list[Envelope]]) -> int:
    """Withhold a tenant's messages for some seconds, publish `publish` of them, and move its cursor behind
    them all; how many there were."""
    target.print_step(f"the messages of {target.tenant} are withheld for {_WITHHELD_SECONDS:.0f} s")
    target.demo.kill("feed", seconds=_WITHHELD_SECONDS + _LEASE_SECONDS + 5)
    await asyncio.sleep(max(_WITHHELD_SECONDS, _LEASE_SECONDS))
    try:
        async with await open_store(target.database_url, _DATABASE_CONNECTIONS) as store:
            async with store.autocommit() as tx:
                tenant = await tenants.by_slug(tx, target.tenant)
                cursor = await cursors.position(tx, tenant.id)
                newest = await changes.head(tx)
            envelopes = await _envelopes(target, store, tenant, cursor, newest)
            await _publish(target, publish(envelopes))
            async with store.transaction() as tx:
                await cursors.skip(tx, tenant.id, newest)
    finally:
        target.demo.allow_restart("feed")
    return len(envelopes)


async def _envelopes(
    target: FaultTarget, store: Store, tenant: Tenant, after: int, upto: int
) -> list[Envelope]:
    """The tenant's envelopes of these changes, in order."""
    async with store.autocommit() as tx:
        rows = [row for row in await changes.read(tx, after, 5_000) if row.seq <= upto]
        booked = await tenants.booked(tx, tenant.id, {row.match_id for row in rows})
    renderer = EnvelopeRenderer(target.exchange, target.producer_id)
    mine = (None, tenant.id)
    return [
        msgspec.structs.replace(each, message=each.rendered_for(tenant.offer, probabilities=False)[0])
        for each in renderer.envelopes(rows)
        if each.frames and each.match_id in booked and each.tenant_id in mine
    ]


async def _publish(target: FaultTarget, envelopes: Sequence[Envelope]) -> None:
    async with open_connection(parse(target.rabbitmq_url).url(target.tenant), 10) as connection:
        channel = await connection.channel()
        exchange = await channel.get_exchange(target.exchange, ensure=False)
        for envelope in envelopes:
            message = envelope.message
            published = aio_pika.Message(
                message.body,
                content_type=CONTENT_TYPE,
                message_id=message.message_id,
                timestamp=message.timestamp,
                headers=dict(message.headers),
            )
            await exchange.publish(published, message.routing_key, mandatory=False)


async def _newest_settlement(client: httpx.AsyncClient) -> tuple[str, dict[str, str]]:
    """A live match with its newest settlement that is not rolled back."""
    listed = (await client.get("/cs2/v1/matches", params={"status": "live"})).raise_for_status().json()
    for match in listed["data"]:
        last = {entry["market_offer_id"]: entry for entry in await _ledger(client, match["id"])}
        settled = [entry for entry in last.values() if entry["new_status"] == "settled"]
        if settled:
            return match["urn"], settled[-1]
    raise DemoUnavailable("nothing is settled yet in any live match; try again in a minute")


async def _ledger(client: httpx.AsyncClient, match_id: str) -> list[dict[str, str]]:
    """A match's settlements, oldest first."""
    found, cursor = [], "0"
    while cursor:
        query = {"limit": "1000", "cursor": cursor}
        answer = await client.get(f"/cs2/v1/matches/{match_id}/settlements", params=query)
        page = answer.raise_for_status().json()
        found += page["data"]
        cursor = page["meta"].get("next_cursor", "")
    return found


def _match_with_restore() -> tuple[MatchPlan, list[LogLine], int]:
    """A match in which a restore is all that goes wrong, its lines, and the index of the restore's line."""
    anomalies, rng = replace(NONE, restore=0.08), Random()
    while True:
        home, away = fictional_world().pair(rng)
        begin = time.time_ns() // 1_000_000
        plan = MatchPlan(
            home,
            away,
            rng.randrange(2**31),
            begin,
            pace=_FAST,
            timestamps="millis",
            brief=True,
            anomalies=anomalies,
        )
        lines, truth = simulate(plan)
        restores = [index for index, line in enumerate(lines) if "mp_backup_restore_load_file" in line.text]
        if len(restores) == 1 and truth.maps[0].voided:
            return plan, lines, restores[0]

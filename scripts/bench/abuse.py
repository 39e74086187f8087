"""What others notice while one client abuses the service: answers to another tenant, and the log sink.

    python -m scripts.bench.abuse [--seconds 10]

Three attacks, each beside the quiet before it, in one run, against the service's own processes:

- selfcheck: four connections of one key post hostile bodies of 2.5 MiB as fast as they are answered;
- keys: eight connections of the same address show keys that are none, while other keys are issued;
- publish: a tenant publishes 8 KiB messages into its queue over AMQP.

Printed are the medians of another tenant's responses (from the same address), their ratio to the baseline,
what was not 200, and what the log sink answered meanwhile. Fails when a median is more than three times the
quiet one, or anything of others was refused. Uses the servers that the settings lead to, or starts its own.
"""

import argparse
import asyncio
import multiprocessing
import statistics
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack
from itertools import cycle
from typing import Any

import aio_pika
import httpx
import msgspec
import uvloop
from aio_pika.exceptions import AMQPError

from app import settings as configuration
from app.access.api_keys import KeyProperties, new_key
from app.broker.management import Management
from app.settings import Settings
from app.store.connections import Store, open_store
from scripts import http_client, services
from scripts.bench.feed_rig import answering, processes, provisioned
from scripts.lab.own_data import database, internal_vhost, issue_key, operator_key

MOST_TIMES = 3.0
_BODY_BYTES = 2_621_440
_PATHS = ("/v1/whoami", "/cs2/v1/matches?limit=10", "/v1/sports/en/sports")
_PAUSE_SECONDS = 0.005
Attack = Callable[[str, str], Coroutine[Any, Any, None]]  #: of an address, with a key


class Seen(msgspec.Struct):
    """Answers to others in a phase: their milliseconds, what was not 200, the log sink's statuses."""

    millis: list[float] = []
    wrong: Counter[int] = Counter()
    sink: Counter[int] = Counter()

    @property
    def median(self) -> float:
        return statistics.median(self.millis)


def hostile_bodies() -> list[bytes]:
    """What once held the event loop for a second each."""
    row = b'[13.0,"map=1|round=3|team=home",1.0,1.85],'
    return [
        b'{"matches":[' + b",".join([rb'"\u0000"'] * (_BODY_BYTES // 9 - 10)) + b"]}",
        b'{"matches":[' + b",".join([b"1.0"] * (_BODY_BYTES // 4 - 10)) + b"]}",
        b'{"matches":[{"match":"od:match:1","markets":['
        + row * (_BODY_BYTES // len(row) - 4)
        + row[:-1]
        + b"]}]}",
    ]


async def attack_selfcheck(base_url: str, key: str) -> None:
    async with http_client.client(base_url, key, 60) as client:
        client.headers["Content-Type"] = "application/json"

        async def one(bodies: list[bytes]) -> None:
            for body in cycle(bodies):
                answer = await client.post("/cs2/v1/selfcheck", content=body)
                if answer.status_code == 429:
                    await asyncio.sleep(0.05)  # an attacker does not wait as long as `Retry-After` says

        await asyncio.gather(*(one(hostile_bodies()) for _ in range(4)))


async def attack_keys(base_url: str, _: str) -> None:
    """The key is not shown."""
    async with httpx.AsyncClient(base_url=base_url, timeout=60, trust_env=False) as client:

        async def one() -> None:
            for key in cycle(("x", new_key(), "mfk_")):
                await client.get("/v1/whoami", headers={"X-API-Key": key})

        await asyncio.gather(*(one() for _ in range(8)))


async def attack_publish(amqp_url: str, _: str) -> None:
    while True:
        try:
            async with await aio_pika.connect(amqp_url) as connection:
                channel = await connection.channel()
                queue = await channel.declare_queue(exclusive=True)
                while True:
                    await channel.default_exchange.publish(aio_pika.Message(b"x" * 8192), queue.name)
        except (AMQPError, OSError):
            await asyncio.sleep(0.05)


def run_attack(attack: Attack, where: str, key: str) -> None:
    asyncio.run(attack(where, key))


async def watch(
    client: httpx.AsyncClient, sink: str, seconds: float, also: Callable[[], Awaitable[None]]
) -> Seen:
    """What others see for so long; `also` is done now and then."""
    seen, ends = Seen([], Counter(), Counter()), time.monotonic() + seconds
    for turn, path in enumerate(cycle(_PATHS)):
        if time.monotonic() > ends:
            return seen
        begun = time.perf_counter()
        answer = await client.get(path)
        seen.millis.append((time.perf_counter() - begun) * 1000)
        if answer.status_code != 200:
            seen.wrong[answer.status_code] += 1
        if turn % 20 == 0:
            seen.sink[(await client.post(sink, content=b"nothing that is known\n")).status_code] += 1
        if turn % 100 == 0:
            await also()
        await asyncio.sleep(_PAUSE_SECONDS)
    raise AssertionError("a cycle does not end")


async def beside(
    client: httpx.AsyncClient, sink: str, seconds: float, attack: Attack, where: str, key: str, store: Store
) -> tuple[Seen, Seen]:
    """The quiet, and the same under attack, by a process of its own. Keys change during both."""

    async def change() -> None:
        await issue_key(store, configuration.load(), KeyProperties(bundles=("cs2.stats",)), "house")

    quiet = await watch(client, sink, seconds, change)
    context, arguments = multiprocessing.get_context("spawn"), (attack, where, key)
    attacker = context.Process(target=run_attack, args=arguments, daemon=True)
    attacker.start()
    try:
        await asyncio.sleep(3)  # for Python to start, and the first 640 refusals
        return quiet, await watch(client, sink, seconds, change)
    finally:
        attacker.terminate()
        attacker.join(10)


async def measure(settings: Settings, seconds: float) -> dict[str, tuple[Seen, Seen]]:
    async with AsyncExitStack() as stack:
        settings = await stack.enter_async_context(database(settings))
        settings = await stack.enter_async_context(internal_vhost(settings))
        store = await stack.enter_async_context(await open_store(settings.database_url, 2))
        management = await stack.enter_async_context(Management(settings.rabbitmq_api_url))
        _, amqp_url = await provisioned(settings, store, management, stack)
        keys = {slug: await issue_key(store, settings, _rights(rpm), slug) for slug, rpm in _TENANTS.items()}
        base_url, _ = await stack.enter_async_context(processes(settings))
        key = await operator_key(settings, store)
        client = await stack.enter_async_context(http_client.client(base_url, key, 60))
        sink = await _ready(client)
        client.headers["X-API-Key"] = keys["victim"]
        attacks = {
            "selfcheck": (attack_selfcheck, base_url),
            "keys": (attack_keys, base_url),
            "publish": (attack_publish, amqp_url),
        }
        return {
            name: await beside(client, sink, seconds, attack, where, keys["attacker"], store)
            for name, (attack, where) in attacks.items()
        }


_TENANTS = {"victim": 1_000_000, "attacker": 6_000}


def _rights(rpm: int) -> KeyProperties:
    return KeyProperties(bundles=("cs2.odds.basic",), rate_limit_rpm=rpm)


async def _ready(client: httpx.AsyncClient) -> str:
    """Wait for the service, and create a match: the path of its log sink."""
    await answering(client)
    body = {"team_a": "One", "team_b": "Two", "event": "Bench", "bo_type": "bo1"}
    made = (await client.post("/ops/v1/matches", json=body)).raise_for_status().json()["data"]
    return str(httpx.URL(made["log_sink_url"]).raw_path.decode())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=10.0, help="of each phase")
    chosen = parser.parse_args()
    with services.running(services.BENCHMARKS):
        found = uvloop.run(measure(configuration.load(), chosen.seconds))
    failed = False
    for name, (quiet, attacked) in found.items():
        ratio = attacked.median / quiet.median
        wrong = dict(attacked.wrong + quiet.wrong)
        print(
            f"{name:10} p50 {quiet.median:6.1f} -> {attacked.median:6.1f} ms  x {ratio:4.1f}"
            f"   not 200: {wrong or 'none'}   log sink: {dict(attacked.sink)}"
        )
        failed |= ratio > MOST_TIMES or bool(wrong) or set(attacked.sink) != {200}
    if failed:
        raise SystemExit(f"others were refused, or waited more than {MOST_TIMES} times as long")


if __name__ == "__main__":
    main()

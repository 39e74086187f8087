"""What others notice while one client abuses the service: answers to another tenant, and the log sink.

    python -m scripts.bench.abuse [--seconds 10]

Six attacks, each beside the quiet before it, in one run, against the service's own processes:

- selfcheck: four connections of one key post hostile bodies of 2.5 MiB as fast as they are answered;
- books: four connections of one key post a correct book of 33,000 markets;
- combinations: eight connections of one key have ten legs of five matches priced, with what goes with them;
- downloads: twelve connections of one person download all prices of a match that was played;
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
from app.commands import creation
from app.commands.creation import NewMatch
from app.domain.tenant import Role
from app.ingest.log_update import IngestConfig, apply_batch
from app.sandbox.simulator.fictional_world import fictional_world
from app.settings import Settings
from app.store.connections import Store, open_store
from scripts import http_client, services
from scripts.bench.feed_rig import answering, processes, provisioned
from scripts.bench.ingest import batches_of
from scripts.lab.own_data import database, internal_vhost, issue_key, operator_key
from scripts.lab.person import Person, add_user

MOST_TIMES = 3.0
_BODY_BYTES = 2_621_440
_PATHS = ("/v1/whoami", "/cs2/v1/matches?limit=10", "/v1/sports/en/sports")
_PAUSE_SECONDS = 0.005
_JSON = "application/json"
_BOOK = 33_000
_PLAYED, _BEFORE_PLAY = 2, range(3, 8)  #: numbers of matches; the first one has the log sink
Attack = Callable[[str, str], Coroutine[Any, Any, None]]  #: of an address, with a key or a person's e-mail


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


async def _post_without_pause(
    base_url: str, key: str, path: str, bodies: list[bytes], connections: int, content_type: str, status: int
) -> None:
    """`status` is that of the responses to bodies that are not refused for their rate."""
    async with http_client.client(base_url, key, 60) as client:
        client.headers["Content-Type"] = content_type

        async def one() -> None:
            for body in cycle(bodies):
                await _pause_if_refused(await client.post(path, content=body), status)

        await asyncio.gather(*(one() for _ in range(connections)))


async def _pause_if_refused(answer: httpx.Response, status: int) -> None:
    """An attacker does not wait as long as `Retry-After` says. Raises for another status: it would not be
    that attack."""
    if answer.status_code == 429:
        await asyncio.sleep(0.05)
    elif answer.status_code != status:
        raise SystemExit(f"{answer.request.url}: {answer.status_code}, {answer.text[:200]}")


async def attack_selfcheck(base_url: str, key: str) -> None:
    await _post_without_pause(base_url, key, "/cs2/v1/selfcheck", hostile_bodies(), 4, _JSON, 422)


async def attack_books(base_url: str, key: str) -> None:
    rows = ",".join(f'[13,"map=1|round={number}|team=home",1,1.85]' for number in range(1, _BOOK + 1))
    book = b'{"matches":[{"match":"od:match:1","markets":[%b]}]}' % rows.encode()
    await _post_without_pause(base_url, key, "/cs2/v1/selfcheck", [book], 4, _JSON, 200)


async def attack_combinations(base_url: str, key: str) -> None:
    legs = "".join(
        f'<selection id="od:match:{number}" market_id="{market}" specifiers="{specifiers}" outcome_id="1"/>'
        for number in _BEFORE_PLAY
        for market, specifiers in ((1, "team=home"), (6, "map=2|team=home"))
    )
    body = f"<selections>{legs}</selections>".encode()
    await _post_without_pause(base_url, key, "/v1/custombet/calculate", [body], 8, "application/xml", 200)


async def attack_downloads(base_url: str, email: str) -> None:
    """The person signs in, and each connection reads its file to the end."""
    async with httpx.AsyncClient(base_url=base_url, timeout=60, trust_env=False) as client:
        await Person(client, email).sign_in()
        path = f"/portal/matches/od:match:{_PLAYED}/prices.csv"

        async def one() -> None:
            while True:
                await _pause_if_refused(await client.get(path), 200)

        await asyncio.gather(*(one() for _ in range(12)))


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
        attacked = await watch(client, sink, seconds, change)
        if not attacker.is_alive():
            raise SystemExit(f"{attack.__name__} has ended by itself")
        return quiet, attacked
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
        await _create_matches(store)
        email = await add_user(store, settings, "attacker", Role.READER)
        attacks = {
            "selfcheck": (attack_selfcheck, base_url, keys["attacker"]),
            "books": (attack_books, base_url, keys["attacker"]),
            "combinations": (attack_combinations, base_url, keys["attacker"]),
            "downloads": (attack_downloads, base_url, email),
            "keys": (attack_keys, base_url, keys["attacker"]),
            "publish": (attack_publish, amqp_url, keys["attacker"]),
        }
        return {
            name: await beside(client, sink, seconds, attack, where, shown, store)
            for name, (attack, where, shown) in attacks.items()
        }


async def _create_matches(store: Store) -> None:
    """One that was played, with all its prices, and some before play."""
    teams, now, config = fictional_world().teams, int(time.time() * 1000), IngestConfig()
    for number in (_PLAYED, *_BEFORE_PLAY):
        home, away = teams[2 * number], teams[2 * number + 1]
        new = NewMatch(
            allow_unrated=True,
            home=home.name,
            away=away.name,
            event="Bench",
            best_of=1 if number == _PLAYED else 3,
            scheduled_at=now + 3_600_000,
        )
        match = await creation.create_match(store, new, now, config.pricing)
        if match.number != number:
            raise SystemExit(f"match {number} got the number {match.number}")
        if number == _PLAYED:
            for batch in batches_of(match, number, 4.0):
                await apply_batch(store, batch, batch.arrived_at, config)


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
            f"{name:12} p50 {quiet.median:6.1f} -> {attacked.median:6.1f} ms  x {ratio:4.1f}"
            f"   not 200: {wrong or 'none'}   log sink: {dict(attacked.sink)}"
        )
        failed |= ratio > MOST_TIMES or bool(wrong) or set(attacked.sink) != {200}
    if failed:
        raise SystemExit(f"others were refused, or waited more than {MOST_TIMES} times as long")


if __name__ == "__main__":
    main()

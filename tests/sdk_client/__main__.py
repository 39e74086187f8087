"""An existing client against the demo: every fault of the menu, and cut connections.

python -m tests.sdk_client [--minutes 10]     (`nox -s sdk`; it starts a demo of its own under var/sdk, and
ends it)
python -m tests.sdk_client --downtimes 10
python -m tests.sdk_client --processes 3 [--rounds 20]

It is up within 10 s of starting, and up again within 40 s of the end of each fault, with a book that equals
REST. Then it replays a match, whose results must be those of the ledger, and the run is filled up to its
minutes with quiet. What SDKs cannot detect is not injected into this client's messages: some that never come
(`drop` concerns another tenant here).

With `--downtimes` the client has the habits of the older Go line, and is up within 30 s of the end of each.
With `--processes` so many clients of one tenant, each with the habits of another line, are cut for 1 to 10 s
in any order, and their books are right 10 s after the last is back.
"""

import argparse
import asyncio
import random
import ssl
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from pathlib import Path

import httpx
import msgspec

from app import settings
from app.access import admin
from app.broker.management import Management
from app.broker.provisioning import limit_queues
from app.domain.tenant import MAX_QUEUES
from app.kit.clock import system_clock
from app.sandbox.faults import FAULTS
from app.store.connections import open_store
from scripts.lab.demo import Demo, present, running
from scripts.lab.record import ROOT
from scripts.local_services import ports
from tests.sdk_client.api import Api
from tests.sdk_client.broker import BrokerAddress
from tests.sdk_client.feed import FeedClient, following
from tests.sdk_client.habits import GO_0, LINES, PATIENT, Habits
from tests.sdk_client.names import Names
from tests.sdk_client.replays import replayed
from tests.sdk_client.selfcheck import SelfCheck
from tests.sdk_client.together import Group, shown, summary

VAR = ROOT / "var" / "sdk"
TENANT = "beta"
LOCALES = ("en", "ru")
START_SECONDS, AGAIN_SECONDS = 10.0, 40.0
DOWNTIME, DOWNTIME_SECONDS = "downtime", 30.0
_QUIET_SECONDS = 40.0  #: of a measurement to compare with
_SDK_QUEUES = 2  #: of a process
CUTS = (4.0, 20.0, 120.0)
#: Faults of other tenants' messages: an SDK has no means to notice that a message never came.
OF_OTHERS = ("drop",)
_SETTLED_SECONDS = 3.0  #: so long it is to stay up, before that counts


class Outcome(msgspec.Struct, frozen=True):
    """What followed one disturbance: seconds from its end until the producer was up and the book equal."""

    name: str
    up: float
    equal: float
    went_down: bool


class Session:
    """One run against a demo."""

    def __init__(self, client: FeedClient, demo: Demo) -> None:
        self.client, self._demo = client, demo
        self._check = SelfCheck(demo.description["base_url"], demo.tenant(TENANT)["api_key"])
        self.outcomes: list[Outcome] = []

    async def disturb(self, name: str, disturbance: Callable[[], Awaitable[object]]) -> None:
        """Inject it, and wait until the client is up with a book that equals REST."""
        before = len(self.client.log)
        print(f"-- {name}", flush=True)
        await disturbance()
        ended = time.monotonic()
        up, equal = await self._healed(ended)
        down = any(what.startswith("down") for _, what in self.client.log[before:])
        self.outcomes.append(Outcome(name, up, equal, down))
        print(
            f"   up {up:.1f} s and equal {equal:.1f} s after its end{'' if down else ', never down'}",
            flush=True,
        )
        for at, what in self.client.log[before:]:
            print(f"   {at - ended:+7.1f} s {what}", flush=True)

    async def cut(self, seconds: float) -> None:
        self.client.cut(seconds)
        await asyncio.sleep(seconds)

    async def fault(self, name: str) -> None:
        target = self._demo.fault_target("acme" if name in OF_OTHERS else TENANT)
        await FAULTS[name].inject(target)
        if name == "broker":  # a killed one is started again by the demo; the fault ends when it answers
            await self.client.until("the connection is lost", lambda: not self.client.connected, 20)
            sdk = self._demo.description["sdk"]
            while not await asyncio.to_thread(ports.answers, sdk["mq_host"], sdk["mq_port"]):
                await asyncio.sleep(0.1)

    async def _healed(self, ended: float) -> tuple[float, float]:
        """Until when it is up for good, and until when its book equals REST, in seconds since `ended`."""
        client = self.client
        while time.monotonic() - ended < 2 * AGAIN_SECONDS:
            if not client.up_since or not await self._equal():
                await asyncio.sleep(0.1)
                continue
            since, equal = client.up_since, time.monotonic() - ended
            await asyncio.sleep(_SETTLED_SECONDS)
            if client.up_since == since:
                return max(0.0, since - ended), equal
        return max(0.0, client.up_since - ended) if client.up_since else float("inf"), float("inf")

    async def _equal(self) -> bool:
        """Whether no difference between book and service outlasts two looks."""
        found = await self._check.check(self.client.book)
        if found is not None and found.count:
            print(f"   {found.count} differences: {found.kinds}", flush=True)
        return found is not None and found.count == 0


@asynccontextmanager
async def connected(
    demo: Demo, habits: Habits, locales: Sequence[str], node: int = 1
) -> AsyncIterator[tuple[Api, FeedClient]]:
    """A client of the tenant, which is up."""
    sdk = demo.description["sdk"]
    trusted = ssl.create_default_context(cafile=sdk["ca_file"])
    base_url = sdk["api_url"].removesuffix("/v1")
    async with httpx.AsyncClient(base_url=base_url, verify=trusted, trust_env=False) as http:
        api = Api(http, demo.tenant(TENANT)["api_key"])
        broker = BrokerAddress(sdk["mq_host"], sdk["mq_port"], sdk["ca_file"])
        names = [Names(api, locale) for locale in locales]
        client = FeedClient(api, broker, await api.identity(), names, node=node, habits=habits)
        async with following(client):
            await client.until("up", lambda: client.producer.up, 60)
            yield api, client


async def run(demo: Demo, minutes: float) -> list[str]:
    """Every disturbance of one client; what was not as it should be."""
    began = time.monotonic()
    async with connected(demo, PATIENT, LOCALES) as (api, client):
        started = client.producer.since - began
        print(f"up {started:.1f} s after starting", flush=True)
        for locale in LOCALES:
            await api.catalogues(locale)
            await api.schedules(locale)
        session = Session(client, demo)
        await session.disturb("start", _nothing)
        for seconds in CUTS:
            await session.disturb(f"cut for {seconds:.0f} s", lambda seconds=seconds: session.cut(seconds))
        for name in FAULTS:
            await session.disturb(name, lambda name=name: session.fault(name))
        sdk = demo.description["sdk"]
        broker = BrokerAddress(sdk["mq_host"], sdk["mq_port"], sdk["ca_file"])
        vhost = (await api.identity()).virtual_host
        wrong = await replayed(api, broker, vhost, demo.description["base_url"])
        await asyncio.sleep(max(0.0, minutes * 60 - (time.monotonic() - began)))
        return wrong + report(client, session, api, started, time.monotonic() - began)


async def run_downtimes(demo: Demo, times: int) -> list[str]:
    """A client that posts each recovery once, and so many downtimes; which of them it survived too late."""
    async with connected(demo, GO_0, ()) as (_, client):
        session = Session(client, demo)
        for number in range(1, times + 1):
            await session.disturb(f"{DOWNTIME} {number}", lambda: session.fault(DOWNTIME))
        late = [each for each in session.outcomes if max(each.up, each.equal) > DOWNTIME_SECONDS]
        return [f"{each.name}: up {each.up:.1f} s, equal {each.equal:.1f} s after its end" for each in late]


async def run_together(demo: Demo, processes: int, rounds: int) -> list[str]:
    """So many processes of the tenant, and so many rounds of cuts; after which of them a book was wrong."""
    await _permit_queues(demo.environment, processes)
    chance = random.Random(processes)
    async with AsyncExitStack() as stack:
        clients = {}
        for node in range(1, processes + 1):
            habits = LINES[(node - 1) % len(LINES)]
            _, client = await stack.enter_async_context(connected(demo, habits, (), node))
            clients[f"{node} ({habits.name})"] = client
        check = SelfCheck(demo.description["base_url"], demo.tenant(TENANT)["api_key"])
        group = Group(clients, check, demo.description["metrics"])
        before = await group.cost()
        await asyncio.sleep(_QUIET_SECONDS)
        quiet = (await group.cost()).since(before)
        found = []
        for number in range(1, rounds + 1):
            found.append(await group.round(chance))
            print(shown(number, found[-1]), flush=True)
    print(summary(found, quiet))
    refused = [f"{name}: {text}" for name, each in clients.items() for text in each.failed]
    return refused + [
        f"round {at}: {each.wrong}" for at, each in enumerate(found, 1) if any(each.wrong.values())
    ]


async def _permit_queues(environment: dict[str, str], processes: int) -> None:
    """More queues than a tenant has by default, where so many processes need them."""
    config, most = settings.load(environment), processes * _SDK_QUEUES
    if most <= MAX_QUEUES:
        return
    store = await open_store(config.database_url, 1)
    async with store, store.transaction() as tx:
        await admin.set_max_queues(tx, TENANT, most, by="cli:rehearsal", now=system_clock())
    async with Management(config.rabbitmq_api_url) as management:
        await limit_queues(management, TENANT, most)


async def _with_bet_stop(environment: dict[str, str], work: Awaitable[list[str]]) -> list[str]:
    """The work, once the tenant receives `bet_stop`."""
    store = await open_store(settings.load(environment).database_url, 1)
    async with store, store.transaction() as tx:
        await admin.set_bet_stop(tx, TENANT, True, by="cli:rehearsal", now=system_clock())
    return await work


async def _nothing() -> None:
    """No disturbance."""


def report(client: FeedClient, session: Session, api: Api, started: float, seconds: float) -> list[str]:
    """Print what was measured; what was not as it should be."""
    print(f"\n{seconds / 60:.1f} minutes, {api.calls} calls, {client.named} names")
    print(
        f"{client.favourites} favourites; {', '.join(f'{n} {tag}' for tag, n in client.handed_over.items())}"
    )
    for text, count in client.void_reasons.most_common():
        print(f"void: {count} x {text}")
    print(f"started: up after {started:.1f} s")
    for each in session.outcomes:
        print(f"{each.name:14} up {each.up:6.1f} s, equal {each.equal:6.1f} s, down: {each.went_down}")
    for what, counted in (
        ("failed", client.failed),
        ("unresolved", client.unresolved),
        ("broker", client.refused),
    ):
        for text, count in counted.most_common():
            print(f"{what}: {count} x {text}")
    wrong = [f"up only {started:.1f} s after starting"] if started > START_SECONDS else []
    wrong += [f"{each.name}: up {each.up:.1f} s" for each in session.outcomes if each.up > AGAIN_SECONDS]
    wrong += [f"{each.name}: book differs" for each in session.outcomes if each.equal == float("inf")]
    wrong += [f"failed: {text}" for text in client.failed]
    wrong += [f"unresolved: {text}" for text in client.unresolved]
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description="An existing client against the demo")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--downtimes", type=int, default=0, help="so many, and nothing else")
    parser.add_argument("--processes", type=int, default=0, help="of one tenant, cut in any order")
    parser.add_argument("--rounds", type=int, default=20, help="with --processes: rounds of cuts")
    parser.add_argument("--port", type=int, default=8600)
    parser.add_argument("--running", type=Path, help="the var directory of a demo that runs already")
    options = parser.parse_args()
    with ExitStack() as stack:
        place = options.running
        demo = present(place) if place else stack.enter_context(running(VAR, options.port))
        if options.processes:
            work = run_together(demo, options.processes, options.rounds)
        elif options.downtimes:
            work = run_downtimes(demo, options.downtimes)
        else:
            work = run(demo, options.minutes)
        wrong = asyncio.run(_with_bet_stop(demo.environment, work))
    print("\n".join(wrong) if wrong else "all as it should be")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()

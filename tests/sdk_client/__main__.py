"""An existing client against the demo: every fault of the menu, and cut connections.

python -m tests.sdk_client [--minutes 10]     (`nox -s sdk`; it starts a demo of its own under var/sdk, and
ends it)

It is up within 10 s of starting, and up again within 40 s of the end of each fault, with a book that equals
REST. Then the run is filled up to its minutes with quiet. What SDKs cannot detect is not injected into this
client's messages: some that never come (`drop` concerns another tenant here).
"""

import argparse
import asyncio
import json
import os
import shlex
import ssl
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import msgspec

from app import settings
from app.sandbox.demonstration import RunningDemo
from app.sandbox.faults import FAULTS, FaultTarget
from scripts.demonstration.comparison import Look, look, verdict
from scripts.local_services import ports
from tests.sdk_client.api import Api
from tests.sdk_client.broker import BrokerAddress
from tests.sdk_client.feed import FeedClient, following
from tests.sdk_client.names import Names

ROOT = Path(__file__).resolve().parents[2]
VAR = ROOT / "var" / "sdk"
TENANT = "beta"
LOCALES = ("en", "ru")
START_SECONDS, AGAIN_SECONDS = 10.0, 40.0
CUTS = (4.0, 20.0, 120.0)
#: Faults of other tenants' messages: an SDK has no means to notice that a message never came.
OF_OTHERS = ("drop",)
_CHECK_SECONDS = 1.0
_SETTLED_SECONDS = 3.0  #: so long it is to stay up, before that counts


class Outcome(msgspec.Struct, frozen=True):
    """What followed one disturbance: seconds from its end until the producer was up and the book equal."""

    name: str
    up: float
    equal: float
    went_down: bool


class Session:
    """One run against the demo that `description` (var/demo.json) and `environment` (var/demo.env)
    describe."""

    def __init__(self, client: FeedClient, description: dict[str, Any], environment: dict[str, str]) -> None:
        self.client, self._description, self._environment = client, description, environment
        [tenant] = [each for each in description["tenants"] if each["slug"] == TENANT]
        headers = {"X-API-Key": tenant["api_key"]}
        self._rest = httpx.AsyncClient(base_url=description["base_url"], headers=headers, trust_env=False)
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
        config = settings.load(self._environment)
        target = FaultTarget(
            demo=RunningDemo(self._environment),
            tenant="acme" if name in OF_OTHERS else TENANT,
            database_url=config.database_url,
            rabbitmq_url=config.rabbitmq_url,
            rabbitmq_api_url=config.rabbitmq_api_url,
            exchange=config.exchange,
            producer_id=config.producer_id,
            print_step=lambda text: print(f"   {text}", flush=True),
        )
        await FAULTS[name].inject(target)
        if name == "broker":  # a killed one is started again by the demo; the fault ends when it answers
            await self.client.until("the connection is lost", lambda: not self.client.connected, 20)
            sdk = self._description["sdk"]
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
        first = await self._look()
        await asyncio.sleep(_CHECK_SECONDS)
        second = await self._look()
        if first is None or second is None:
            return False
        found = verdict(first, second)
        if found is not None and found.count:
            print(f"   {found.count} differences: {found.kinds}", flush=True)
        return found is not None and found.count == 0

    async def _look(self) -> Look | None:
        book = self.client.book
        try:
            answer = await self._rest.post("/cs2/v1/selfcheck", json=book.digest())
        except httpx.TransportError:
            return None
        if answer.status_code != 200:
            return None
        return look(answer.json()["data"], book.seqs, time.time_ns() // 1_000_000)


def environment_of(place: Path) -> dict[str, str]:
    """The settings that the demo's shell file exports."""
    lines = (place / "demo.env").read_text().splitlines()
    assignments = [shlex.split(line.removeprefix("export "))[0] for line in lines]
    return dict(assignment.split("=", 1) for assignment in assignments)


def demo(*arguments: str) -> None:
    command = [sys.executable, "-m", "scripts.demo", *arguments]
    subprocess.run(command, cwd=ROOT, env=os.environ | {"MATCHFEED_VAR": str(VAR)}, check=True)


async def run(description: dict[str, Any], environment: dict[str, str], minutes: float) -> list[str]:
    """What was not as it should be."""
    sdk = description["sdk"]
    [tenant] = [each for each in description["tenants"] if each["slug"] == TENANT]
    trusted = ssl.create_default_context(cafile=sdk["ca_file"])
    began = time.monotonic()
    async with httpx.AsyncClient(
        base_url=sdk["api_url"].removesuffix("/v1"), verify=trusted, trust_env=False
    ) as http:
        api = Api(http, tenant["api_key"])
        broker = BrokerAddress(sdk["mq_host"], sdk["mq_port"], sdk["ca_file"])
        identity = await api.identity()
        client = FeedClient(api, broker, identity, [Names(api, locale) for locale in LOCALES])
        async with following(client):
            await client.until("up", lambda: client.producer.up, 60)
            started = client.producer.since - began
            print(f"up {started:.1f} s after starting", flush=True)
            for locale in LOCALES:
                await api.catalogues(locale)
                await api.schedules(locale)
            session = Session(client, description, environment)
            await session.disturb("start", _nothing)
            for seconds in CUTS:
                await session.disturb(
                    f"cut for {seconds:.0f} s", lambda seconds=seconds: session.cut(seconds)
                )
            for name in FAULTS:
                await session.disturb(name, lambda name=name: session.fault(name))
            await asyncio.sleep(max(0.0, minutes * 60 - (time.monotonic() - began)))
            return report(client, session, api, started, time.monotonic() - began)


async def _nothing() -> None:
    """No disturbance."""


def report(client: FeedClient, session: Session, api: Api, started: float, seconds: float) -> list[str]:
    """Print what was measured; what was not as it should be."""
    print(f"\n{seconds / 60:.1f} minutes, {api.calls} calls, {client.named} names")
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
    parser.add_argument("--port", type=int, default=8600)
    parser.add_argument("--running", type=Path, help="the var directory of a demo that runs already")
    options = parser.parse_args()
    place = options.running or VAR
    if not options.running:
        demo("--detach", "--reset", "--port", str(options.port))
    try:
        description = json.loads((place / "demo.json").read_text())
        wrong = asyncio.run(run(description, environment_of(place), options.minutes))
    finally:
        if not options.running:
            demo("--stop")
    print("\n".join(wrong) if wrong else "all as it should be")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()

"""Which alerts each fault of the demo raises, and that they end, compared with `fault_alerts`.

python -m scripts.monitoring [FAULT ...]     (`nox -s alerts`; a demo of its own under var/alerts)

Each fault is injected, after half a minute without alerts, into a demo that a Prometheus of its own watches,
which begins with an empty database: what an earlier fault spent of a budget does not count. Its rules are the
committed ones, scaled (`fault_alerts.FACTOR`).
"""

import argparse
import asyncio
import shutil
import sys
import time
from typing import Any

import httpx

from app.sandbox.faults import FAULTS
from app.sandbox.healing import run_fault
from scripts.http_client import client
from scripts.lab.demo import Demo, running
from scripts.lab.record import ROOT
from scripts.local_services import ports
from scripts.monitoring import prometheus_server
from scripts.monitoring.fault_alerts import FACTOR, Raised
from scripts.monitoring.fault_alerts import FAULTS as EXPECTED
from scripts.monitoring.prometheus_server import PrometheusServer
from scripts.monitoring.rules_file import scaled

VAR = ROOT / "var" / "alerts"
RULES = ROOT / "scripts" / "deploy" / "matchfeed-alerts.yml"
TENANT = "board"  #: whose bookmaker runs in the demo
#: A tenant counts as losing messages for five minutes, which are not scaled.
_QUIET_SECONDS, _ENDED_SECONDS, _PATIENCE_SECONDS = 30.0, 20.0, 420.0
_POLL_SECONDS = 0.5
#: Of budgets the fast burning alone: longer windows hold more than a fault and what came before it.
_LONG_WINDOWS = ("/6h", "/1d", "/3d")


class Watch:
    """Notes every alert that fires in Prometheus, and every operators' alert that is open, until stopped."""

    def __init__(self, server: PrometheusServer, demo: dict[str, Any]) -> None:
        self._server = server
        self._http = client(demo["operator_url"], demo["operator_key"], 5)
        self._began = time.monotonic()
        self.firing: frozenset[str] = frozenset()
        self.open: frozenset[str] | None = frozenset()
        self.fired: set[str] = set()
        self.opened: set[str] = set()

    async def run(self) -> None:
        while True:
            await self.look()
            await asyncio.sleep(_POLL_SECONDS)

    async def look(self) -> None:
        firing = await asyncio.to_thread(self._server.firing)
        found = frozenset(each.removesuffix("/1h") for each in firing if not each.endswith(_LONG_WINDOWS))
        self._print(found - self.firing, "fires")
        self._print(self.firing - found, "ends")
        self.firing = found
        self.fired |= found
        self.open = await self._open_kinds()
        if self.open:
            self._print(self.open - self.opened, "opens")
            self.opened |= self.open

    async def quiet(self, seconds: float, patience: float) -> bool:
        """Wait until nothing has fired or been open for so long; whether that came within `patience`."""
        deadline, since = time.monotonic() + patience, time.monotonic()
        while time.monotonic() - since < seconds:
            if time.monotonic() > deadline:
                return False
            if self.firing or self.open is None or self.open:
                since = time.monotonic()
            await asyncio.sleep(_POLL_SECONDS)
        return True

    def forget(self) -> None:
        self.fired.clear()
        self.opened.clear()
        self._began = time.monotonic()

    async def _open_kinds(self) -> frozenset[str] | None:
        """The kinds of operators' alerts that are open; None while no web process answers."""
        try:
            answer = await self._http.get("/ops/v1/alerts", params={"open": "true", "limit": 1000})
        except httpx.TransportError:
            return None
        if answer.status_code != httpx.codes.OK:
            return None
        return frozenset(each["kind"] for each in answer.json()["data"])

    def _print(self, names: frozenset[str] | set[str], what: str) -> None:
        for name in sorted(names):
            print(f"   {time.monotonic() - self._began:6.1f} s {name} {what}", flush=True)


async def rehearse(name: str, demo: Demo, port: int) -> list[str]:
    """Inject one fault; what was not as expected."""
    home = VAR / "prometheus" / name
    shutil.rmtree(home, ignore_errors=True)
    rules = scaled(RULES.read_text(), FACTOR)
    print(f"-- {name}", flush=True)
    with prometheus_server.running(home, port, rules, demo.description["metrics"]) as server:
        watch = Watch(server, demo.description)
        watching = asyncio.create_task(watch.run())
        try:
            if not await watch.quiet(_QUIET_SECONDS, _PATIENCE_SECONDS):
                return [f"{name}: no quiet before it: {sorted(watch.firing)}, open {watch.open}"]
            watch.forget()
            await run_fault(demo.fault_target(TENANT), FAULTS[name], lambda text, kind: None)
            ended = await watch.quiet(_ENDED_SECONDS, _PATIENCE_SECONDS)
            late = server.value("matchfeed:messages_late:ratio_rate1h")
            print(f"   late of all messages: {late:.2%}", flush=True)
            return compared(name, EXPECTED[name], watch, ended=ended)
        finally:
            watching.cancel()
            await asyncio.wait([watching])


def compared(name: str, expected: Raised, watch: Watch, *, ended: bool) -> list[str]:
    """How what was raised differs from what should have been."""
    wrong = []
    for what, found, must, may in (
        ("Prometheus", watch.fired, expected.raises, expected.may),
        ("operators' alerts", watch.opened, expected.operators, expected.may_operators),
    ):
        wrong += [f"{name}: {what}: {each} is missing" for each in sorted(must - found)]
        wrong += [f"{name}: {what}: {each} too many" for each in sorted(found - must - may)]
    if not ended:
        wrong.append(f"{name}: did not end: {sorted(watch.firing)}, open {watch.open}")
    return wrong


def environment() -> dict[str, str]:
    """Of a demo without the oddities of servers, which raise alerts of their own, and with a broker of its
    own: only that one may be killed, so the settings lead to a port where none answers."""
    [unused] = ports.free_ports([0])
    return {
        "MATCHFEED_ODDITIES": "false",
        "RABBITMQ_URL": f"amqp://guest:guest@{ports.LOOPBACK}:{unused}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Which alerts each fault of the demo raises")
    parser.add_argument("faults", nargs="*", choices=[*FAULTS, []], metavar="FAULT")
    parser.add_argument("--port", type=int, default=8700, help="the demo's; Prometheus has one far above")
    options = parser.parse_args()
    with running(VAR, options.port, **environment()) as demo:
        [port] = ports.free_ports([options.port + 10])
        wrong = [
            line for name in options.faults or FAULTS for line in asyncio.run(rehearse(name, demo, port))
        ]
    print("\n".join(wrong) if wrong else "all as it should be")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()

"""Which incidents each fault of the demo has on the page `/status`, how soon, and that they end: compared
with `fault_alerts`.

python -m scripts.monitoring.status_incidents [FAULT ...]     (`nox -s status`; a demo under var/status)

Each fault is injected after half a minute in which no incident was open and none began: nothing may be
invented. Page and JSON are requested four times a second, without a key.
"""

import argparse
import asyncio
import sys
import time
from typing import Any

import httpx

from app.domain.service_status import KIND_TITLES, IncidentKind
from app.sandbox.faults import FAULTS
from app.sandbox.healing import run_fault
from scripts.lab.demo import Demo, running
from scripts.lab.record import ROOT
from scripts.monitoring.__main__ import TENANT, environment
from scripts.monitoring.fault_alerts import FAULTS as EXPECTED
from scripts.monitoring.fault_alerts import Raised

VAR = ROOT / "var" / "status"
_QUIET_SECONDS, _PATIENCE_SECONDS = 30.0, 240.0
#: Within so long after the fault an incident is on the page; after the page is back, where that was away.
_SHOWN_SECONDS, _BACK_SECONDS = 30.0, 5.0
_POLL_SECONDS = 0.25


class Watch:
    """Notes every incident that begins, until stopped. `shown`: the kinds of those since `begin`;
    `late`: those that were on the page too late."""

    def __init__(self, base_url: str) -> None:
        self._http = httpx.AsyncClient(base_url=base_url, timeout=5, trust_env=False)
        self._began = self._wrong_at = self._back_at = time.monotonic()
        self._known: set[int] | None = None  # until the first look
        self.shown: set[IncidentKind] = set()
        self.late: set[IncidentKind] = set()

    async def run(self) -> None:
        while True:
            await self._look()
            await asyncio.sleep(_POLL_SECONDS)

    def begin(self) -> None:
        """The fault begins now; what began before does not count."""
        self.shown.clear()
        self.late.clear()
        self._began = time.monotonic()

    async def quiet(self) -> bool:
        """Wait until no incident has been open or begun for a while; whether that came in time."""
        began = self._wrong_at = time.monotonic()
        while time.monotonic() - self._wrong_at < _QUIET_SECONDS:
            if time.monotonic() - began > _PATIENCE_SECONDS:
                return False
            await asyncio.sleep(_POLL_SECONDS)
        return True

    async def _look(self) -> None:
        try:
            answer = await self._http.get("/v1/status")
            page = (await self._http.get("/status")).text
        except httpx.TransportError:
            self._wrong_at = self._back_at = time.monotonic()
            return
        found = answer.json()["data"]["incidents"] if answer.status_code == httpx.codes.OK else []
        if answer.status_code != httpx.codes.OK or any(each["ended_at"] is None for each in found):
            self._wrong_at = time.monotonic()
        if self._known is None:
            self._known = {each["id"] for each in found}
        for each in found:
            if each["id"] not in self._known and KIND_TITLES[IncidentKind(each["kind"])] in page:
                self._known.add(each["id"])
                self._note(each)

    def _note(self, one: dict[str, Any]) -> None:
        self._wrong_at = time.monotonic()
        kind, now = IncidentKind(one["kind"]), time.monotonic()
        seconds, back = now - self._began, now - max(self._began, self._back_at)
        was_away = self._back_at > self._began
        if kind not in self.shown and seconds > _SHOWN_SECONDS and not (was_away and back <= _BACK_SECONDS):
            self.late.add(kind)
        self.shown.add(kind)
        print(f"   {seconds:6.1f} s {kind}: {one['updates'][0]['text']}", flush=True)


async def rehearse(name: str, demo: Demo) -> list[str]:
    """Inject one fault; what was not as expected."""
    watch = Watch(demo.description["base_url"])
    watching = asyncio.create_task(watch.run())
    try:
        if not await watch.quiet():
            return [f"{name}: no quiet before it"]
        print(f"-- {name}", flush=True)
        watch.begin()
        await run_fault(demo.fault_target(TENANT), FAULTS[name], lambda text, kind: None)
        ended = await watch.quiet()
        return compared(name, EXPECTED[name], watch, ended=ended)
    finally:
        watching.cancel()
        await asyncio.wait([watching])


async def observe(seconds: float, demo: Demo) -> list[str]:
    """Observe without any fault; what was shown nevertheless."""
    print(f"-- {seconds:.0f} s without a fault", flush=True)
    watch = Watch(demo.description["base_url"])
    watching = asyncio.create_task(watch.run())
    try:
        if not await watch.quiet():
            return ["no quiet at all"]
        watch.begin()
        await asyncio.sleep(seconds)
        return compared("no fault", Raised(), watch, ended=True)
    finally:
        watching.cancel()
        await asyncio.wait([watching])


def compared(name: str, expected: Raised, watch: Watch, *, ended: bool) -> list[str]:
    """How the incidents differ from what should have been."""
    wrong = [f"{name}: {each} is missing" for each in sorted(expected.incidents - watch.shown)]
    too_many = watch.shown - expected.incidents - expected.may_incidents
    wrong += [f"{name}: {each} too many" for each in sorted(too_many)]
    wrong += [f"{name}: {each} is late" for each in sorted(expected.incidents & watch.late)]
    if not ended:
        wrong.append(f"{name}: an incident did not end")
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description="Which incidents each fault of the demo has")
    parser.add_argument("faults", nargs="*", choices=[*FAULTS, []], metavar="FAULT")
    parser.add_argument("--port", type=int, default=8750, help="the demo's")
    parser.add_argument("--without", type=float, default=120, help="seconds without a fault at first")
    options = parser.parse_args()
    with running(VAR, options.port, **environment()) as demo:
        wrong = asyncio.run(observe(options.without, demo))
        wrong += [line for name in options.faults or FAULTS for line in asyncio.run(rehearse(name, demo))]
    print("\n".join(wrong) if wrong else "all as it should be")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()

"""Breaks and mends, beside everything else that goes on."""

import asyncio
import time

from scripts.clustering import brokers
from scripts.clustering.hosts import BROKERS, COUNTERS, DATABASES, FEED, INGEST, WEB
from scripts.clustering.record import Record
from scripts.histories.fault_table import FAULTS, Act, start
from scripts.histories.history import Break
from scripts.local_services.processes import ServiceError, find

#: Nodes that reach each other again notice within so long that they were separated. On a busy machine one may
#: pause only then, and it begins again by itself.
_RECONNECT_SECONDS, _REUNITE_SECONDS = 3.0, 300.0
_CLEAN_LOOKS = 2  #: so often in turn all nodes answer, and none is separated
_PAUSED_SECONDS = 60.0  #: a node that does not answer for so long does not begin again by itself


class Breakage:
    """`failures`: what could not be broken or mended; `mended`: when the last fault was (Unix seconds)."""

    def __init__(self, record: Record) -> None:
        self.failures = list[str]()
        self.mended = time.time()
        self._record = record

    async def hit(self, step: Break) -> None:
        """Break, wait, mend, also when it is cancelled; returns when that is mended."""
        fault = FAULTS[step.fault]
        await self._act(f"breaking: {step.fault}", fault.breaks, step.host)
        try:
            await asyncio.sleep(step.seconds)
        finally:
            await self._act(f"mending: {step.fault}", fault.mends, step.host)
            if step.host in BROKERS:
                await self._reunite()
            self.mended = time.time()

    async def restart(self) -> None:
        """Start again what has ended: an earlier run may have left it so."""
        ended = [each for each in self._record.processes if not find(each)]
        hosts = {each.name.partition("/")[0] for each in ended}
        self._record.end(ended)
        for host in (*BROKERS, *DATABASES, COUNTERS, *WEB, *INGEST, *FEED):
            if host in hosts or not self._record.of_host(host):
                await self._act("starting again", start, host)

    async def _reunite(self) -> None:
        """As operators do by docs/scaling.md."""
        deadline, clean = time.monotonic() + _REUNITE_SECONDS, 0
        silent = dict[str, float]()  #: since when nodes have not answered
        while clean < _CLEAN_LOOKS:
            await asyncio.sleep(_RECONNECT_SECONDS)
            now = time.monotonic()
            if now > deadline:
                self.failures.append(f"the broker's nodes are not together after {_REUNITE_SECONDS:.0f} s")
                return
            silent = {host: silent.get(host, now) for host in await asyncio.to_thread(self._silent)}
            if silent:
                host = next((host for host, since in silent.items() if now - since > _PAUSED_SECONDS), "")
            else:
                host = await asyncio.to_thread(brokers.separated, self._record)
            clean = 0 if silent or host else clean + 1
            if host:
                silent.pop(host, None)
                await asyncio.to_thread(self._record.kill, host)
                await self._act("restarting a node that is separated or paused", start, host)

    def _silent(self) -> list[str]:
        return [host for host in BROKERS if not brokers.answers(self._record, host)]

    async def _act(self, what: str, act: Act, host: str) -> None:
        try:
            await asyncio.to_thread(act, self._record, host)
        except ServiceError as error:
            self.failures.append(f"{what} ({host}): {error}")

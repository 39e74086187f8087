"""Breaks and mends, beside everything else that goes on."""

import asyncio

from scripts.clustering.record import Record
from scripts.histories.fault_table import FAULTS, Act
from scripts.histories.history import Break
from scripts.local_services.processes import ServiceError


class Breakage:
    """`failures`: what could not be broken or mended."""

    def __init__(self, record: Record) -> None:
        self.failures = list[str]()
        self._record = record

    async def hit(self, step: Break) -> None:
        """Break, wait, mend; returns when that is mended."""
        fault = FAULTS[step.fault]
        await self._act(f"breaking: {step.fault}", fault.breaks, step.host)
        await asyncio.sleep(step.seconds)
        await self._act(f"mending: {step.fault}", fault.mends, step.host)

    async def _act(self, what: str, act: Act, host: str) -> None:
        try:
            await asyncio.to_thread(act, self._record, host)
        except ServiceError as error:
            self.failures.append(f"{what} ({host}): {error}")

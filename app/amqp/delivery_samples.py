"""Samples of the delivery to the tenants of a process, by the minute: counted in memory where messages are
confirmed, and written once a minute, all in one statement.

They outlive the sessions of the process: what a session that has ended published is written by the next
minute. A process that is killed loses those of its last minute.
"""

import asyncio
from uuid import UUID

from app.amqp.delay_counts import DelayCounts
from app.kit.background import retry_while_unavailable
from app.kit.clock import Clock, system_clock
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.store import delivery_minutes
from app.store.connections import Store
from app.store.delivery_minutes import MINUTE_MILLIS, RETAINED_MILLIS, DeliveryMinute

_AFTER_SECONDS = 0.5  #: a minute is written so long after its end
log = get_logger(__name__)


class DeliverySamples:
    """The minutes that are not written yet, and the `delays` of the day. A minute is never begun again,
    should the clock go back: it may be written."""

    def __init__(self, clock: Clock = system_clock) -> None:
        self._clock = clock
        self.delays = DelayCounts(clock)
        self._minute = 0
        self._unwritten: dict[tuple[UUID, int, int], DeliveryMinute] = {}

    def minute(self) -> int:
        """The beginning of the present minute (Unix ms)."""
        self._minute = max(self._minute, self._clock() // MINUTE_MILLIS * MINUTE_MILLIS)
        return self._minute

    def current(self, tenant_id: UUID, epoch: int) -> DeliveryMinute:
        """The sample of the present minute."""
        key = tenant_id, self.minute(), epoch
        found = self._unwritten.get(key)
        if found is None:
            found = self._unwritten[key] = DeliveryMinute(*key)
        return found

    async def write(self, store: Store, *, present: bool = False) -> None:
        """Write what has ended, and with `present` the present minute, too. Raises `Unavailable`; everything
        is then written at the next call."""
        await self.delays.write(store)
        now = self.minute()
        for key in [key for key in self._unwritten if key[1] < now - RETAINED_MILLIS]:
            del self._unwritten[key]
        ready = [each for each in self._unwritten.values() if present or each.minute < now]
        if not ready:
            return
        async with store.autocommit() as tx:  # a single statement is atomic
            await delivery_minutes.save(tx, ready)
        for each in ready:
            if each.minute < now:
                self._unwritten.pop((each.tenant_id, each.minute, each.epoch), None)

    async def write_regularly(self, store: Store) -> None:
        """Write each minute once it has ended, until cancelled."""
        while True:
            left = MINUTE_MILLIS - self._clock() % MINUTE_MILLIS
            await asyncio.sleep(left / 1000 + _AFTER_SECONDS)
            await retry_while_unavailable("writing samples of the delivery", lambda: self.write(store))

    async def write_last(self, store: Store) -> None:
        """Write everything before the process ends; if that fails, it is lost."""
        try:
            await self.write(store, present=True)
        except Unavailable as error:
            log.warning("writing samples of the delivery failed", error=error.detail)


class TenantSamples:
    """Counts what is published to one tenant under one lease."""

    def __init__(self, samples: DeliverySamples, tenant_id: UUID, epoch: int) -> None:
        self._samples, self._tenant_id, self._epoch = samples, tenant_id, epoch

    def delayed(self, seconds: float, families: tuple[str, ...]) -> None:
        """A message was confirmed so long after the arrival of the log lines behind it; `families` are those
        of the results in it."""
        self._samples.delays.add(seconds, families)

    def confirmed(self, count: int, lag: float) -> None:
        """So many envelopes were confirmed, `lag` ms after the timestamp of the oldest."""
        sample = self._samples.current(self._tenant_id, self._epoch)
        sample.published += count
        sample.lag = max(sample.lag, round(lag))

    def waits(self, lag: float) -> None:
        """The oldest envelope that is not published yet has waited for `lag` ms; 0: there is none."""
        self.confirmed(0, lag)

    def dropped(self, count: int) -> None:
        """The tenant's queues have lost so many messages."""
        self._samples.current(self._tenant_id, self._epoch).dropped += count

    def notified(self) -> None:
        """A loss notice was published."""
        self._samples.current(self._tenant_id, self._epoch).notices += 1

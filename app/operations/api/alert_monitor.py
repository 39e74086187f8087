"""Alerts that follow from stored state: dead processes, losses of tenants, parked batches.

Alerts about a doubt of a match begin and end with the doubt (`app.commands.match_update`). Any number of
processes may run the monitor at once: an alert begins and ends once.
"""

import asyncio

from app.kit import metrics
from app.kit.background import retry_while_unavailable
from app.kit.clock import Clock, iso_seconds
from app.store import alerts, cursors, heartbeats, listings, log_state
from app.store.alerts import AlertKind, AlertSubject
from app.store.connections import Store
from app.store.cursors import MessageLoss
from app.store.transaction import Tx

OK = "ok"
_EVERY_SECONDS = 2.0
_PROCESSES = (heartbeats.INGEST, heartbeats.FEED)


class AlertMonitor:
    """Updates these alerts, and the gauges of all open alerts and of the matches in play.

    Processes of a kind are dead when none has sent a heartbeat for `dead_seconds`; before the first
    heartbeat, counted from our own start.
    """

    def __init__(self, store: Store, clock: Clock, *, dead_seconds: int) -> None:
        self._store, self._clock = store, clock
        self._dead_seconds = dead_seconds
        self._since = clock()

    async def run(self) -> None:
        while True:
            await retry_while_unavailable("updating alerts", self.update)
            await asyncio.sleep(_EVERY_SECONDS)

    async def update(self) -> None:
        """Update once; raises `Unavailable`."""
        now = self._clock()
        async with self._store.transaction() as tx:
            dead = await self._dead(tx, now)
            await alerts.sync(tx, AlertKind.DEAD_PROCESS, dead, now)
            await alerts.sync(tx, AlertKind.TENANT_LOSING_MESSAGES, await _losing(tx), now)
            for match_id in await log_state.parked_and_recovered(tx):
                await alerts.end(tx, AlertSubject(AlertKind.PARKED_BATCH, match_id=match_id), now)
            await alerts.end_for_matches_over(tx, now)
            count = await alerts.open_count(tx)
            live = len(await listings.live_versions(tx))
        for kind in AlertKind:
            metrics.alerts_open.labels(kind).set(count.get(kind, 0))
        for process in _PROCESSES:
            metrics.heartbeat_missing.labels(process).set(process in {about.subject for about in dead})
        silent = min(live, count.get(AlertKind.SILENT_SOURCE, 0))
        metrics.live_matches.labels("silent").set(silent)
        metrics.live_matches.labels("sending").set(live - silent)

    async def _dead(self, tx: Tx, now: int) -> dict[AlertSubject, str]:
        dead = {}
        for kind in _PROCESSES:
            newest = await heartbeats.latest(tx, kind)
            if now - max(newest, self._since) >= self._dead_seconds * 1000:
                seen = f"since {iso_seconds(newest)}" if newest else "so far"
                dead[AlertSubject(AlertKind.DEAD_PROCESS, subject=kind)] = (
                    f"no {kind} process has been alive {seen}"
                )
        return dead


async def _losing(tx: Tx) -> dict[AlertSubject, str]:
    found = await cursors.losses(tx)
    return {AlertSubject(AlertKind.TENANT_LOSING_MESSAGES, tenant=loss.slug): _missed(loss) for loss in found}


def _missed(loss: MessageLoss) -> str:
    if loss.dropped:
        lost = f"{loss.dropped} messages lost since the alert began"
        return f"{lost}; no queue is bound now" if loss.unbound else lost
    if loss.unbound:
        return "live messages passed while no queue was bound"
    return "it has not been notified yet that it missed messages"


async def alerts_state(store: Store) -> str:
    """`ok`, or which kinds of alerts are open, and how many; names no match and no tenant."""
    async with store.autocommit() as tx:
        count = await alerts.open_count(tx)
    return ", ".join(f"{kind}: {count[kind]}" for kind in AlertKind if kind in count) or OK

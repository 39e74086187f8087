"""What a replay publishes, in order, and when: read page by page, so that memory does not grow with the
match."""

import heapq
from collections.abc import AsyncGenerator, Sequence
from typing import NamedTuple
from uuid import UUID

from app.amqp.envelope import published_groups
from app.domain.ids import match_urn
from app.domain.replay import ReplayJob, ReplayOptions
from app.domain.tenant import Tenant
from app.kit.background import retry_while_unavailable
from app.store import kept_changes, matches, tenants
from app.store.changes import BET_STOP, ChangeRow, tenant_of
from app.store.connections import Store
from app.store.transaction import Tx


class NotReplayable(Exception):
    """The replay cannot go on; the reason is for the tenant to read."""


class Entry(NamedTuple):
    """An envelope of a match: its rows, and when it is due (ms since this run began)."""

    due: float
    match_id: UUID
    rows: Sequence[ChangeRow]


class ReplayTimeline:
    """What is left of a replay; `tenant` is known after `open`."""

    def __init__(self, store: Store, job: ReplayJob) -> None:
        self._store, self._job = store, job
        self._gaps: dict[UUID, list[tuple[int, int]]] = {}
        self.tenant: Tenant

    async def open(self) -> None:
        """Read what holds for the tenant. Raises `NotReplayable` if one of the matches is no longer kept
        whole, or no longer booked; `Unavailable`."""
        job = self._job
        async with self._store.snapshot() as tx:
            tenant = await tenants.get(tx, job.tenant_id)
            if tenant is None:
                raise NotReplayable("the tenant is gone")
            self.tenant = tenant
            gaps = await tenants.booking_gaps(tx)
            await self._check(tx, self._job.match_ids)
        self._gaps = {match_id: found for (owner, match_id), found in gaps.items() if owner == job.tenant_id}

    async def _check(self, tx: Tx, match_ids: Sequence[UUID]) -> None:
        for reason, possible in (
            ("no longer kept", await kept_changes.whole(tx, match_ids)),
            ("no longer booked", await tenants.booked(tx, self._job.tenant_id, match_ids)),
        ):
            if missing := [one for one in match_ids if one not in possible]:
                match = await matches.get(tx, missing[0])
                name = match_urn(match.number) if match else str(missing[0])
                raise NotReplayable(f"{name} is {reason}")

    async def entries(self) -> AsyncGenerator[Entry, None]:
        """What is left, in the order in which it is due. Raises `NotReplayable` as `open` does."""
        if not self._job.options.parallel:
            begin = 0.0
            for match_id in self._job.match_ids:
                async for entry in self._of_match(match_id, begin):
                    begin = entry.due
                    yield entry
            return
        heap: list[tuple[float, int, Entry, AsyncGenerator[Entry, None]]] = []
        for place, match_id in enumerate(self._job.match_ids):
            source = self._of_match(match_id, 0.0)
            if first := await anext(source, None):
                heapq.heappush(heap, (first.due, place, first, source))
        while heap:
            _, place, entry, source = heap[0]
            yield entry
            if following := await anext(source, None):
                heapq.heapreplace(heap, (following.due, place, following, source))
            else:
                heapq.heappop(heap)

    async def _of_match(self, match_id: UUID, begin: float) -> AsyncGenerator[Entry, None]:
        due, before = begin, None
        after = self._job.positions.get(match_id, 0)
        while rows := await self._page(match_id, after):
            after = rows[-1].seq
            for group in published_groups(rows):
                if self._receives(match_id, group[-1]):
                    at = group[-1].at
                    due += pause_millis(self._job.options, at - before) if before is not None else 0
                    before = at
                    yield Entry(due, match_id, group)

    async def _page(self, match_id: UUID, after: int) -> list[ChangeRow]:
        """The next changes. What is kept may be deleted, or unbooked, at any time: what follows would then be
        missing without notice."""

        async def read() -> list[ChangeRow]:
            async with self._store.snapshot() as tx:
                await self._check(tx, [match_id])
                return await kept_changes.read(tx, match_id, after)

        return await retry_while_unavailable("reading a replay", read)

    def _receives(self, match_id: UUID, row: ChangeRow) -> bool:
        """Whether the tenant received the envelope that ends with this row."""
        if tenant_of(row) not in (None, self._job.tenant_id):
            return False
        if row.entity == BET_STOP and not self.tenant.bet_stop:
            return False
        return tenants.booked_at(self._gaps.get(match_id, ()), row.envelope_seq)


def pause_millis(options: ReplayOptions, millis: int) -> float:
    """How long a replay waits where then so many ms passed."""
    return min(millis / options.speed, options.max_delay)

"""What one poller knows: standings of the matches it watches, all at one moment of the change log."""

from collections.abc import Collection, Iterable, Mapping
from itertools import groupby
from typing import NamedTuple
from uuid import UUID

from app.channels.stream.standing import Standing
from app.channels.stream.telling import Told, tell
from app.domain.match import Match, Round, TimelineEvent
from app.store import changes, history, markets, matches, tenants, watching
from app.store.changes import ChangeRow
from app.store.connections import Store
from app.store.transaction import Tx

_PAGE = 2000


class Gap(Exception):
    """Changes that were not seen are not kept any more."""


class _News(NamedTuple):
    """What happened, all of it read before any of it is taken in: a look that fails halfway must leave the
    standings as they were, or the next one would find nothing new in what nobody has been told."""

    rows: list[ChangeRow]
    fresh: dict[UUID, Standing]
    held: list[Match]
    pasts: Mapping[UUID, tuple[Iterable[Round], Iterable[TimelineEvent]]]


class Watch:
    """One match, or all: then those that are live or have something on offer are held, and others only
    while they change. `seq` is the moment that the standings show."""

    def __init__(self, store: Store, match_id: UUID | None) -> None:
        self._store = store
        self.match_id = match_id
        self.standings: dict[UUID, Standing] = {}
        self.seq = -1
        #: By tenant, the matches that it has given back; kept for those in `tenants` only.
        self.tenants: set[UUID] = set()
        self._unbooked: dict[UUID, set[UUID]] = {}

    async def advance(self) -> list[Told]:
        """Bring the standings to the present; what has happened since the last time, nothing the first time.

        Standings of matches that are over stay until `settle`. Raises `Unavailable`, and `Gap`; then nothing
        has been taken in.
        """
        async with self._store.snapshot() as tx:
            head = await changes.head(tx)
            begun = await self._begin(tx) if self.seq < 0 else None
            news = await self._follow(tx) if begun is None else None
            unbooked = await self._kept_back(tx)
        if begun is not None:
            self.standings = begun
        told = self._take(news) if news else []
        self.seq, self._unbooked = head, unbooked
        return told

    def forget(self) -> None:
        """Know nothing, so that the next `advance` begins anew."""
        self.seq = -1
        self.standings.clear()

    def settle(self) -> list[UUID]:
        """Let go of the standings that nothing is shown of any more; whose."""
        if self.match_id is not None:
            return []
        gone = [standing.id for standing in self.standings.values() if not standing.relevant]
        for match_id in gone:
            del self.standings[match_id]
        return gone

    async def past(self, since: int, limit: int) -> list[ChangeRow] | None:
        """The changes between `since` and the present of the standings; None when they are not kept any more,
        or more than `limit`."""
        async with self._store.snapshot() as tx:
            if since < await changes.tail(tx) - 1:
                return None
            rows = await watching.changes(tx, since, self.match_id, limit + 1)
        told = [row for row in rows if row.seq <= self.seq]
        return told if len(rows) <= limit else None

    async def others(self, ids: Collection[UUID]) -> dict[UUID, Standing]:
        """Standings of matches that are not held, as they are now."""
        async with self._store.snapshot() as tx:
            return await load(tx, [one for one in ids if one not in self.standings])

    def booked(self, match_id: UUID, tenant_id: UUID | None) -> bool:
        return tenant_id is None or match_id not in self._unbooked.get(tenant_id, ())

    async def _begin(self, tx: Tx) -> dict[UUID, Standing]:
        return await load(tx, await watching.relevant(tx) if self.match_id is None else [self.match_id])

    async def _follow(self, tx: Tx) -> _News:
        """All that is new, and what changes do not carry: the state of matches, and the history of those
        that changed as such, for rounds and events may count no more."""
        if await changes.tail(tx) - 1 > self.seq:
            raise Gap
        rows: list[ChangeRow] = []
        while page := await watching.changes(tx, rows[-1].seq if rows else self.seq, self.match_id, _PAGE):
            rows += page
        ids = {row.match_id for row in rows}
        fresh = await load(tx, ids - self.standings.keys())
        held = ids & self.standings.keys()
        altered = {row.match_id for row in rows if row.entity == "match" and row.frame}
        pasts = await history.of_matches(tx, altered & (held | fresh.keys()))
        return _News(rows, fresh, await matches.some(tx, held), pasts)

    def _take(self, news: _News) -> list[Told]:
        self.standings |= news.fresh
        for match in news.held:
            self.standings[match.id].renew(match)
        told = tell(news.rows, self.standings, news.fresh)
        for match_id, past in news.pasts.items():
            self.standings[match_id].recall(*past)
        return told

    async def _kept_back(self, tx: Tx) -> dict[UUID, set[UUID]]:
        kept_back = sorted(await tenants.unbooked(tx)) if self.tenants else []
        grouped = groupby(kept_back, key=lambda pair: pair[0])
        return {tenant: {match for _, match in pairs} for tenant, pairs in grouped}


async def load(tx: Tx, ids: Collection[UUID]) -> dict[UUID, Standing]:
    """The standings of those of these matches that there are."""
    if not ids:
        return {}
    offered = await markets.active_of(tx, ids)
    seqs = await watching.newest_seqs(tx, ids)
    kinds: dict[UUID, dict[str, int]] = {one: {} for one in ids}
    of_markets: dict[UUID, dict[str, int]] = {one: {} for one in ids}
    for (match_id, kind, key), seq in seqs.items():
        kinds[match_id][kind] = max(seq, kinds[match_id].get(kind, 0))
        if kind == "market":
            of_markets[match_id][key] = seq
    pasts = await history.of_matches(tx, ids)
    return {
        match.id: Standing(
            match,
            *pasts[match.id],
            offered.get(match.id, []),
            kinds[match.id],
            of_markets[match.id],
        )
        for match in await matches.some(tx, ids)
    }

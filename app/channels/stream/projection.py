"""The change log projected to match states: what one poller holds, all of it at one seq of the log."""

from collections.abc import Collection, Iterable, Mapping
from itertools import groupby
from typing import NamedTuple
from uuid import UUID

from app.channels.stream.updates import MatchState, Update, apply_changes
from app.domain.entrants import TeamLogos
from app.domain.match import Match, Round, TimelineEvent
from app.domain.tenant_offer import TenantOffer
from app.store import changes, history, markets, match_entrants, matches, tenants
from app.store.changes import BET_STOP, FEED_MARKET, NO_MATCH, ChangeRow
from app.store.connections import Store
from app.store.transaction import Tx

_PAGE = 2000


class ChangesExpired(Exception):
    """Changes were pruned from the log before they were read, or the database failed over: it may lack what
    was read, and the log begins anew."""


class _NewChanges(NamedTuple):
    """Everything is read before anything is applied: a read that fails halfway must leave the states as they
    were, or the next one would take changes that were never sent for old ones."""

    rows: list[ChangeRow]
    fresh: dict[UUID, MatchState]
    matches: list[Match]
    logos: Mapping[UUID, TeamLogos]
    histories: Mapping[UUID, tuple[Iterable[Round], Iterable[TimelineEvent]]]


class Projection:
    """The state of one match, or of all: then it holds those that are live or have an open market, and others
    only while they change. `seq` is the seq of the log that the states show."""

    def __init__(self, store: Store, match_id: UUID | None) -> None:
        self._store = store
        self.match_id = match_id
        self.states: dict[UUID, MatchState] = {}
        self.seq = -1
        #: The matches that each tenant has not booked; read for those in `tenants` only.
        self.tenants: set[UUID] = set()
        self._unbooked: dict[UUID, set[UUID]] = {}
        #: What each tenant is offered for which anything was ever changed.
        self.offers: Mapping[UUID, TenantOffer] = {}

    async def advance(self) -> list[Update]:
        """Bring the states up to the end of the log; the updates since the last call, none the first time.

        States of matches that are over stay until `drop_irrelevant`. Raises `Unavailable` and
        `ChangesExpired`; then nothing has been applied.
        """
        async with self._store.snapshot() as tx:
            head = await changes.head(tx)
            initial = await self._load_initial(tx) if self.seq < 0 else None
            new = await self._read_new(tx) if initial is None else None
            unbooked = await self._read_unbooked(tx)
            switched = self.seq < 0 or await changes.switched(tx, self.seq)
            offers = await tenants.offers(tx) if switched else self.offers
        if initial is not None:
            self.states = initial
        updates = self._apply(new) if new else []
        self.seq, self._unbooked, self.offers = head, unbooked, offers
        return updates

    def reset(self) -> None:
        """Drop everything, so that the next `advance` starts anew."""
        self.seq = -1
        self.states.clear()

    def drop_irrelevant(self) -> list[UUID]:
        """Drop the states of which a snapshot shows nothing any more; returns their matches."""
        if self.match_id is not None:
            return []
        dropped = [state.id for state in self.states.values() if not state.relevant]
        for match_id in dropped:
            del self.states[match_id]
        return dropped

    async def changes_since(self, since: int, limit: int) -> tuple[list[ChangeRow], int] | None:
        """Of the first `limit` changes after `since` up to `seq` those that the stream sends, and the seq up
        to which these are all; None when some have been pruned."""
        async with self._store.snapshot() as tx:
            if since < await changes.oldest(tx) - 1:
                return None
            rows = await changes.after(tx, since, self.match_id, limit + 1)
        reached = min(rows[limit - 1].seq, self.seq) if len(rows) > limit else self.seq
        return [row for row in rows if row.seq <= reached and _streamed(row)], reached

    async def load_others(self, ids: Collection[UUID]) -> dict[UUID, MatchState]:
        """The present states of those of these matches that are not held."""
        if not (others := [one for one in ids if one not in self.states]):
            return {}
        async with self._store.snapshot() as tx:
            return await load_states(tx, others)

    def booked(self, match_id: UUID, tenant_id: UUID | None) -> bool:
        return tenant_id is None or match_id not in self._unbooked.get(tenant_id, ())

    async def _load_initial(self, tx: Tx) -> dict[UUID, MatchState]:
        return await load_states(
            tx, await changes.streamed_matches(tx) if self.match_id is None else [self.match_id]
        )

    async def _read_new(self, tx: Tx) -> _NewChanges:
        """The new rows, and what they do not carry: the matches themselves, and the rounds and events of
        those that changed as such, because some may have been invalidated."""
        if await changes.oldest(tx) - 1 > self.seq:
            raise ChangesExpired
        rows: list[ChangeRow] = []
        while page := await changes.after(tx, rows[-1].seq if rows else self.seq, self.match_id, _PAGE):
            rows += page
        rows = [row for row in rows if _streamed(row)]
        ids = {row.match_id for row in rows}
        fresh = await load_states(tx, ids - self.states.keys())
        held = ids & self.states.keys()
        altered = {row.match_id for row in rows if row.entity == "match" and row.frame}
        histories = await history.of_matches(tx, altered & (held | fresh.keys()))
        changed = await matches.by_ids(tx, held)
        logos = await match_entrants.logos_of(tx, changed)
        return _NewChanges(rows, fresh, changed, logos, histories)

    def _apply(self, new: _NewChanges) -> list[Update]:
        self.states |= new.fresh
        for match in new.matches:
            self.states[match.id].replace_match(match, new.logos[match.id])
        updates = apply_changes(new.rows, self.states, new.fresh)
        for match_id, rounds_and_events in new.histories.items():
            self.states[match_id].replace_history(*rounds_and_events)
        return updates

    async def _read_unbooked(self, tx: Tx) -> dict[UUID, set[UUID]]:
        unbooked = sorted(await tenants.unbooked(tx)) if self.tenants else []
        by_tenant = groupby(unbooked, key=lambda pair: pair[0])
        return {tenant: {match for _, match in pairs} for tenant, pairs in by_tenant}


def _streamed(row: ChangeRow) -> bool:
    """Whether the stream sends this change: one of any match, booked or not."""
    return row.match_id != NO_MATCH and row.entity not in (FEED_MARKET, BET_STOP)


async def load_states(tx: Tx, ids: Collection[UUID]) -> dict[UUID, MatchState]:
    """The states of those of these matches that exist."""
    if not ids:
        return {}
    open_markets = await markets.open_of_matches(tx, ids)
    newest = await changes.newest_seqs(tx, ids)
    seqs: dict[UUID, dict[str, int]] = {one: {} for one in ids}
    market_seqs: dict[UUID, dict[str, int]] = {one: {} for one in ids}
    for (match_id, kind, key), seq in newest.items():
        seqs[match_id][kind] = max(seq, seqs[match_id].get(kind, 0))
        if kind == "market":
            market_seqs[match_id][key] = seq
    histories = await history.of_matches(tx, ids)
    found = await matches.by_ids(tx, ids)
    logos = await match_entrants.logos_of(tx, found)
    return {
        match.id: MatchState(
            match,
            *histories[match.id],
            open_markets.get(match.id, []),
            seqs[match.id],
            market_seqs[match.id],
            logos[match.id],
        )
        for match in found
    }

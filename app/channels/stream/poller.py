"""The poller of one subscription (all matches, or one match) in one process: what its clients begin with, in
whole or by the page, and its fan-out; the intervals and limits of the stream.
"""

import asyncio
import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice, zip_longest
from typing import NamedTuple
from uuid import UUID

import msgspec

from app.channels.stream.claims import merge_claims, with_claims
from app.channels.stream.connection import CloseCode, StreamConnection
from app.channels.stream.frames import (
    Entitlements,
    Frame,
    FrameBatch,
    MatchLookup,
    MatchVariant,
    RenderedMatch,
    alive_frame,
    content_hash,
    entitlements_of,
    join_batch,
    join_chunks,
    render,
)
from app.channels.stream.projection import ChangesExpired, Projection
from app.channels.stream.snapshot import SnapshotPlace, ordered_snapshot, snapshot_frames
from app.channels.stream.updates import MatchState, Update, conflate, past_updates
from app.domain.tenant import Grant
from app.domain.tenant_offer import NO_CHANGES
from app.kit.clock import Clock
from app.kit.errors import Unavailable
from app.kit.grouping import grouped
from app.kit.logging import get_logger
from app.kit.metrics import stream_ticks
from app.store.connections import Store
from app.wire.views.frames import match_data

_FRESH_SECONDS = 1.0  #: a snapshot is at most this old
_RECENT = 10_000  #: updates cached for clients that resume
_RESUMED = 10_000
_TURN = 200  #: connections that are written to before other work of the process gets its turn
_ANEW = "Changes were removed before this process read them; repeat the request."
log = get_logger(__name__)


class StreamConfig(msgspec.Struct, frozen=True, kw_only=True):
    """See the settings of the same names. `connections` is the limit of a tenant in this process, `backlog`
    the number of frames that may be queued for a connection, `origins` the web pages that may connect
    ("*": any)."""

    poll_all_millis: int = 5000
    poll_match_millis: int = 2000
    alive_seconds: float = 10.0
    connections: int = 2000
    backlog: int = 1000
    origins: frozenset[str] = frozenset()


class Missed(NamedTuple):
    """What a client has missed, up to the seq `reached`."""

    frames: list[Frame]
    reached: int


class Page(NamedTuple):
    """A part of what a client begins with. `reached`: everything up to this seq has been sent with it, or was
    before it; of a snapshot where it began, and of an unfinished one `following` is where it continues.
    `more`: at once another page follows. `news`: it has more than the `alive` that ends the last page."""

    frames: list[Frame]
    reached: int
    more: bool
    news: bool
    following: SnapshotPlace | None = None


class Poller:
    """`run` it as long as it has connections. All of them have been sent everything up to `_sent_seq`; the
    projection may be ahead by the updates in `_pending`."""

    def __init__(self, store: Store, match_id: UUID | None, config: StreamConfig, clock: Clock) -> None:
        self._projection = Projection(store, match_id)
        self._interval = (config.poll_all_millis if match_id is None else config.poll_match_millis) / 1000
        self._alive_interval = config.alive_seconds
        self._clock = clock
        self._lock = asyncio.Lock()
        self._advanced_at = -math.inf
        self._sent_seq = 0
        self._pending: list[Update] = []
        self._recent: deque[Update] = deque()
        self._recent_floor = 0
        self._rendered: dict[tuple[UUID, MatchVariant], tuple[int, bool, RenderedMatch]] = {}
        self._snapshots: dict[Entitlements, list[bytes]] = {}
        self._sent_hashes: dict[Entitlements, dict[UUID, str]] = {}
        self._connections: dict[Entitlements, dict[StreamConnection, None]] = {}
        self._watching: set[asyncio.Event] = set()

    async def run(self) -> None:
        """Tick and send `alive` until cancelled; while the database is unavailable nothing is sent."""
        loop = asyncio.get_running_loop()
        next_tick = loop.time() + self._interval
        next_alive = loop.time() + self._alive_interval
        while True:
            await asyncio.sleep(max(0.0, min(next_tick, next_alive) - loop.time()))
            alive_due = loop.time() >= next_alive - 0.001
            tick_due = loop.time() >= next_tick - 0.001
            try:
                await self.tick(keep_alive=alive_due)
            except ChangesExpired:
                log.error("changes are gone that the stream has not read; its clients must reconnect")
                await self._start_anew()
            except Unavailable as error:
                log.warning("the stream cannot read the change log; retrying", error=error.detail)
                next_tick = loop.time() + min(self._interval, _FRESH_SECONDS)
                next_alive = max(next_alive, next_tick) if alive_due else next_alive
                continue
            except Exception as error:
                log.error("the stream's poller failed", exc_info=error)
                await self._start_anew()
            if tick_due:
                next_tick = max(next_tick, loop.time() - self._interval) + self._interval
            if alive_due:
                next_alive = max(next_alive, loop.time() - self._alive_interval) + self._alive_interval

    async def tick(self, *, keep_alive: bool = False) -> None:
        """Read what has changed and send it to every connection. Raises `Unavailable`."""
        async with self._lock:
            await self._advance()
            updates = conflate(self._pending)
            batches = {one: self._batch(updates, one) for one in list(self._connections)}
            self._sent_seq = self._projection.seq
            self._remember(updates)
            # Now, for a connection that joins meanwhile may regroup the others.
            due = [(one, batches.get(one.entitlements)) for one in self._round_robin()]
            due = with_claims(due, updates, self._lookup)  # before a match that is over is dropped
            self._evict(self._projection.drop_irrelevant())
        stream_ticks.inc()
        await self._fan_out(due, alive_frame(self._clock(), self._sent_seq) if keep_alive else None)

    async def begin(self) -> None:
        """Load the projection, unless it is loaded. Raises `Unavailable`."""
        async with self._lock:
            if self._projection.seq < 0:
                await self._advance()

    async def join(self, connection: StreamConnection, since: int | None) -> None:
        """Send a connection the snapshot, or what it has missed since `since`; from then on it is sent every
        batch. Raises `Unavailable`."""
        async with self._lock:
            grant = connection.presented.grant
            connection.entitlements = await self._present(grant, since)
            missed = (
                None if since is None else await self._missed(since, connection.entitlements, grant, _RESUMED)
            )
            if missed and missed.reached < self._projection.seq:
                missed = None  # too many
            chunks = self._snapshot(connection.entitlements) if missed is None else join_chunks(missed.frames)
            self._record_hashes(connection.entitlements)
            end = alive_frame(self._clock(), self._projection.seq, snapshot=missed is None)
            connection.send_initial((*chunks, end.wire), self._projection.seq)
            self._connections.setdefault(connection.entitlements, {})[connection] = None

    async def page(self, grant: Grant, since: int | None, place: SnapshotPlace | None, limit: int) -> Page:
        """What `join` would send, in parts: the next `limit` changes after `since`, or that many frames of a
        snapshot, from its beginning or from `place`. The last page ends in `alive`. Raises `Unavailable`."""
        try:
            return await self._page(grant, since, place, limit)
        except ChangesExpired as error:
            await self._start_anew()
            raise Unavailable(_ANEW, retry_after=1) from error

    async def _page(self, grant: Grant, since: int | None, place: SnapshotPlace | None, limit: int) -> Page:
        async with self._lock:
            begun = place.seq if place else since
            entitlements = await self._present(grant, begun)
            missed = None
            if place is None and since is not None:
                missed = await self._missed(since, entitlements, grant, limit)
            if missed is None:
                return self._snapshot_page(entitlements, place, limit)
            frames, reached = missed
            more = reached < self._projection.seq
            end = () if more else (alive_frame(self._clock(), reached, snapshot=False),)
            return Page([*frames, *end], reached, more, news=more or bool(frames))

    @contextmanager
    def watched(self, event: asyncio.Event, reached: int) -> Iterator[None]:
        """While the block runs, the event is set whenever the change log is found to have grown: beyond
        `reached` at once."""
        self._watching.add(event)
        if self._projection.seq > reached:
            event.set()
        try:
            yield
        finally:
            self._watching.discard(event)

    def leave(self, connection: StreamConnection) -> None:
        members = self._connections.get(connection.entitlements, {})
        members.pop(connection, None)
        if not members:
            self._connections.pop(connection.entitlements, None)
            self._sent_hashes.pop(connection.entitlements, None)
            self._snapshots.pop(connection.entitlements, None)

    async def _start_anew(self) -> None:
        """Close every connection, because some changes cannot be sent any more, and drop all state."""
        async with self._lock:  # a connection that joins meanwhile is closed too, or finds nothing loaded
            for connection in [one for members in self._connections.values() for one in members]:
                connection.close(CloseCode.FAULT, "too far behind: connect again")
            self._projection.reset()
            self._pending.clear()
            self._recent.clear()
            self._sent_hashes.clear()
            self._snapshots.clear()
            self._advanced_at = -math.inf

    async def _advance(self) -> None:
        first, before = self._projection.seq < 0, self._projection.seq
        offers = self._projection.offers
        self._pending += await self._projection.advance()
        if self._projection.seq != before:
            for event in self._watching:
                event.set()
        if self._projection.seq != before or self._projection.tenants:
            self._snapshots.clear()
        if self._projection.offers is not offers:
            self._entitle_anew()
        self._advanced_at = asyncio.get_running_loop().time()
        if first:
            self._sent_seq = self._recent_floor = self._projection.seq

    async def _present(self, grant: Grant, since: int | None) -> Entitlements:
        """Bring the projection up to date, if it is not or if `since` is ahead of it; what this key may
        receive then."""
        entitlements = entitlements_of(grant)
        tenant_id = entitlements.variant.tenant_id
        new_tenant = tenant_id is not None and tenant_id not in self._projection.tenants
        if tenant_id is not None:
            self._projection.tenants.add(tenant_id)
        ahead = since is not None and since > self._projection.seq
        age = asyncio.get_running_loop().time() - self._advanced_at
        if new_tenant or ahead or age > min(self._interval, _FRESH_SECONDS):
            await self._advance()
        return self._entitled(grant, entitlements)

    def _entitled(self, grant: Grant, entitlements: Entitlements) -> Entitlements:
        """The entitlements with what the projection knows of the tenant's offer."""
        offer = self._projection.offers.get(grant.tenant.id, NO_CHANGES)
        return entitlements.with_offer(grant.tenant.id, offer)

    def _entitle_anew(self) -> None:
        """Regroup the connections, because an offer was changed. Each new group inherits the hashes of
        what was sent to its connections, so that pending matches are compared with those."""
        former, self._connections = self._connections, {}
        hashes, self._sent_hashes = self._sent_hashes, {}
        for entitlements, members in former.items():
            for connection in members:
                connection.entitlements = self._entitled(connection.presented.grant, connection.entitlements)
                self._connections.setdefault(connection.entitlements, {})[connection] = None
                known = dict(hashes.get(entitlements, {}))
                self._sent_hashes.setdefault(connection.entitlements, known)
        self._snapshots.clear()

    def _snapshot(self, entitlements: Entitlements) -> list[bytes]:
        """The snapshot; rendered once for all that join before something changes."""
        cached = self._snapshots.get(entitlements)
        if cached is not None:
            return cached
        states, all_live = self._projection.states.values(), self._projection.match_id is None
        lookup = self._lookup(entitlements)
        frames = snapshot_frames(states, entitlements, lookup, self._clock(), all_live=all_live)
        self._snapshots[entitlements] = join_chunks(frames)
        return self._snapshots[entitlements]

    def _snapshot_page(self, entitlements: Entitlements, place: SnapshotPlace | None, limit: int) -> Page:
        if place and place.seq > self._projection.seq:  # it began before the database was restored
            return Page([], place.seq, more=True, news=True)
        all_live = self._projection.match_id is None
        following = ordered_snapshot(
            self._projection.states.values(),
            entitlements,
            self._lookup(entitlements),
            self._clock(),
            all_live=all_live,
            after=place,
        )
        found = list(islice(following, limit + 1))
        frames = [frame for _, frame in found[:limit]]
        begun = place.seq if place else self._projection.seq
        if len(found) > limit:
            number, market = found[limit - 1][0]
            return Page(frames, begun, True, True, SnapshotPlace(begun, number, market))
        end = alive_frame(self._clock(), begun, snapshot=True)
        return Page([*frames, end], begun, more=begun < self._projection.seq, news=True)

    def _record_hashes(self, entitlements: Entitlements) -> None:
        """For a connection that joins, record how matches look that were never sent with its entitlements.

        The hash of a match whose pending update changes it is dropped; else a change back would not be sent
        to this connection.
        """
        hashes, lookup = self._sent_hashes.setdefault(entitlements, {}), self._lookup(entitlements)
        pending = {one.match_id for one in self._pending}
        for match_id in self._projection.states.keys() - hashes.keys() - pending:
            if match := lookup(match_id):
                hashes[match_id] = match.hash
        for match_id in hashes.keys() & pending:
            match = lookup(match_id)
            if match is None or match.hash != hashes[match_id]:
                del hashes[match_id]

    async def _missed(
        self, since: int, entitlements: Entitlements, grant: Grant, limit: int
    ) -> Missed | None:
        """The frames of the first `limit` changes after `since`; None: too long ago, or in the future."""
        if since > self._projection.seq:
            return None
        reached = self._projection.seq
        if since >= self._recent_floor:
            updates = [one for one in chain(self._recent, self._pending) if one.seq > since]
            if len(updates) > limit:
                updates = updates[:limit]
                reached = updates[-1].seq
            others = await self._projection.load_others({one.match_id for one in updates})
        else:
            found = await self._projection.changes_since(since, limit)
            if found is None:
                return None
            rows, reached = found
            others = await self._projection.load_others({row.match_id for row in rows})
            updates = past_updates(rows, others | self._projection.states)
        lookup = self._lookup(entitlements, others)
        updates = conflate(updates)
        frames = render(updates, entitlements, lookup, resuming=True)
        return Missed(merge_claims(frames, updates, entitlements, grant.tenant.id, lookup), reached)

    def _batch(self, updates: Sequence[Update], entitlements: Entitlements) -> FrameBatch:
        sent = self._sent_hashes.setdefault(entitlements, {})
        return join_batch(render(updates, entitlements, self._lookup(entitlements), sent))

    def _lookup(
        self, entitlements: Entitlements, others: dict[UUID, MatchState] | None = None
    ) -> MatchLookup:
        variant = entitlements.variant

        def lookup(match_id: UUID) -> RenderedMatch | None:
            state = self._projection.states.get(match_id) or (others or {}).get(match_id)
            if state is None or (entitlements.finished_only and not state.finished):
                return None
            booked = self._projection.booked(match_id, variant.tenant_id)
            cached = self._rendered.get((match_id, variant))
            if cached is None or cached[:2] != (state.version, booked):
                data = match_data(state.parts(booked, variant.rules), variant.groups)
                cached = (state.version, booked, RenderedMatch(data, content_hash(data)))
                self._rendered[match_id, variant] = cached
            return cached[2]

        return lookup

    def _remember(self, updates: Sequence[Update]) -> None:
        """Cache what was sent, for clients that resume."""
        self._recent.extend(updates)
        self._pending = []
        while len(self._recent) > _RECENT:
            self._recent_floor = self._recent.popleft().seq

    def _evict(self, dropped: Sequence[UUID]) -> None:
        """Drop what is cached of matches that the projection has dropped."""
        for hashes in self._sent_hashes.values():
            for match_id in dropped:
                hashes.pop(match_id, None)
        for match_id, variant in [key for key in self._rendered if key[0] not in self._projection.states]:
            del self._rendered[match_id, variant]

    async def _fan_out(
        self, due: Sequence[tuple[StreamConnection, FrameBatch | None]], alive: Frame | None
    ) -> None:
        """Write to these connections, tenants in turn, so that one with many connections delays no other."""
        for count, (connection, batch) in enumerate(due, start=1):
            if batch:
                connection.send_batch(batch, self._sent_seq)
            if alive:
                connection.send_frame(alive)
            if count % _TURN == 0:
                await asyncio.sleep(0)

    def _round_robin(self) -> Iterator[StreamConnection]:
        connections = chain.from_iterable(self._connections.values())
        by_tenant = grouped((each.presented.grant.tenant.id, each) for each in connections)
        turns: Iterable[tuple[StreamConnection | None, ...]] = zip_longest(*by_tenant.values())
        return (connection for turn in turns for connection in turn if connection is not None)

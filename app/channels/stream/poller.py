"""One watched thing of one process (all matches, or one match) and everybody who watches it."""

import asyncio
import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, zip_longest
from uuid import UUID

from app.channels.stream.closing import Code
from app.channels.stream.connection import Connection
from app.channels.stream.frames import Batch, Frame, Look, MatchData, alive, batch, digest, pieces, render
from app.channels.stream.opening import opening
from app.channels.stream.profile import Profile, Variant
from app.channels.stream.standing import Standing
from app.channels.stream.telling import Told, newest, retell
from app.channels.stream.terms import Terms
from app.channels.stream.watch import Gap, Watch
from app.kit.clock import Clock
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.kit.metrics import stream_ticks
from app.store.connections import Store
from app.wire.views.frames import match_data

_FRESH_SECONDS = 1.0  #: whoever connects is shown a state at most so old
_RECENT = 10_000
_RESUMED = 10_000
_SHARE = 200  #: connections told before other work of the process gets its turn
log = get_logger(__name__)


class Poller:
    """`run` it as long as it has connections. All of them are told up to `told`; the standings of the watch
    may be ahead by what `_pending` holds."""

    def __init__(self, store: Store, match_id: UUID | None, terms: Terms, clock: Clock) -> None:
        self._watch = Watch(store, match_id)
        self._every = (terms.poll_all_millis if match_id is None else terms.poll_match_millis) / 1000
        self._alive_every = terms.alive_seconds
        self._clock = clock
        self._lock = asyncio.Lock()
        self._advanced_at = -math.inf
        self._told = 0
        self._pending: list[Told] = []
        self._recent: deque[Told] = deque()
        self._recent_floor = 0
        self._looks: dict[tuple[UUID, Variant], tuple[int, bool, MatchData]] = {}
        self._shown: dict[Profile, list[bytes]] = {}
        self._known: dict[Profile, dict[UUID, str]] = {}
        self._members: dict[Profile, dict[Connection, None]] = {}

    async def run(self) -> None:
        """Tick and keep alive until cancelled; while the database is away nobody hears anything."""
        loop = asyncio.get_running_loop()
        next_tick = loop.time() + self._every
        next_alive = loop.time() + self._alive_every
        while True:
            await asyncio.sleep(max(0.0, min(next_tick, next_alive) - loop.time()))
            due = loop.time() >= next_alive - 0.001
            looking = loop.time() >= next_tick - 0.001
            try:
                await self.tick(keep_alive=due)
            except Gap:
                log.error("the stream was away for longer than changes are kept")
                await self._begin_anew()
            except Unavailable as error:
                log.warning("the stream cannot look; trying again", error=error.detail)
                next_tick = loop.time() + min(self._every, _FRESH_SECONDS)
                next_alive = max(next_alive, next_tick) if due else next_alive
                continue
            except Exception as error:
                log.error("the stream failed", exc_info=error)
                await self._begin_anew()
            if looking:
                next_tick = max(next_tick, loop.time() - self._every) + self._every
            if due:
                next_alive = max(next_alive, loop.time() - self._alive_every) + self._alive_every

    async def tick(self, *, keep_alive: bool = False) -> None:
        """Look at what has changed and tell everybody. Raises `Unavailable`."""
        async with self._lock:
            await self._advance()
            told = newest(self._pending)
            batches = {profile: self._batch(told, profile) for profile in list(self._members)}
            self._told = self._watch.seq
            self._remember(told)
            self._let_go(self._watch.settle())
        stream_ticks.inc()
        await self._tell(batches, alive(self._clock(), self._told) if keep_alive else None)

    async def begin(self) -> None:
        """See where things stand, unless that is known. Raises `Unavailable`."""
        async with self._lock:
            if self._watch.seq < 0:
                await self._advance()

    async def join(self, connection: Connection, since: int | None) -> None:
        """Send a connection where things stand, or what it has missed since `since`; then it hears what
        everybody hears. Raises `Unavailable`."""
        async with self._lock:
            tenant_id = connection.profile.variant.tenant_id
            unseen = tenant_id is not None and tenant_id not in self._watch.tenants
            if tenant_id is not None:
                self._watch.tenants.add(tenant_id)
            ahead = since is not None and since > self._watch.seq
            loop = asyncio.get_running_loop()
            if unseen or ahead or loop.time() - self._advanced_at > min(self._every, _FRESH_SECONDS):
                await self._advance()
            missed = None if since is None else await self._missed(since, connection.profile)
            shown = self._snapshot(connection.profile) if missed is None else pieces(missed)
            self._acquaint(connection.profile)
            end = alive(self._clock(), self._watch.seq, snapshot=missed is None)
            connection.open((*shown, end.wire), self._watch.seq)
            self._members.setdefault(connection.profile, {})[connection] = None

    def leave(self, connection: Connection) -> None:
        members = self._members.get(connection.profile, {})
        members.pop(connection, None)
        if not members:
            self._members.pop(connection.profile, None)
            self._known.pop(connection.profile, None)
            self._shown.pop(connection.profile, None)

    async def _begin_anew(self) -> None:
        """Nobody here can be told all that happened: they must connect again."""
        async with self._lock:  # whoever is joining does so before, or finds nothing known
            for connection in [one for members in self._members.values() for one in members]:
                connection.close(Code.FAULT, "too far behind: connect again")
            self._watch.forget()
            self._pending.clear()
            self._recent.clear()
            self._known.clear()
            self._shown.clear()
            self._advanced_at = -math.inf

    async def _advance(self) -> None:
        first, before = self._watch.seq < 0, self._watch.seq
        self._pending += await self._watch.advance()
        if self._watch.seq != before or self._watch.tenants:
            self._shown.clear()
        self._advanced_at = asyncio.get_running_loop().time()
        if first:
            self._told = self._recent_floor = self._watch.seq

    def _snapshot(self, profile: Profile) -> list[bytes]:
        """Where things stand; made once for all who come before something changes."""
        made = self._shown.get(profile)
        if made is not None:
            return made
        standings = self._watch.standings.values()
        look = self._look(profile)
        shown = opening(standings, profile, look, self._clock(), all_live=self._watch.match_id is None)
        self._shown[profile] = pieces(shown)
        return self._shown[profile]

    def _acquaint(self, profile: Profile) -> None:
        """Note how matches look to one who joins, for those of whom nobody with this profile was told.

        What the others are still to be told is known as neither: if it came back to what they know before
        they are told, whoever joined in between would not hear of it.
        """
        known, look = self._known.setdefault(profile, {}), self._look(profile)
        to_be_told = {one.match_id for one in self._pending}
        for match_id in self._watch.standings.keys() - known.keys() - to_be_told:
            if seen := look(match_id):
                known[match_id] = seen.digest
        for match_id in known.keys() & to_be_told:
            seen = look(match_id)
            if seen is None or seen.digest != known[match_id]:
                del known[match_id]

    async def _missed(self, since: int, profile: Profile) -> list[Frame] | None:
        """What was told after `since`; None when that is too long ago, or yet to come."""
        if since > self._watch.seq:
            return None
        if since >= self._recent_floor:
            told = [one for one in chain(self._recent, self._pending) if one.seq > since]
            others = await self._watch.others({one.match_id for one in told})
        else:
            rows = await self._watch.past(since, _RESUMED)
            if rows is None:
                return None
            others = await self._watch.others({row.match_id for row in rows})
            told = retell(rows, others | self._watch.standings)
        return render(newest(told), profile, self._look(profile, others))

    def _batch(self, told: Sequence[Told], profile: Profile) -> Batch:
        known = self._known.setdefault(profile, {})
        return batch(render(told, profile, self._look(profile), known))

    def _look(self, profile: Profile, others: dict[UUID, Standing] | None = None) -> Look:
        variant = profile.variant

        def look(match_id: UUID) -> MatchData | None:
            standing = self._watch.standings.get(match_id) or (others or {}).get(match_id)
            if standing is None or (profile.finished_only and not standing.finished):
                return None
            booked = self._watch.booked(match_id, variant.tenant_id)
            seen = self._looks.get((match_id, variant))
            if seen is None or seen[:2] != (standing.version, booked):
                data = match_data(standing.parts(booked), variant.groups)
                seen = (standing.version, booked, MatchData(data, digest(data)))
                self._looks[match_id, variant] = seen
            return seen[2]

        return look

    def _remember(self, told: Sequence[Told]) -> None:
        """Keep what was told for those who come back."""
        self._recent.extend(told)
        self._pending = []
        while len(self._recent) > _RECENT:
            self._recent_floor = self._recent.popleft().seq

    def _let_go(self, gone: Sequence[UUID]) -> None:
        """Forget how matches looked of which nothing is shown any more."""
        for known in self._known.values():
            for match_id in gone:
                known.pop(match_id, None)
        for match_id, variant in [key for key in self._looks if key[0] not in self._watch.standings]:
            del self._looks[match_id, variant]

    async def _tell(self, batches: dict[Profile, Batch], beat: Frame | None) -> None:
        """Tell every connection, tenants by turns, so that one with many delays no other."""
        for count, connection in enumerate(self._by_turns(), start=1):
            if told := batches.get(connection.profile):
                connection.tell(told, self._told)
            if beat:
                connection.say(beat)
            if count % _SHARE == 0:
                await asyncio.sleep(0)

    def _by_turns(self) -> Iterator[Connection]:
        by_tenant: dict[UUID, list[Connection]] = {}
        for connection in chain.from_iterable(list(self._members.values())):
            by_tenant.setdefault(connection.presented.grant.tenant.id, []).append(connection)
        turns: Iterable[tuple[Connection | None, ...]] = zip_longest(*by_tenant.values())
        return (connection for turn in turns for connection in turn if connection is not None)

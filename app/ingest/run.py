"""The ranges of a log that one transaction applies: read in order, folded at once, written together."""

from collections.abc import Sequence

from msgspec.structs import replace

from app.domain.doubts import SOURCE
from app.domain.facts import Fact, FreezeStarted, SourceBack, SourceLost
from app.domain.match import Match
from app.domain.transitions import fold
from app.ingest import cs2log, offsets, pace, record
from app.ingest.terms import Terms
from app.kit import metrics
from app.store import sources
from app.store.sources import Pending, Source
from app.store.transaction import Tx, Write

HOLE = "a part of the game server's log is missing"


class Run:
    """The ranges that one transaction applies to one locked match."""

    def __init__(self, tx: Tx, match: Match, source: Source) -> None:
        self.tx = tx
        self.match = match
        self.source = source
        self.facts: list[Fact] = []
        self.arrived_at = 0

    async def take(self, given: Pending, *, known: bool = True) -> None:
        """Read a range whose turn it is; `known` when its sender tells offsets."""
        body = given.body
        if known:
            self.source, body = offsets.take(self.source, given)
        reading = cs2log.read(body, given.arrived_at)
        metrics.log_lines.labels("known").inc(reading.known)
        metrics.log_lines.labels("unknown").inc(reading.unknown)
        before = max(self.arrived_at, self.source.last_batch_at)
        self.facts += pace.between(reading.facts, before, given.arrived_at)
        self.arrived_at = max(self.arrived_at, given.arrived_at)

    async def take_waiting(self) -> None:
        """Apply the ranges that were held back and whose turn has come; give up those of an older run."""
        if not self.source.holds:
            return
        waiting = await sources.pending(self.tx, self.match.id)
        for lost in offsets.left_behind(self.source, waiting):
            self.source = replace(self.source, broken=True)
            self.facts.insert(0, SourceLost(at=lost.arrived_at, reason=HOLE))
            await sources.release(self.tx, self.match.id, lost)
        while (given := offsets.next_in_line(self.source, waiting)) is not None:
            waiting.remove(given)
            await self.take(given)
            await sources.release(self.tx, self.match.id, given)

    async def finish(self, now: int, terms: Terms, beside: Sequence[Write] = ()) -> None:
        """Fold what was read, let trading react, write it all, and what the caller has to write `beside`."""
        quoting = now - self.arrived_at <= terms.fresh_millis
        if quoting and self._whole_again():
            self.source = replace(self.source, broken=False)
            self.facts.append(SourceBack(at=self.arrived_at))
        self.source = replace(self.source, last_batch_at=max(self.arrived_at, self.source.last_batch_at))
        after, changes = fold(self.match, self.facts)
        after = replace(after, last_fact_at=max(after.last_fact_at, self.arrived_at), behind=not quoting)
        await record.react(
            self.tx,
            self.match,
            after,
            changes,
            now=now,
            quoting=quoting,
            margin=terms.margin,
            beside=[sources.saving(self.source), *beside],
        )

    def _whole_again(self) -> bool:
        """Whether the source can be trusted: lines come, and after a hole a round began whole."""
        if not self.source.broken:
            return any(doubt.kind == SOURCE for doubt in self.match.doubts)
        return begins_round(self.facts)


def begins_round(facts: Sequence[Fact]) -> bool:
    return any(isinstance(fact, FreezeStarted) for fact in facts)

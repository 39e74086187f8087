"""The ranges of a log that one transaction applies: read in order, folded at once, written together."""

from collections.abc import Sequence

from msgspec.structs import replace

from app.commands import match_update
from app.domain.doubts import SILENT, SOURCE
from app.domain.facts import Fact, FreezeStarted, SourceLost, SourceRestored, SourceResumed
from app.domain.match import Match
from app.domain.transitions import fold
from app.ingest import cs2log, offsets, pace
from app.ingest.config import IngestConfig
from app.kit import metrics
from app.store import log_state
from app.store.log_state import LogState, PendingRange
from app.store.transaction import Tx, Write

HOLE = "a part of the game server's log is missing"


class Run:
    """The ranges that one transaction applies to one locked match."""

    def __init__(self, tx: Tx, match: Match, source: LogState) -> None:
        self.tx = tx
        self.match = match
        self.source = source
        self.facts: list[Fact] = []
        self.arrived_at = 0

    async def take(self, given: PendingRange, *, known: bool = True) -> None:
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
        waiting = await log_state.pending(self.tx, self.match.id)
        for lost in offsets.left_behind(self.source, waiting):
            self.source = replace(self.source, broken=True)
            self.facts.insert(0, SourceLost(at=lost.arrived_at, reason=HOLE))
            await log_state.release(self.tx, self.match.id, lost)
        while (given := offsets.next_in_line(self.source, waiting)) is not None:
            waiting.remove(given)
            await self.take(given)
            await log_state.release(self.tx, self.match.id, given)

    async def finish(self, now: int, terms: IngestConfig, beside: Sequence[Write] = ()) -> None:
        """Fold what was read, let trading react, write it all, and what the caller has to write `beside`."""
        quoting = now - self.arrived_at <= terms.fresh_millis
        if quoting:
            self._end_doubts()
        self.source = replace(self.source, last_batch_at=max(self.arrived_at, self.source.last_batch_at))
        after, changes = fold(self.match, self.facts)
        after = replace(after, last_fact_at=max(after.last_fact_at, self.arrived_at), behind=not quoting)
        await match_update.react_and_write(
            self.tx,
            self.match,
            after,
            changes,
            now=now,
            quoting=quoting,
            margin=terms.margin,
            extra_writes=[log_state.save_statement(self.source), *beside],
        )

    def _end_doubts(self) -> None:
        """Trust the source again: after a silence with its first line, after a hole with the first round that
        begins whole. That round lacks nothing, so the hole ends before it, not behind the last line."""
        doubted = {doubt.kind for doubt in self.match.doubts}
        whole = begin_of_round(self.facts) if self.source.broken else 0
        if whole is not None and (self.source.broken or SOURCE in doubted):
            self.source = replace(self.source, broken=False)
            self.facts.insert(whole, SourceRestored(at=self._time_at(whole)))
        if SILENT in doubted:
            self.facts.insert(0, SourceResumed(at=self._time_at(0)))

    def _time_at(self, index: int) -> int:
        return self.facts[index].at if index < len(self.facts) else self.arrived_at


def begin_of_round(facts: Sequence[Fact]) -> int | None:
    """Where in `facts` the first round begins of which no data is missing; None where none does."""
    lost = max((index for index, fact in enumerate(facts) if isinstance(fact, SourceLost)), default=-1)
    begins = (index for index, fact in enumerate(facts) if isinstance(fact, FreezeStarted) and index > lost)
    return next(begins, None)

"""The byte ranges of a log that one transaction applies: parsed in order, folded and written together. Each
fact's time lies after the batch before it, at whatever speed the log is played.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from app.commands import match_update
from app.domain.doubts import LOG_GAP, MISSING_DATA, SILENT
from app.domain.facts import DataComplete, DataLost, Fact, FreezeStarted, SilenceEnded
from app.domain.match import Match
from app.domain.transitions import fold
from app.ingest import batches, cs2log, source_selection
from app.ingest.log_update import IngestConfig
from app.ingest.source_selection import SourceDecision
from app.kit import metrics
from app.kit.logging import get_logger
from app.store import log_state
from app.store.log_state import LogRange, LogState
from app.store.transaction import Tx, Write


def fit_between(facts: Sequence[Fact], after: int, until: int) -> list[Fact]:
    """The facts with their times (ms) scaled into `after` … `until`.

    The facts of a batch that arrives at the speed of play are in that interval already and stay unchanged.
    A batch that covers more of the source's seconds than have passed here (a log played faster, a backlog)
    would otherwise have facts earlier than those of the batch before it.
    """
    first = min((fact.at for fact in facts), default=until)
    if first >= after or until <= after:
        return [replace(fact, at=max(fact.at, after)) if fact.at < after else fact for fact in facts]
    scale = (until - after) / (until - first)
    return [replace(fact, at=until - round((until - fact.at) * scale)) for fact in facts]


log = get_logger(__name__)
_LOGGED = 5  #: unread lines of a body that are logged


class LogUpdate:
    """The byte ranges that one transaction applies to a locked match. `decision` is that on the sender of
    the first, whose record changes with it."""

    def __init__(self, tx: Tx, match: Match, state: LogState, decision: SourceDecision | None = None) -> None:
        self.tx = tx
        self.match = match
        self.state = state
        self.decision = decision
        self.unread: list[str] = []
        self.facts: list[Fact] = []
        self.arrived_at = 0

    async def add(self, log_range: LogRange, *, has_offsets: bool = True) -> None:
        """Parse the next range; `has_offsets` when its sender sends them."""
        body = log_range.body
        if has_offsets:
            self.state, body = batches.advance(self.state, log_range)
        reading = cs2log.read(body, log_range.arrived_at)
        metrics.log_lines.labels("known").inc(reading.known)
        metrics.log_lines.labels("unknown").inc(reading.unknown - len(reading.unread))
        metrics.log_lines.labels("unread").inc(len(reading.unread))
        unread = [source_selection.stored_line(line) for line in reading.unread]
        for line in unread[:_LOGGED]:
            log.warning("a log line about play was not understood", match_id=str(self.match.id), line=line)
        self.unread += unread
        before = max(self.arrived_at, self.state.last_batch_at)
        self.facts += fit_between(reading.facts, before, log_range.arrived_at)
        self.arrived_at = max(self.arrived_at, log_range.arrived_at)

    async def add_pending(self) -> None:
        """Add the pending ranges that are next now; drop those of an earlier run of the server."""
        waiting = await self.drop_obsolete()
        while (pending := batches.next_pending(self.state, waiting)) is not None:
            waiting.remove(pending)
            await self.add_one_pending(pending)

    async def add_one_pending(self, pending: LogRange) -> None:
        """Add a pending range that is next now."""
        await self.add(pending)
        await log_state.delete_pending(self.tx, self.match.id, pending)

    async def drop_obsolete(self) -> list[LogRange]:
        """Drop the pending ranges of an earlier run of the server; the others."""
        waiting = await self._pending()
        await self._drop(lost := batches.obsolete(self.state, waiting))
        return [each for each in waiting if each not in lost]

    async def drop_pending(self) -> None:
        """Drop all pending ranges: the bytes before them will not come any more."""
        await self._drop(await self._pending())

    async def _pending(self) -> list[LogRange]:
        return await log_state.pending(self.tx, self.match.id) if self.state.has_pending else []

    async def _drop(self, ranges: Sequence[LogRange]) -> None:
        for lost in ranges:
            self.state = replace(self.state, has_gap=True)
            self.facts.insert(0, DataLost(at=lost.arrived_at, reason=LOG_GAP))
            await log_state.delete_pending(self.tx, self.match.id, lost)

    async def finish(self, now: int, config: IngestConfig) -> None:
        """Fold the facts, let trading react, and write everything."""
        may_price = now - self.arrived_at <= config.fresh_millis
        if may_price:
            self._end_doubts()
        self.state = replace(self.state, last_batch_at=max(self.arrived_at, self.state.last_batch_at))
        after, changes = fold(self.match, self.facts)
        newest = max(after.last_arrived_at, self.arrived_at)
        after = replace(after, last_arrived_at=newest, applied_late=not may_price)
        await match_update.react_and_write(
            self.tx,
            self.match,
            after,
            changes,
            now=now,
            may_price=may_price,
            pricing=config.pricing,
            arrived_at=self.arrived_at,
            extra_writes=[log_state.save_statement(self.state), *self._save_senders()],
        )

    def _save_senders(self) -> list[Write]:
        """The statements that write the senders. Unread lines are counted once, since they are counted in
        the transaction that applies them."""
        decision = self.decision
        changed = decision.changed if decision else ()
        sender = decision.sender if decision else source_selection.followed(self.state.known)
        if self.unread and sender is not None:
            count = sender.unread_lines + len(self.unread)
            counted = replace(sender, unread_lines=count, unread_line=self.unread[-1])
            changed = (counted, *(each for each in changed if each is not sender))
        return log_state.save_senders(self.match.id, changed, decision.forgotten if decision else None)

    def _end_doubts(self) -> None:
        """Clear doubts about the source. A gap's doubt ends before the first complete round after it, a
        silence's doubt with the first line."""
        doubted = {doubt.kind for doubt in self.match.doubts}
        round_begin = first_complete_round(self.facts) if self.state.has_gap else 0
        if round_begin is not None and (self.state.has_gap or MISSING_DATA in doubted):
            self.state = replace(self.state, has_gap=False)
            self.facts.insert(round_begin, DataComplete(at=self._time_at(round_begin)))
        if SILENT in doubted:
            self.facts.insert(0, SilenceEnded(at=self._time_at(0)))

    def _time_at(self, index: int) -> int:
        return self.facts[index].at if index < len(self.facts) else self.arrived_at


def first_complete_round(facts: Sequence[Fact]) -> int | None:
    """The index of the first round begun after the last gap in `facts`; None without one."""
    lost = max((index for index, fact in enumerate(facts) if isinstance(fact, DataLost)), default=-1)
    begins = (index for index, fact in enumerate(facts) if isinstance(fact, FreezeStarted) and index > lost)
    return next(begins, None)

"""Application of a log: a batch in one transaction, whose byte ranges are parsed in order, folded and written
together.

The match row is locked first. A repeat changes nothing, and neither does a batch of a sender that is not
followed; one that comes before the bytes ahead of it waits. Each fact's time is later than those of the batch
before, whatever the speed at which the log is played.
"""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from app.commands import match_update
from app.commands.match_inputs import Lines, OwnFact, Part
from app.domain.doubts import LOG_GAP
from app.domain.facts import DataLost, Fact, RivalSeen, SourceChanged
from app.domain.match import Match
from app.domain.transitions import fold
from app.ingest import batches, cs2log, cut_lines, source_selection
from app.ingest.batches import Batch
from app.ingest.log_facts import apply_facts, fit_between, with_ended_doubts
from app.ingest.source_selection import SourceDecision
from app.kit import metrics
from app.kit.logging import get_logger
from app.store import alerts, log_state, matches
from app.store.alerts import AlertKind, AlertSubject
from app.store.connections import Store
from app.store.log_state import LogRange, LogState
from app.store.transaction import Tx, Write
from app.trading.pricing import PricingConfig

_LOGGED = 5  #: unread lines of a body that are logged
_CUT_MILLIS = 60_000  #: ms for which the beginning of a line that says nothing waits for its rest
log = get_logger(__name__)


class IngestConfig(msgspec.Struct, frozen=True, kw_only=True):
    """`pricing`: how prices are made. The rest in ms. Facts applied later than `fresh_millis` after
    their arrival suspend all markets. When the source is silent for longer than the bound for that phase of
    play, its match is suspended. A gap is declared when the missing bytes have not come within
    `gap_millis`. Another source is followed when the present one has been silent for `takeover_millis`.
    `reference_directory` is the folder of reference data, "" for none."""

    pricing: PricingConfig = PricingConfig()
    fresh_millis: int = 2_000
    silence_millis: int = 30_000
    silence_live_millis: int = 8_000
    silence_clutch_millis: int = 20_000
    silence_freeze_millis: int = 12_000
    gap_millis: int = 2_000
    takeover_millis: int = 120_000
    reference_directory: str = ""


async def apply_batch(
    store: Store, batch: Batch, now: int, config: IngestConfig, *, with_pending: bool = True
) -> str:
    """Apply a batch and, `with_pending`, the batches that waited for it.

    Returns the outcome: applied, repeat, early (it waits for missing bytes), refused (its sender is not
    followed), or overflow (too many bytes wait already; it is dropped).

    Raises `NotFound` for an unknown match, `Unavailable` while the database is unavailable, and any error
    that a malformed batch causes; nothing is written then.
    """
    async with store.transaction() as tx:
        match = await matches.lock(tx, batch.match_id)
        state = await log_state.get(tx, match.id)
        log_range = batches.range_of(batch)
        if batches.is_repeat(state, batch.id, log_range):
            return "repeat"
        decision = source_selection.decide(state.known, batch, config.takeover_millis)
        if decision.verdict == "refused":
            await _refuse(tx, match, batch, decision, now)
            return "refused"
        return await _follow(tx, match, state, batch, decision, now, config, with_pending=with_pending)


async def _follow(
    tx: Tx,
    match: Match,
    state: LogState,
    batch: Batch,
    decision: SourceDecision,
    now: int,
    config: IngestConfig,
    *,
    with_pending: bool,
) -> str:
    """Apply a batch whose sender is followed, perhaps from this batch on."""
    log_range = batches.range_of(batch)
    if decision.verdict == "taken_over":
        state = replace(state.of_another_run(batch.instance, None), has_gap=True)
    another_log = log_range is not None and batches.begins_another_log(state, log_range)
    if another_log:
        state = batches.forget_log(state)
    state = batches.await_start_of_run(state, log_range) if log_range else state
    if log_range is not None and batches.is_early(state, log_range):
        senders = log_state.save_senders(match.id, decision.changed, decision.forgotten)
        await tx.write([log_state.save_statement(state), *senders])
        if not await log_state.has_room_for(tx, match.id, log_range):
            log.warning("log batch dropped: too many bytes wait already", match_id=str(match.id))
            return "overflow"
        await log_state.save_pending(tx, match.id, log_range, now)
        return "early"
    update = LogUpdate(tx, match, state, decision)
    if another_log:
        log.warning("the followed sender begins another log at byte 0", match_id=str(match.id))
        await update.drop_pending()
    if decision.verdict == "taken_over":
        log.warning(
            "another log source is followed now", match_id=str(match.id), source=decision.sender.source
        )
        update.own.append(SourceChanged(at=batch.arrived_at))
    whole = LogRange("", 0, 0, batch.body, batch.arrived_at)
    await update.add(log_range or whole, has_offsets=log_range is not None)
    await (update.add_pending() if with_pending else update.drop_obsolete())
    update.state = replace(update.state, last_message_id=batch.id)
    await update.finish(now, config)
    return "applied"


async def _refuse(tx: Tx, match: Match, batch: Batch, decision: SourceDecision, now: int) -> None:
    """Record the sender of a refused batch; the first play that it sends suspends the match."""
    sender = decision.sender
    new = sender.state == "refused" and not sender.claims and not match.over
    new = new and source_selection.sends_play(cs2log.read(batch.body, batch.arrived_at).facts)
    sender = replace(sender, claims=sender.claims or new)
    await tx.write(log_state.save_senders(match.id, [sender]))
    if not new:
        return
    detail = f"{source_selection.display_name(sender)} sends play and changes nothing: {sender.why}"
    about = AlertSubject(AlertKind.RIVAL_SOURCE, match_id=match.id, subject=sender.source)
    await alerts.begin(tx, about, detail, now)
    after, changes = fold(match, [RivalSeen(at=now)])
    await match_update.suspend_and_write(tx, match, after, changes, reason=after.suspended, now=now)


class LogUpdate:
    """The byte ranges that one transaction applies to a locked match. `decision` is that on the sender of
    the first, whose record changes with it."""

    def __init__(self, tx: Tx, match: Match, state: LogState, decision: SourceDecision | None = None) -> None:
        self.tx = tx
        self.match = match
        self.state = state
        self.decision = decision
        self.unread: list[str] = []
        self.own: list[OwnFact] = []  #: what happened before the lines
        self.facts: list[Fact] = []  #: the lines'
        self.parts: list[Part] = []
        self.arrived_at = 0
        self.begun: LogRange | None = None  #: the beginning of a line that waits for its rest
        self._stored_begun: LogRange | None = None
        self._knows_begun = False

    async def add(self, log_range: LogRange, *, has_offsets: bool = True) -> None:
        """Parse the next range; `has_offsets` when its sender sends them."""
        body = log_range.body
        if has_offsets:
            self.state, body = batches.advance(self.state, log_range)
        body = await self._whole_lines(body, log_range.arrived_at)
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
        self.parts.append(Part("\n".join(reading.said), before, log_range.arrived_at))
        self.arrived_at = max(self.arrived_at, log_range.arrived_at)

    async def _whole_lines(self, body: bytes, arrived_at: int) -> bytes:
        """The lines that the body completes; what begins another waits."""
        if not self._knows_begun:
            self.begun = self._stored_begun = batches.begun_line(self.state, await self._pending())
            self._knows_begun = True
        body, begun = cut_lines.whole_lines(self.begun.body if self.begun else b"", body)
        place = (self.state.instance, batches.BEGUN, batches.BEGUN)
        self.begun = LogRange(*place, begun, arrived_at) if begun else None
        return body

    async def end_line(self, begun: LogRange) -> None:
        """Read the beginning of a line, whose rest has not come, as it is."""
        await self.add(replace(begun, body=b"\n"), has_offsets=False)

    async def _save_begun(self, now: int) -> None:
        if self.begun == self._stored_begun:
            return
        if self._stored_begun is not None:
            await log_state.delete_pending(self.tx, self.match.id, self._stored_begun)
        if self.begun is not None:
            later = 0 if cut_lines.says_something(self.begun.body) else _CUT_MILLIS
            await log_state.save_pending(self.tx, self.match.id, self.begun, now + later)

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
            self.own.insert(0, DataLost(at=lost.arrived_at, reason=LOG_GAP))
            await log_state.delete_pending(self.tx, self.match.id, lost)

    async def finish(self, now: int, config: IngestConfig) -> None:
        """Fold the facts, let trading react, and write everything."""
        await self._save_begun(now)
        may_price = now - self.arrived_at <= config.fresh_millis
        had_gap, facts = self.state.has_gap, [*self.own, *self.facts]
        if may_price:
            facts, has_gap = with_ended_doubts(self.match, facts, has_gap=had_gap, arrived_at=self.arrived_at)
            self.state = replace(self.state, has_gap=has_gap)
        self.state = replace(self.state, last_batch_at=max(self.arrived_at, self.state.last_batch_at))
        after, changes = apply_facts(self.match, facts, self.arrived_at, may_price=may_price)
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
            cause=Lines(tuple(self.parts), self.arrived_at, tuple(self.own), had_gap),
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

"""Every price and result of a match computed again from what its transactions were given, and compared with
what was published.

Compared are the rows of the change log, which every channel publishes, and the ledger: all their fields but
the numbers and timestamps that the database assigns. The rows of one transaction are compared whatever their
order among those of one envelope is, which depends on the order in which a database returns markets.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from app.commands import match_reaction
from app.commands.effects import Effect, effect_of
from app.commands.match_commands import Command
from app.commands.match_export import MatchExport, PublishedRow
from app.commands.match_inputs import (
    Commanded,
    Created,
    Given,
    Happened,
    Lines,
    MatchInput,
    TimePassed,
    with_fields,
)
from app.commands.match_reaction import MatchUpdate
from app.commands.trading_commands import AnyCommand, Undo
from app.commands.undo import CommandState, state_of, undo_effect
from app.domain import frame_types
from app.domain.changes import RoundLive
from app.domain.facts import Fact
from app.domain.fixture import FixtureChange
from app.domain.market import Market
from app.domain.match import Match, MatchSummary, Round, TimelineEvent, summarize
from app.domain.settlement import LedgerEntry
from app.domain.transitions import fold
from app.ingest import cs2log
from app.ingest.log_facts import apply_facts, fit_between, with_ended_doubts
from app.recompute.match_run import MatchRun
from app.store.changes import ChangeDraft
from app.trading import coefficients

_SHOWN_LINES = 5
_command = msgspec.json.Decoder(AnyCommand).decode


class Difference(msgspec.Struct, frozen=True):
    """The first difference: in which transaction (`at`, Unix ms), at which number of the change log (None:
    nothing was published), about what, both values as JSON (None: there is none), and what led there."""

    at: int
    seq: int | None
    about: str
    published: Any
    computed: Any
    led_by: str


class MissingInputs(msgspec.Struct, frozen=True):
    """Nothing was recorded of what led to the changes after `after` up to `until`."""

    after: int
    until: int
    why: str


class OtherVersion(msgspec.Struct, frozen=True):
    """The match was priced by these versions of the coefficients; this program has `installed`."""

    needed: tuple[str, ...]
    installed: str


class Recomputed(msgspec.Struct, frozen=True, kw_only=True):
    """How many transactions were computed, and how many rows, prices among them, and entries of the ledger
    are equal; `problem` is None where everything is. `given`: transactions whose state was taken from the
    file and not computed (the source's silence, ratings, reference prices). `versions` of the program wrote
    the match."""

    transactions: int
    rows: int
    prices: int
    entries: int
    given: int
    versions: tuple[str, ...]
    problem: Difference | MissingInputs | OtherVersion | None = None


def recompute(export: MatchExport) -> Recomputed:
    """Compute the match again, up to the first difference."""
    return _Recomputation(export).run()


class _Recomputation:
    def __init__(self, export: MatchExport) -> None:
        self._export = export
        self._ledger = {entry.id: entry for entry in export.ledger}
        self._rows = _Published(export.rows)
        self._executed: dict[int, tuple[Command, CommandState, CommandState]] = {}
        self._seq = 0  #: the number of the last feed envelope so far
        self._counts = {"transactions": 0, "rows": 0, "prices": 0, "entries": 0, "given": 0}

    def run(self) -> Recomputed:
        versions = tuple(sorted({one.version for one in self._export.inputs}))
        return Recomputed(problem=self._problem(), versions=versions, **self._counts)

    def _problem(self) -> Difference | MissingInputs | OtherVersion | None:
        inputs, rows = self._export.inputs, self._export.rows
        last = rows[-1].seq if rows else 0
        if not inputs or not isinstance(inputs[0].cause, Created):
            until = inputs[0].after_seq if inputs else last
            return MissingInputs(0, until, "The match was created by a version that recorded no inputs.")
        needed = {one.coefficients for one in inputs}
        if needed != {coefficients.version()}:
            return OtherVersion(tuple(sorted(needed)), coefficients.version())
        if not self._export.whole:
            why = "Older changes are deleted (KEPT_CHANGES_DAYS): they cannot be compared any more."
            return MissingInputs(0, rows[0].seq if rows else 0, why)
        run = MatchRun(inputs[0].cause.match, inputs[0].pricing)
        for one in inputs:
            if one.after_seq != self._seq:
                why = "A process of a version that recorded no inputs wrote them, or the file was shortened."
                return MissingInputs(self._seq, one.after_seq, why)
            found = self._compare(run, one)
            if found is not None:
                return found
        return self._rest(run)

    def _compare(self, run: MatchRun, one: MatchInput) -> Difference | None:
        before = run.match
        update = self._apply(run, one)
        self._counts["transactions"] += 1
        self._counts["given"] += isinstance(one.cause, Given)
        drafts = match_reaction.change_rows(update, match_reaction.changed_markets(update))
        published = self._rows.take(one.rows, drafts, before)
        pair = _first_difference(published, drafts)
        if pair is not None:
            return _difference(one, *pair)
        for row in published:
            self._seq = row.envelope_seq if row.message else self._seq
            self._counts["rows"] += 1
            self._counts["prices"] += row.entity == "market"
            if row.entity == "settlement":
                entry = msgspec.json.decode(row.body, type=LedgerEntry)
                stored = self._ledger.pop(row.seq, None)
                if stored != entry:
                    about = f"the ledger's entry {row.seq}, market {row.key}"
                    return _difference(one, row, None, about, _plain(stored), _plain(entry))
                self._counts["entries"] += 1
                run.number_entry(entry)
        return None

    def _rest(self, run: MatchRun) -> Difference | None:
        """What was published and is not computed."""
        last = self._export.inputs[-1]
        left = self._rows.rest(run.match)
        if left is not None:
            return _difference(last, left, None)
        if self._ledger:
            entry = next(iter(self._ledger.values()))
            return _difference(last, None, None, f"the ledger's entry {entry.id}", _plain(entry), None)
        return None

    def _apply(self, run: MatchRun, one: MatchInput) -> MatchUpdate:
        match, now, cause = run.match, one.at, one.cause
        run.pricing = one.pricing
        if isinstance(cause, Created):
            return run.react(None, with_fields(match, one.reads), (), now, may_price=one.may_price)
        if isinstance(cause, Commanded):
            return self._command(run, one, _command(cause.command))
        if isinstance(cause, TimePassed):
            return run.reprice(now)
        if isinstance(cause, Given):
            after = with_fields(match, cause.fields)
            if cause.reason is not None:
                return run.suspend(after, cause.changes, now, cause.reason)
            return run.react(
                match, with_fields(after, one.reads), cause.changes, now, may_price=one.may_price
            )
        after, changes = _fold(match, one, cause)
        return run.react(match, with_fields(after, one.reads), changes, now, may_price=one.may_price)

    def _command(self, run: MatchRun, one: MatchInput, command: Command) -> MatchUpdate:
        effect = self._effect(run.match, command, one.at)
        after = replace(effect.after, revision=run.match.revision + 1)
        before, book = run.match, dict(run.book)
        update = run.react(
            before,
            with_fields(after, one.reads),
            effect.changes,
            one.at,
            may_price=one.may_price,
            action=effect.action,
        )
        states = state_of(before, book, command), state_of(run.match, run.book, command)
        self._executed[run.match.revision] = (command, *states)
        return update

    def _effect(self, match: Match, command: Command, now: int) -> Effect:
        if not isinstance(command, Undo):
            return effect_of(command, match, now)
        undone, before, after = self._executed[command.of]
        return undo_effect(undone, before, after, match, command.reason or f"revision {command.of} undone")


def _fold(match: Match, one: MatchInput, cause: Lines | Happened) -> tuple[Match, Sequence[Any]]:
    if isinstance(cause, Happened):
        return fold(match, cause.facts)
    facts: list[Fact] = list(cause.facts)
    for part in cause.parts:
        # The line end in front: a mark of the byte order there is of the body's second line.
        reading = cs2log.read("\n" + part.lines, part.arrived_at)
        facts += fit_between(reading.facts, part.since, part.arrived_at)
    if one.may_price:
        facts, _ = with_ended_doubts(match, facts, has_gap=cause.has_gap, arrived_at=cause.arrived_at)
    return apply_facts(match, facts, cause.arrived_at, may_price=one.may_price)


class _Published:
    """The rows of the change log, taken a transaction at a time. Between transactions on the match there may
    be rows that show its state again, when a tenant has booked it."""

    def __init__(self, rows: Sequence[PublishedRow]) -> None:
        self._rows, self._next = rows, 0

    def take(self, count: int, drafts: Sequence[ChangeDraft], match: Match) -> Sequence[PublishedRow]:
        """The rows of the next transaction, which wrote so many; `drafts` are those that we compute."""
        own = bool(drafts) and drafts[0].entity == "match" and not drafts[0].message
        if count and not own:
            self._skip_shown_again(match)
        found = self._rows[self._next : self._next + count]
        self._next += len(found)
        return found

    def rest(self, match: Match) -> PublishedRow | None:
        """The first row that is left."""
        self._skip_shown_again(match)
        return self._rows[self._next] if self._next < len(self._rows) else None

    def _skip_shown_again(self, match: Match) -> None:
        shown = summarize(match)
        while self._next < len(self._rows):
            row = self._rows[self._next]
            again = row.entity == "match" and row.frame == frame_types.UPDATED and not row.message
            if not again or _content(row) != shown:
                return
            self._next += 1


def _content(row: PublishedRow | ChangeDraft) -> Any:
    """What a row says, as the value that its JSON stands for: whether that names a field that has its default
    means nothing. Of a ledger's entry without the number and timestamp that the store gives it."""
    if isinstance(row, ChangeDraft) and row.entry is not None:
        return row.entry
    found = msgspec.json.decode(row.body, type=_type_of(row))
    return replace(found, id=0, at=0) if isinstance(found, LedgerEntry) else found


def _type_of(row: PublishedRow | ChangeDraft) -> Any:
    """The type of a row's body (`store.changes.ChangeDraft`)."""
    if row.entity == "round":
        return RoundLive if row.frame == "round.started" else Round
    if row.entity == "match":
        return FixtureChange if row.message == "fixture_change" else MatchSummary
    return _TYPES.get(row.entity, Any)


_TYPES = {"market": Market, "event": TimelineEvent, "settlement": LedgerEntry}


def _plain(value: Any) -> Any:
    """A value as JSON has it, for people."""
    return msgspec.to_builtins(value)


Row = tuple[tuple[str, ...], Any]  #: what a row is about and how it is published; its content


def _first_difference(
    published: Sequence[PublishedRow], drafts: Sequence[ChangeDraft]
) -> tuple[PublishedRow | None, Row | None] | None:
    """The first row that was published and is not computed, with the computed one of the same name; or the
    first that is computed alone; None where there is neither."""
    rest: dict[tuple[str, ...], list[Any]] = {}
    for draft in drafts:
        name = (draft.entity, draft.key, draft.frame, draft.message)
        rest.setdefault(name, []).append(_content(draft))
    for row in published:
        name = (row.entity, row.key, row.frame, row.message)
        contents, content = rest.get(name, []), _content(row)
        if content not in contents:
            other = _of_same_entity(rest, name)
            return row, other
        contents.remove(content)
    left = next(((name, contents[0]) for name, contents in rest.items() if contents), None)
    return None if left is None else (None, left)


def _of_same_entity(rest: dict[tuple[str, ...], list[Any]], name: tuple[str, ...]) -> Row | None:
    names: Iterable[tuple[str, ...]] = sorted(rest, key=lambda other: other != name)
    return next(((each, rest[each][0]) for each in names if each[:2] == name[:2] and rest[each]), None)


def _difference(
    one: MatchInput,
    row: PublishedRow | None,
    computed: Row | None,
    about: str = "",
    published_value: Any = None,
    computed_value: Any = None,
) -> Difference:
    if not about:
        named = (row.entity, row.key) if row else computed[0][:2] if computed else ("", "")
        about = f"{named[0]} {named[1]}"
        published_value = _plain(_content(row)) if row else None
        computed_value = _plain(computed[1]) if computed else None
        if row and computed and computed[0] != (row.entity, row.key, row.frame, row.message):
            published_value, computed_value = [row.frame, row.message], list(computed[0][2:])
    return Difference(one.at, row.seq if row else None, about, published_value, computed_value, _cause(one))


def _cause(one: MatchInput) -> str:
    """What a transaction was given, in words: of lines the last ones."""
    cause = one.cause
    if isinstance(cause, Lines):
        lines = [line for part in cause.parts for line in part.lines.splitlines() if line.strip()]
        return "\n".join(lines[-_SHOWN_LINES:]) or "facts without lines"
    if isinstance(cause, Commanded):
        return f"command {bytes(cause.command).decode()}"
    if isinstance(cause, Given):
        return f"given: {', '.join(cause.fields) or 'nothing'}"
    return {Created: "the match was created", TimePassed: "time passed"}.get(
        type(cause), "facts without lines"
    )

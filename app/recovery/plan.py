"""What a recovery replays: the job as steps, a step as messages, in the order of the specification.

    fixture changes → odds of every match → settlements and voids → rollbacks

With `after` 0 only the odds of open markets are replayed; rollbacks only by the facade's full recovery. A
step is one short read. The odds of a match are read under its lock and timestamped; the ledger is then read
up to the change at which those odds were read, so that what happens in between is published once, live.
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from itertools import groupby
from uuid import UUID

import msgspec

from app.amqp.envelope import MatchMessage
from app.domain.fixture import FixtureChange
from app.domain.market import Market
from app.domain.match import summarize
from app.domain.recovery import RecoveryJob, RecoveryKind, RecoveryRequest
from app.domain.settlement import LedgerEntry, VoidWindow
from app.domain.types_off import offered_entries
from app.store import markets, recovery_queries, tenants
from app.store.connections import Store
from app.store.recovery_queries import TimestampedMatch
from app.store.transaction import Tx

PAGE = 50
LEDGER_PAGE = 10  #: matches in a page of the ledger, or of matches that are over: each may be long
SETTLED = ("bet_settlement", "bet_cancel")
ROLLED_BACK = ("rollback_bet_settlement", "rollback_bet_cancel")


class Phase(Enum):
    FIXTURES = "fixtures"
    ODDS = "odds"
    SETTLED = "settled"
    ROLLED_BACK = "rolled_back"


class Step(msgspec.Struct, frozen=True):
    """One read: of these matches, or of all where there are none."""

    phase: Phase
    match_ids: tuple[UUID, ...] = ()


_fixture_change = msgspec.json.Decoder(FixtureChange).decode


class RecoveryPlan:
    """The steps of one run of a job; each run has its own plan. Every read may raise `Unavailable`; the same
    step can then be read again. `probabilities`: whether the tenant receives them with the odds, known after
    `steps`."""

    def __init__(self, store: Store, job: RecoveryJob) -> None:
        self._store, self._tenant_id, self._request = store, job.tenant_id, job.request
        self._read_seq: dict[UUID, int] = {}
        self._numbers: dict[UUID, int] = {}
        self.probabilities = False

    async def steps(self) -> list[Step]:
        """All steps, in order."""
        request = self._request
        async with self._store.autocommit() as tx:
            tenant = await tenants.get(tx, self._tenant_id)
            self.probabilities = tenant is not None and tenant.probabilities
            if request.match_id is not None:
                phase = Phase.ODDS if request.kind is RecoveryKind.EVENT_ODDS else Phase.SETTLED
                return [Step(phase, (request.match_id,))]
            present = await recovery_queries.open_matches(tx, self._tenant_id)
            over = await recovery_queries.reopened_matches(tx, self._tenant_id)
            if request.after:
                ended = await recovery_queries.ended_matches(tx, self._tenant_id, request.after)
                over = list(dict.fromkeys((*ended, *over)))
        return list(_plan(request, present, over))

    async def messages(self, step: Step, now: int) -> list[MatchMessage]:
        """The step's messages, in order; odds get a timestamp of `now` (ms) or a little later."""
        match step.phase:
            case Phase.FIXTURES:
                return await self._fixtures()
            case Phase.ODDS:
                return await self._odds(step.match_ids, now)
            case Phase.SETTLED:
                return await self._ledger_messages(step.match_ids, SETTLED)
            case Phase.ROLLED_BACK:
                return await self._ledger_messages(step.match_ids, ROLLED_BACK)

    async def _fixtures(self) -> list[MatchMessage]:
        async with self._store.autocommit() as tx:
            found = await recovery_queries.fixture_changes(tx, self._tenant_id, self._request.after)
        return [
            MatchMessage(
                "fixture_change",
                each.number,
                each.at,
                each.seq,
                change_type=_fixture_change(each.body).change_type,
            )
            for each in found
        ]

    async def _odds(self, match_ids: Sequence[UUID], now: int) -> list[MatchMessage]:
        """The odds of each match: its open markets and, with `after`, also the closed ones of a match that is
        over. No market type is switched for the tenant meanwhile: the live message about a switch has an
        older timestamp, and what is read includes the switch, or it has a newer one."""
        async with self._store.transaction() as tx:
            rules = (await tenants.lock_offer(tx, self._tenant_id)).now
            timestamped = await recovery_queries.assign_timestamps(tx, await self._booked(tx, match_ids), now)
            open_markets = await markets.open_of_matches(tx, [match.id for match in timestamped])
            over = [match.id for match in timestamped if match.over and self._request.after]
            closed = await markets.closed_of_matches(tx, over)
        for match in timestamped:
            self._read_seq[match.id], self._numbers[match.id] = match.seq, match.number
        return [
            _odds(match, rules.markets_in_list((*open_markets.get(match.id, ()), *closed.get(match.id, ()))))
            for match in timestamped
        ]

    async def _ledger_messages(self, match_ids: Sequence[UUID], names: Sequence[str]) -> list[MatchMessage]:
        async with self._store.snapshot() as tx:
            match_ids = sorted(await self._booked(tx, match_ids))
            if self._request.kind is RecoveryKind.EVENT_STATEFUL:
                for match in await recovery_queries.last_seqs(tx, match_ids):
                    self._read_seq[match.id], self._numbers[match.id] = match.seq, match.number
            known = {each: self._read_seq[each] for each in match_ids if each in self._read_seq}
            ledger = await recovery_queries.ledger(tx, known, self._request.after)
            intervals = (await tenants.offer_of(tx, self._tenant_id)).types_off
        found = [
            message
            for match_id, entries in ledger.items()
            for message in latest_entries(
                self._numbers[match_id], self._read_seq[match_id], offered_entries(entries, intervals), names
            )
        ]
        return sorted(found, key=lambda message: (message.number, message.at))

    async def _booked(self, tx: Tx, match_ids: Sequence[UUID]) -> set[UUID]:
        """Those that the tenant still has booked: a job may run long after it was requested or planned."""
        return await tenants.booked(tx, self._tenant_id, match_ids)


def _plan(request: RecoveryRequest, present: Sequence[UUID], over: Sequence[UUID]) -> Iterator[Step]:
    """`over`: matches that are over, and ended or have another result since, or have an open market again."""
    everything = request.kind is RecoveryKind.FACADE_FULL
    if everything and request.after:
        yield Step(Phase.FIXTURES)
    yield from _pages(Phase.ODDS, present, PAGE)
    yield from _pages(Phase.ODDS, over, LEDGER_PAGE)
    if request.after:
        for phase in (Phase.SETTLED, Phase.ROLLED_BACK) if everything else (Phase.SETTLED,):
            yield from _pages(phase, [*present, *over], LEDGER_PAGE)


def _pages(phase: Phase, match_ids: Sequence[UUID], size: int) -> Iterator[Step]:
    for start in range(0, len(match_ids), size):
        yield Step(phase, tuple(match_ids[start : start + size]))


def _odds(match: TimestampedMatch, shown_markets: Sequence[Market]) -> MatchMessage:
    return MatchMessage(
        "odds_change",
        match.number,
        match.timestamp,
        match.seq,
        status=summarize(match.match),
        markets=shown_markets,
    )


def latest_entries(
    number: int, seq: int, entries: Iterable[LedgerEntry], names: Sequence[str]
) -> Iterator[MatchMessage]:
    """The messages, of these names, that replay what the ledger of a match holds for a period.

    Of each market only the latest entry is replayed, and of each void window whether it is in force: an
    earlier rollback, replayed after the newer result as the order of messages requires, would undo that
    result. Entries of the same kind at the same time are one message.
    """
    latest = {(entry.key, entry.void_window): entry for entry in entries}
    replayed = sorted((entry for entry in latest.values() if entry.message in names), key=_moment)
    for (at, name, _), group in groupby(replayed, key=_moment):
        yield MatchMessage(name, number, at, seq, entries=tuple(group))


def _moment(entry: LedgerEntry) -> tuple[int, str, tuple[VoidWindow, ...]]:
    return entry.at, entry.message, (entry.void_window,) if entry.void_window else ()

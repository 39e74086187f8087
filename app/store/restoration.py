"""A database that was restored from a backup, or failed over to a standby that lacks commits: the numbers in
it, contradictions in it, and what ends.

Higher numbers than those in it may have been published: `go_on_from` moves every sequence past them. The row
that it then appends to the change log (`MARK`, of no match, and published to nobody) is the place from which
everything is read; earlier rows are pruned, so that a stream that resumes from before receives a snapshot.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from piccolo.columns import Column
from piccolo.query import Count, Select, Update
from piccolo.querystring import QueryString

from app.domain.match import Status
from app.domain.recovery import RecoveryState
from app.kit.errors import Unavailable
from app.store import changes, cursors, heartbeats, incidents, ledger
from app.store.changes import NO_MATCH, ChangeRow
from app.store.connections import SESSION_NAME
from app.store.prepared import prepared, reading_ids, reading_number, writing
from app.store.sql import holds, literals, now
from app.store.statements import change_log, server
from app.store.statements import restoration as statements
from app.store.tables.change import PastSeq
from app.store.tables.match import LedgerEntry
from app.store.tables.match import Match as MatchTable
from app.store.tables.tenant import (
    ApiKey,
    PortalLink,
    PortalSession,
    PortalUser,
    RecoveryJob,
    RecoverySlot,
    RefusedRecovery,
    TenantCursor,
)
from app.store.transaction import Tx

MARK = "restored"  #: the `entity` of the row
_ALL = 2**63 - 1  #: later than every timestamp
_OVER = literals((Status.FINISHED, Status.CANCELLED))
_OPEN_JOBS = literals((RecoveryState.SCHEDULED, RecoveryState.RUNNING))
_JOB_ERROR = "The service was restored from a backup meanwhile: request another recovery."
Values = dict[Column | str, Any]


class DatabaseSession(msgspec.Struct, frozen=True):
    """A session of another process of ours."""

    pid: int
    address: str


class KnownNumbers(msgspec.Struct, frozen=True):
    """What the database contains: whether it is a standby, its clock (Unix ms), the highest seq of any row
    (`head`), the highest that was assigned, even if no row has it (`seq`), the newest timestamp of an
    envelope (ms), and the highest number of a match."""

    standby: bool
    clock: int
    head: int
    seq: int
    newest_at: int
    match_number: int


class Ended(msgspec.Struct, frozen=True):
    """How much has ended: sessions and links of people, recoveries in progress."""

    sessions: int
    links: int
    recoveries: int


async def sessions(tx: Tx) -> list[DatabaseSession]:
    """The sessions of other processes of ours on this database, but for broker-authorisation."""
    return [DatabaseSession(**row) for row in await tx.fetch(statements.SESSIONS, SESSION_NAME)]


async def known_numbers(tx: Tx) -> KnownNumbers:
    (row,) = await tx.fetch(statements.KNOWN)
    return KnownNumbers(**row)


async def last_numbers(tx: Tx) -> KnownNumbers:
    """`known_numbers`, and nobody else assigns any until the transaction ends. A transaction that locks
    matches must have locked them before."""
    await tx.execute(change_log.LOCK_LOG)
    return await known_numbers(tx)


async def contradictions(tx: Tx) -> dict[str, int]:
    """The contradictions in ledger and change log, with the number of each; none in a sound database."""
    counts = {what: await tx.value(statements.contradictions(what)) for what in statements.CONTRADICTIONS}
    return {what: count for what, count in counts.items() if count}


@reading_ids
def settled() -> Select[Any]:
    """The matches with ledger entries."""
    return LedgerEntry.select(LedgerEntry.match_id).distinct()


@reading_ids
def unfinished(*, locked: bool = False) -> Select[Any]:
    """The ids of the matches that are not over, in the order of their numbers; `locked`: until the
    transaction ends."""
    query = MatchTable.select(MatchTable.id).where(MatchTable.status.not_in(_OVER))
    query = query.order_by(MatchTable.number)
    return query.lock_rows("UPDATE") if locked else query


@asynccontextmanager
async def savepoint(tx: Tx) -> AsyncIterator[None]:
    """What the block has changed is rolled back when it raises an exception; the transaction goes on."""
    await tx.execute(server.SAVEPOINT)
    try:
        yield
    except Exception:
        await tx.execute(server.ROLLBACK_TO_SAVEPOINT)
        raise
    await tx.execute(server.RELEASE_SAVEPOINT)


@reading_number
def active_keys() -> Count:
    return ApiKey.count().where(holds(ApiKey.active))


@reading_number
def notified_tenants() -> Count:
    """How many tenants are to be notified of a loss before anything else is published to them."""
    return TenantCursor.count().where(holds(TenantCursor.notice_pending))


async def go_on_from(tx: Tx, seq: int, match_number: int, at: int, *, expelled: bool) -> int:
    """Assign only higher numbers than these from now on, and read the change log from a new row on; its seq.

    Matches that are not over have that row as their previous envelope, so that every client sees that it has
    missed something, and no timestamp below `at` (ms). Tenants' cursors are moved to it, each tenant is to be
    notified of a loss, and the leases end. `expelled`: the feed processes that had them are gone from the
    broker; otherwise every feed process counts as a former holder of every tenant, since the database may
    lack the latest leases. Raises `Unavailable` if another process prunes the log.
    """
    await tx.execute(change_log.LOCK_LOG)
    await tx.execute(statements.SET_NUMBERS, seq, match_number)
    mark: int = await tx.value(change_log.TAKE_NUMBER)
    row = ChangeRow(mark, NO_MATCH, 0, MARK, "", "", "", at, envelope_seq=mark, prev_seq=0, body=b"{}")
    await tx.change(changes.ROWS.insert(row))
    while await changes.prune(tx, _ALL):
        pass
    if await changes.oldest(tx) != mark:
        raise Unavailable("The change log is being pruned; try again.", retry_after=1)
    await ledger.set_restored(tx, True)
    await tx.change(_raise_past(mark))
    await tx.change(_raise_matches(mark, at))
    await cursors.create_missing(tx)
    former = [] if expelled else sorted(await heartbeats.alive_since(tx, heartbeats.FEED, 0))
    await tx.change(_reset_cursors(mark, former, expelled=expelled))
    return mark


async def end_past(tx: Tx, at: int, totp_step: int) -> Ended:
    """End what may have ended since the backup: sessions, links, second factors' codes up to `totp_step`,
    recoveries with their slots, heartbeats. How long the service was away is not known, and no incident is
    written about it: the backup knows its own moment alone."""
    await spend_codes(tx, totp_step)
    ended = Ended(
        sessions=await tx.change(PortalSession.delete(force=True)),
        links=await tx.change(_end_links(at)),
        recoveries=await tx.change(_end_recoveries(at)),
    )
    for table in (RecoverySlot, RefusedRecovery):
        await tx.change(table.delete(force=True))
    await heartbeats.forget(tx)
    await incidents.observe(tx, at)
    return ended


@writing
def spend_codes(step: int, /) -> Update[Any]:
    """End second factors' codes up to the time step `step`: the database may lack which of them were used."""
    later = QueryString("greatest({}, {}::bigint)", PortalUser.totp_step, step)
    return PortalUser.update({PortalUser.totp_step: later}).where(PortalUser.totp_secret.is_not_null())


@prepared
def _raise_past(seq: int) -> Update[Any]:
    return PastSeq.update({PastSeq.seq: seq}, force=True)


@prepared
def _raise_matches(seq: int, at: int) -> Update[Any]:
    stamp = QueryString("greatest({}, {}::bigint)", MatchTable.last_stamp, at)
    values: Values = {MatchTable.last_seq: seq, MatchTable.last_stamp: stamp}
    return MatchTable.update(values).where(MatchTable.status.not_in(_OVER))


@prepared
def _reset_cursors(seq: int, former: Sequence[str], *, expelled: bool) -> Update[Any]:
    everybody = QueryString(
        "array_remove({} || {}::text[] || {}, NULL)",
        TenantCursor.former_holders,
        former,
        TenantCursor.holder,
    )
    values: Values = {
        TenantCursor.seq: seq,
        TenantCursor.former_holders: [] if expelled else everybody,
        TenantCursor.holder: None,
        TenantCursor.expires_at: now(),
        TenantCursor.state: "",
        TenantCursor.last_alive_at: now(),
        TenantCursor.notified_heartbeat: -1,
        TenantCursor.notice_pending: True,
    }
    return TenantCursor.update(values, force=True)


@prepared
def _end_links(at: int) -> Update[Any]:
    return PortalLink.update({PortalLink.ended_at: at}).where(PortalLink.ended_at.is_null())


@prepared
def _end_recoveries(at: int) -> Update[Any]:
    values: Values = {
        RecoveryJob.state: RecoveryState.FAILED.value,
        RecoveryJob.finished_at: at,
        RecoveryJob.holder: None,
        RecoveryJob.error: _JOB_ERROR,
    }
    return RecoveryJob.update(values).where(RecoveryJob.state.is_in(_OPEN_JOBS))

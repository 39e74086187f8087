"""The change log, from which every channel publishes: one row per changed entity, in commit order.

A row's `seq` is assigned under one lock that is held until its transaction is visible, so that a reader that
has read up to a seq has read all below it: one integer is a safe cursor. Rows of one feed envelope are
consecutive and share `envelope_seq` (the highest of their seqs) and the timestamp `at`. One row may come
before them: `BET_STOP`, where the envelope leaves nothing of its match on offer. It belongs to the envelope,
but has a timestamp of its own, one less, and neither a frame nor a message: it is published only to tenants
that receive `bet_stop`, and is in no match's `prev_seq`. As it is the first row, a cursor may be at its seq:
what follows is the whole envelope.

Rows for one tenant alone are written when a market type is switched for it, when it unbooks a match, and when
it books one again.

    what happens for the tenant          first row (of no match)     rows of the markets that change for it
    a market type is switched            `SWITCH`                    `TENANT_MARKET`, on every channel
    a match is unbooked, or booked       `BOOKING`                   `FEED_MARKET`, on the AMQP feed only

A step of a tenant's claim is a row for it alone, too (`CLAIM`), on the stream only. It needs no place.

The seq of the first row is the place. After it follows for each match a group of rows, one for each market.
Their keys begin with the tenant's id. They have neither a frame nor a message, so that they are published to
no other tenant, and they are in no match's `prev_seq`.
"""

import asyncio
import zlib
from collections.abc import Collection, Mapping, Sequence
from itertools import count, groupby
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg
import msgspec
from piccolo.query import Delete, Select
from piccolo.query.functions import Coalesce, Max, Min

from app.domain.market import Market, market_name
from app.domain.match import Match, Status
from app.domain.settlement import LedgerEntry, VoidWindow
from app.kit.errors import NotFound
from app.store.prepared import prepared, reading_number, writing
from app.store.row_mapping import RowMapping
from app.store.sql import any_of, columns_of, literals
from app.store.statements import change_log as statements
from app.store.statements import reads, server
from app.store.tables.change import Change, PastFixture, PastSeq
from app.store.tables.match import Match as MatchTable
from app.store.transaction import Tx

SWITCH, TENANT_MARKET = "market_type", "tenant_market"  #: the rows' `entity`, for a switch of market types
BOOKING, FEED_MARKET = "booking", "feed_market"  #: the same for a booking
BET_STOP = "bet_stop"  #: the `entity` of the row that a match's offer stops
CLAIM = "claim"  #: the `entity` of a step of a tenant's claim
PUBLISHED = frozenset({TENANT_MARKET, FEED_MARKET})  #: rows that are published to their tenant over AMQP
NO_MATCH = UUID(int=0)  #: `match_id` of a place
_OF_ONE_TENANT = frozenset({SWITCH, BOOKING, CLAIM}) | PUBLISHED
CHANNEL = "changes"  #: NOTIFY channel; the payload is the highest new seq


class ChangeDraft(msgspec.Struct, frozen=True):
    """A change without a seq yet.

    `entity`: match, round, event, scoreboard, market, settlement or `BET_STOP` (the rows for one tenant have
    others);
    `key` names it within the match. `frame` is the WebSocket frame's type or "", `message` the feed message
    that carries it or "". `body` is the domain struct as msgspec's JSON: Market, TimelineEvent; of a match
    MatchSummary, or FixtureChange under `fixture_change`; of a round RoundLive when it begins, else Round; of
    a scoreboard nothing (`{}`), for it is read from the match. A settlement has its `entry` instead, whose
    `id` and `at` are not set yet.
    """

    entity: str
    key: str
    frame: str
    message: str
    body: bytes = b""
    entry: LedgerEntry | None = None


class ChangeRow(msgspec.Struct, frozen=True, gc=False):
    """A change in the log. `number` is the match's; `at` the envelope's timestamp in ms; `prev_seq` the
    `envelope_seq` of the match's previous feed envelope (0 for the first); `arrived_at` when the log lines
    that caused it arrived (ms, 0 if none did). A feed process holds tens of thousands of rows, which the
    garbage collector need not traverse (`gc=False`)."""

    seq: int
    match_id: UUID
    number: int
    entity: str
    key: str
    frame: str
    message: str
    at: int
    envelope_seq: int
    prev_seq: int
    body: bytes
    arrived_at: int = 0


class Place(NamedTuple):
    """Where in the change log something happens for a tenant: `entity` is `SWITCH` or `BOOKING`."""

    seq: int
    entity: str


decode_tenant_market = msgspec.json.Decoder(Market).decode  #: the market as the tenant sees it, of a body


def tenant_of(row: ChangeRow) -> UUID | None:
    """The only tenant to which this change is published; None: it is for all."""
    return UUID(row.key.partition(" ")[0]) if row.entity in _OF_ONE_TENANT else None


def tenant_market_key(tenant_id: UUID, name: str) -> str:
    """The key of a tenant's own row about the market called `name`; with "" what all of them begin with."""
    return f"{tenant_id} {name}"


class _DraftPosition(NamedTuple):
    """A draft's position among those appended with it: its own index, that of its envelope's last draft, that
    of the previous envelope's last draft (-1: in an earlier transaction), and the number of envelopes up to
    and including its own, where a `BET_STOP` counts as one."""

    own: int
    last: int
    before: int
    envelopes: int


ROWS = RowMapping(Change, ChangeRow, ("seq",))
EntityKey = tuple[UUID, str, str]  #: match, kind of entity, a market's key
_PRUNE_LOCK = 7232653  #: the advisory lock for pruning
_encode = msgspec.json.Encoder().encode


async def append(tx: Tx, match: Match, drafts: Sequence[ChangeDraft], now: int, arrived_at: int = 0) -> Match:
    """Write `drafts` with their numbers and timestamps; returns the match with its new timestamp and seq.
    Must be the transaction's last statement, since every other writer waits until it has ended.

    Consecutive drafts of one non-empty message, and of one void window, form an envelope, and a `BET_STOP`
    that of the drafts after it. Each envelope gets
    a timestamp of its own, max(`now`, the match's last + 1); drafts without a message get the latest
    timestamp and do not advance it. Settlements are also written to the ledger, with `id` and `at` filled in.
    The timestamp of the first envelopes after a match is over is stored as the match's `closed_at`. Raises
    `NotFound` for an unknown match.
    """
    if not drafts:
        return match
    entries = [draft.entry for draft in drafts]
    try:
        row = await tx.row(
            statements.APPEND,
            match.id,
            match.number,
            len(drafts),
            now,
            *columns_of(_draft_positions(drafts)),
            *([getattr(draft, name) for draft in drafts] for name in ("entity", "key", "frame", "message")),
            [_encode(draft.entry) if draft.entry else draft.body for draft in drafts],
            [entry.type_id if entry else None for entry in entries],
            [entry.specifiers if entry else None for entry in entries],
            arrived_at,
            CHANNEL,
        )
    except asyncpg.NoDataFoundError as error:
        raise NotFound(f"There is no match {match.id}.", code="no_match", match=match.id) from error
    assert row
    tx.reached = row["seq"], row["last_stamp"]
    return msgspec.structs.replace(match, last_stamp=row["last_stamp"], last_seq=row["last_seq"])


async def take_place(tx: Tx) -> int:
    """The seq of a place. Until the transaction ends nobody else writes to the change log, and what is read
    now is the state at that seq. A transaction that locks matches must have locked them before."""
    await tx.execute(statements.LOCK_LOG)
    seq: int = await tx.value(statements.TAKE_NUMBER)
    return seq


async def append_for_tenant(
    tx: Tx, place: Place, tenant_id: UUID, changed: Mapping[UUID, Sequence[Market]], now: int
) -> None:
    """Write the row of what happens for a tenant at `place`, and those of the markets that change for it, by
    match, with the match's last timestamp. Must be the transaction's last statement, as every other writer
    waits for it."""
    market = TENANT_MARKET if place.entity == SWITCH else FEED_MARKET
    rows: list[tuple[Any, ...]] = [
        (place.seq, NO_MATCH, 0, place.entity, str(tenant_id), now, place.seq, 0, b"{}")
    ]
    numbers = count(place.seq + 1)
    for match in await tx.run(_positions(list(changed))):
        group = [(next(numbers), one) for one in changed[match["id"]]]
        rows += [
            (
                *(own, match["id"], match["number"], market),
                tenant_market_key(tenant_id, market_name(*one.key)),
                *(match["last_stamp"], group[-1][0], match["last_seq"]),
                _encode(one),
            )
            for own, one in group
        ]
    await tx.row(statements.APPEND_FOR_TENANT, *columns_of(rows), rows[-1][0], CHANNEL)
    tx.reached = rows[-1][0], now


async def read(tx: Tx, after: int, limit: int) -> list[ChangeRow]:
    """The changes with a higher seq than `after`, in order: the next `limit` rows, and the rest of the last
    one's envelope; none when there is nothing new."""
    ids: dict[UUID, UUID] = {}  # asyncpg makes one of its own for each row
    rows = [
        ChangeRow(**{**row, "match_id": ids.setdefault(row["match_id"], row["match_id"])})
        for row in await tx.fetch(statements.READ, after, limit)
    ]
    if rows:
        tx.reached = rows[-1].seq, rows[-1].at
    return rows


async def after(tx: Tx, seq: int, match_id: UUID | None, limit: int) -> list[ChangeRow]:
    """At most `limit` changes of one match, or of all, with a higher seq than `seq`, in order."""
    whose = () if match_id is None else (match_id,)
    found = [ROWS.read(row) for row in await tx.run(_after(seq, *whose, limit=limit))]
    if found:
        tx.reached = found[-1].seq, found[-1].at
    return found


async def switched(tx: Tx, seq: int) -> bool:
    """Whether a market type was switched for a tenant, or a booking changed, after the change `seq`."""
    return bool(await after(tx, seq, NO_MATCH, 1))


async def streamed_matches(tx: Tx) -> list[UUID]:
    """The matches that are live or have an active or suspended market."""
    rows = await tx.fetch(reads.STREAMED_MATCHES)
    return [row["id"] for row in rows]


async def newest_seqs(tx: Tx, ids: Collection[UUID]) -> dict[EntityKey, int]:
    """The newest seq of each entity of these matches: each market by its key, everything else by kind. A
    change without a frame of its own counts as a change of the match."""
    rows = await tx.fetch(reads.NEWEST_SEQS, list(ids))
    return {(row["match_id"], row["kind"], row["key"]): row["seq"] for row in rows}


@reading_number
def head() -> Select[Change]:
    """The highest visible seq, 0 before the first change."""
    return Change.select(Coalesce(Max(Change.seq), 0))


async def newest_stamp(tx: Tx) -> int:
    """The timestamp (ms) of the change with the highest visible seq, 0 before the first one."""
    stamp: int | None = await tx.one_value(_newest())
    return stamp or 0


@reading_number
def oldest() -> Select[Change]:
    """The lowest seq in the log, 0 when it is empty: a cursor below `oldest - 1` may have missed changes."""
    return Change.select(Coalesce(Min(Change.seq), 0))


async def prune(tx: Tx, before: int, limit: int = 2_000, *, keep: bool = True) -> int:
    """Delete the oldest changes, those before `before` (ms), in whole envelopes and fewer than `limit`; the
    newest envelope always stays, so that `head` never falls. How many: 0 while another process prunes.
    With `keep` those of matches move to `kept_change`, compressed, where `kept_changes` reads them.
    Fixture changes move to `past_fixture`, where `recovery_queries` reads them until `prune_fixtures`; the
    newest seqs of open matches' entities to `past_seq`, where `newest_seqs` reads them until
    `prune_seqs`."""
    if not await tx.value(server.TRY_LOCK, _PRUNE_LOCK):
        return 0
    if not keep:
        deleted: int = await tx.value(statements.PRUNE, before, limit)
        return deleted
    pruned = await tx.fetch(statements.PRUNE_KEEPING, before, limit)
    of_matches = [row for row in pruned if row["match_id"] != NO_MATCH]
    if of_matches:
        bodies = await asyncio.to_thread(_compressed, [row["body"] for row in of_matches])
        columns = columns_of([*row.values()][:-1] for row in of_matches)
        await tx.execute(statements.KEEP, *columns, bodies)
    return sum(row["rows"] for row in pruned)


def _compressed(bodies: Sequence[bytes]) -> list[bytes]:
    return [zlib.compress(body) for body in bodies]


@writing
def prune_fixtures(before: int, /) -> Delete:
    """Delete pruned fixture changes from before `before` (ms); how many."""
    return PastFixture.delete().where(PastFixture.at < before)


@writing
def prune_seqs() -> Delete:
    """Delete the seqs of pruned changes of matches that are over; how many."""
    over = MatchTable.select(MatchTable.id).where(
        MatchTable.status.is_in(literals((Status.FINISHED, Status.CANCELLED)))
    )
    return PastSeq.delete().where(PastSeq.match_id.is_in(over))


@prepared
def _positions(match_ids: Collection[UUID]) -> Select[Any]:
    query = MatchTable.select(MatchTable.id, MatchTable.number, MatchTable.last_stamp, MatchTable.last_seq)
    return query.where(any_of(MatchTable.id, match_ids)).order_by(MatchTable.number)


@prepared
def _after(seq: int, *of_match: UUID, limit: int) -> Select[Any]:
    query = Change.select(*ROWS.columns).where(Change.seq > seq)
    for match_id in of_match:
        query = query.where(Change.match_id == match_id)
    return query.order_by(Change.seq).limit(limit)


@prepared
def _newest() -> Select[Change]:
    return Change.select(Change.at).order_by(Change.seq, ascending=False).limit(1)


def _draft_positions(drafts: Sequence[ChangeDraft]) -> list[_DraftPosition]:
    positions: list[_DraftPosition] = []
    before, envelopes = -1, 0
    for (message, _), group in groupby(drafts, key=envelope_of):
        members = list(group)
        own = range(len(positions), len(positions) + len(members))
        if message:
            if members[0].entity == BET_STOP:
                envelopes += 1
                positions.append(_DraftPosition(own[0], own[-1], before, envelopes))
                own = own[1:]
            envelopes += 1
            positions += [_DraftPosition(each, own[-1], before, envelopes) for each in own]
            before = own[-1]
        else:
            positions += [_DraftPosition(each, each, before, envelopes) for each in own]
    return positions


def envelope_of(draft: ChangeDraft) -> tuple[str, VoidWindow | None]:
    """What consecutive drafts of one envelope share."""
    message = "odds_change" if draft.entity == BET_STOP else draft.message
    return message, draft.entry.void_window if draft.entry else None

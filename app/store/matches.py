"""Matches: one row each, the whole state as one value, locked before anything of the match is written.

Every write here that a response shows also notifies caches of response bodies (`cache_invalidation`).
"""

from collections.abc import Collection, Sequence
from uuid import UUID

import asyncpg
import msgspec

from app.domain.ids import match_number, match_uuid
from app.domain.market import MarketStatus
from app.domain.match import Match, Status
from app.kit.errors import Conflict, Field, Invalid, NotFound
from app.store import cache_invalidation
from app.store.transaction import Row, Tx, Write

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Match).decode
#: The tables whose rows belong to a match and are deleted with it.
DEPENDENT_TABLES = (
    "change",
    "past_fixture",
    "past_seq",
    "ledger_entry",
    "timeline_event",
    "round",
    "market",
    "unbooked",
    "log_source",
    "log_pending",
    "log_parked",
    "match_reference",
    "operator_command",
    "team_map",
    "player_map",
    "alert",
    "match_source",
)
#: The fields of `Match` that version 0.1.0 does not know: its processes, running beside ours, read a state
#: and write it back without them, so they are stored in a column of their own. They are fields of `Match`
#: itself, by their stored names.
LATER: tuple[str, ...] = (
    "unfollowed",
    "handed_over",
    "named_side",
    "format_status",
    "behind",
    "presence",
    "other_deaths",
    "open_end",
    "home_spread",
    "away_spread",
    "clock_rules",
    "shown",
    "follows_ratings",
    "ratings_version",
)
_LATER_FIELDS = {field.name: field for field in msgspec.structs.fields(Match) if field.encode_name in LATER}
_decode_later = msgspec.json.Decoder(
    msgspec.defstruct(
        "Later",
        [
            (
                name,
                field.type | msgspec.UnsetType,
                msgspec.field(default=msgspec.UNSET, name=field.encode_name),
            )
            for name, field in _LATER_FIELDS.items()
        ],
    )
).decode

_INSERT = f"""
WITH made AS (
    INSERT INTO match (id, number, status, home, away, event, home_id, away_id, tournament_id,
        scheduled_at, started_at, finished_at, suspended, last_fact_at, best_of, score_home, score_away,
        map_name, state, later, last_stamp, last_seq)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $21, $22,
        $23)
    RETURNING id
)
SELECT pg_notify('{cache_invalidation.CHANNEL}', $20) FROM made
"""
_SAVE = f"""
UPDATE match SET number = $2, status = $3, home = $4, away = $5, event = $6, home_id = $7,
    away_id = $8, tournament_id = $9, scheduled_at = $10, started_at = $11, finished_at = $12,
    suspended = $13, last_fact_at = $14, best_of = $15, score_home = $16, score_away = $17,
    map_name = $18, state = $19, later = $21, reprice_at = $22
WHERE id = $1
RETURNING pg_notify('{cache_invalidation.CHANNEL}', $20)
"""
_STATE = "SELECT state, later, last_stamp, last_seq FROM match"


class MatchPosition(msgspec.Struct, frozen=True):
    """A match, and the seq of its last envelope in the change log (`x-seq`)."""

    id: UUID
    number: int
    seq: int


async def next_number(tx: Tx) -> int:
    """A number that no match has; numbers of failed transactions are not reused."""
    number: int = await tx.value("SELECT nextval('match_number')")
    return number


async def insert(tx: Tx, match: Match) -> None:
    """Add a new match; raises `Conflict` when its id or number is in use."""
    try:
        await tx.execute(_INSERT, *_columns(match), match.last_stamp, match.last_seq)
    except asyncpg.UniqueViolationError as error:
        raise Conflict(f"A match with id {match.id} or number {match.number} exists already.") from error


async def lock(tx: Tx, match_id: UUID) -> Match:
    """The match, its row locked until the transaction ends; raises `NotFound`."""
    row = await tx.row(f"{_STATE} WHERE id = $1 FOR UPDATE", match_id)
    if row is None:
        raise NotFound(f"There is no match {match_id}.")
    return _match(row)


def save_statement(match: Match, reprice_at: int | None = None) -> Write:
    """The statement that writes the match's state, and when its prices may next change because time passes;
    its row must be locked. `last_stamp` is written by `changes.append` and, for a recovery, by
    `recovery_queries.assign_timestamps`; `last_seq` by the first only. Raises `NotFound`."""
    return Write(_SAVE, (*_columns(match), reprice_at), missing=f"There is no match {match.id}.")


async def due(tx: Tx, now: int) -> list[UUID]:
    """Live, not suspended matches whose prices time alone may change at `now` (ms); earliest first."""
    rows = await tx.fetch(
        "SELECT id FROM match WHERE status = $1 AND suspended = '' AND reprice_at <= $2 ORDER BY reprice_at",
        Status.LIVE,
        now,
    )
    return [row["id"] for row in rows]


async def lock_due(tx: Tx, match_id: UUID, now: int) -> Match | None:
    """`lock`, if the match is still due at `now`; None if another transaction has it or has repriced it."""
    row = await tx.row(f"{_STATE} WHERE id = $1 AND reprice_at <= $2 FOR UPDATE SKIP LOCKED", match_id, now)
    return _match(row) if row else None


async def set_reprice_at(tx: Tx, match_id: UUID, reprice_at: int | None) -> None:
    """Record when the prices of a match may next change; nothing else of it has changed."""
    await tx.execute("UPDATE match SET reprice_at = $2 WHERE id = $1", match_id, reprice_at)


async def get(tx: Tx, match_id: UUID) -> Match | None:
    row = await tx.row(f"{_STATE} WHERE id = $1", match_id)
    return _match(row) if row else None


async def by_ids(tx: Tx, ids: Collection[UUID]) -> list[Match]:
    """Those of these matches that exist."""
    return [_match(row) for row in await tx.fetch(f"{_STATE} WHERE id = ANY($1)", list(ids))]


async def find(tx: Tx, ref: str, *, finished_only: bool = False) -> Match | None:
    """The match that `ref` names: a UUID, or `od:match:<n>`; None when there is none or `ref` is neither.

    With `finished_only` other matches are not found either.
    """
    match = await _named(tx, ref)
    if match and finished_only and match.status is not Status.FINISHED:
        return None
    return match


async def by_ref(tx: Tx, ref: str, *, finished_only: bool = False) -> Match:
    """The result of `find`; raises `Invalid` when `ref` has neither form, `NotFound` when there is no
    match."""
    if match_number(ref) is None and match_uuid(ref) is None:
        how = "A match is named by its UUID, or as od:match:<number>."
        raise Invalid(Field(("path", "match_id"), how, "match_id", ref))
    match = await find(tx, ref, finished_only=finished_only)
    if match is None:
        raise NotFound(f"There is no match {ref!r}.")
    return match


async def listing(
    tx: Tx,
    *,
    statuses: Collection[Status],
    limit: int,
    newest_first: bool = False,
) -> list[Match]:
    """At most `limit` matches in these states, by scheduled time."""
    order = "scheduled_at DESC NULLS LAST, number DESC" if newest_first else "scheduled_at NULLS LAST, number"
    rows = await tx.fetch(f"{_STATE} WHERE status = ANY($1) ORDER BY {order} LIMIT $2", list(statuses), limit)
    return [_match(row) for row in rows]


async def quiet(tx: Tx, before: int) -> list[Match]:
    """Live, not suspended matches with an active market whose last fact is older than `before` (ms)."""
    rows = await tx.fetch(
        f"""
        {_STATE} WHERE status = $1 AND suspended = '' AND last_fact_at < $2
        AND EXISTS (SELECT FROM market WHERE match_id = match.id AND status = {MarketStatus.ACTIVE:d})
        ORDER BY number
        """,
        Status.LIVE,
        before,
    )
    return [_match(row) for row in rows]


async def suspended_before_play(tx: Tx, reason: str) -> list[UUID]:
    """Matches that have not begun and are suspended for `reason`: no log line will clear it."""
    rows = await tx.fetch(
        "SELECT id FROM match WHERE status IN ('discovered', 'upcoming') AND suspended = $1", reason
    )
    return [row["id"] for row in rows]


async def trim(tx: Tx, before: int, limit: int = 20) -> list[UUID]:
    """Delete up to `limit` matches that ended before `before` (ms), oldest first, with all their rows:
    markets, history, ledger, change log; their ids. The match of the change log's last row stays, so that the
    log's `head` never falls."""
    rows = await tx.fetch(
        """
        SELECT id FROM match WHERE finished_at < $1 AND status = ANY($2)
        AND id IS DISTINCT FROM (SELECT match_id FROM change ORDER BY seq DESC LIMIT 1)
        ORDER BY finished_at LIMIT $3 FOR UPDATE SKIP LOCKED
        """,
        before,
        [Status.FINISHED, Status.CANCELLED],
        limit,
    )
    ids = [row["id"] for row in rows]
    await _remove(tx, ids)
    return ids


async def trim_to(tx: Tx, keep: int, limit: int = 20) -> list[UUID]:
    """`trim`, for all except the `keep` matches that ended last; their ids."""
    before: int | None = await tx.value(
        """
        SELECT finished_at + 1 FROM match WHERE finished_at IS NOT NULL AND status = ANY($1)
        ORDER BY finished_at DESC OFFSET $2 LIMIT 1
        """,
        [Status.FINISHED, Status.CANCELLED],
        keep,
    )
    return await trim(tx, before, limit) if before is not None else []


async def _remove(tx: Tx, ids: Sequence[UUID]) -> None:
    if not ids:
        return
    for table in DEPENDENT_TABLES:
        await tx.execute(f"DELETE FROM {table} WHERE match_id = ANY($1)", ids)
    await tx.execute("DELETE FROM match WHERE id = ANY($1)", ids)
    await cache_invalidation.notify_removed(tx, ids)


async def _named(tx: Tx, ref: str) -> Match | None:
    number = match_number(ref)
    if number is not None:
        row = await tx.row(f"{_STATE} WHERE number = $1", number)
        return _match(row) if row else None
    match_id = match_uuid(ref)
    return await get(tx, match_id) if match_id else None


def _columns(match: Match) -> tuple[object, ...]:
    return (
        match.id,
        match.number,
        match.status,
        match.home,
        match.away,
        match.event,
        match.home_id,
        match.away_id,
        match.tournament_id,
        match.scheduled_at,
        match.started_at,
        match.finished_at,
        match.suspended,
        match.last_arrived_at,
        match.best_of,
        match.score_home,
        match.score_away,
        match.map.name if match.map else "",
        _encode(match),
        cache_invalidation.match_payload(match),
        _encode({field.encode_name: getattr(match, name) for name, field in _LATER_FIELDS.items()}),
    )


def _match(row: Row) -> Match:
    later = _decode_later(row["later"])
    return msgspec.structs.replace(
        _decode(row["state"]),
        **{name: value for name in _LATER_FIELDS if (value := getattr(later, name)) is not msgspec.UNSET},
        last_stamp=row["last_stamp"],
        last_seq=row["last_seq"],
    )

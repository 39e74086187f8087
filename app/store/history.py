"""The history of a match: finished rounds, timeline events, and the settlement ledger.

Nothing is deleted: what no longer counts is marked void with its history id unchanged.
"""

from collections.abc import Collection, Iterable
from uuid import UUID

import msgspec

from app.domain.match import Round, TimelineEvent
from app.domain.settlement import LedgerEntry
from app.store.transaction import Tx, Write

_encode = msgspec.json.Encoder().encode
_round = msgspec.json.Decoder(Round).decode
_event = msgspec.json.Decoder(TimelineEvent).decode
_entry = msgspec.json.Decoder(LedgerEntry).decode

_ADD_ROUNDS = """
INSERT INTO round (match_id, id, map, number, void, body)
SELECT $1, * FROM unnest($2::int[], $3::smallint[], $4::smallint[], $5::bool[], $6::json[])
ON CONFLICT (match_id, id) DO UPDATE
SET map = excluded.map, number = excluded.number, void = excluded.void, body = excluded.body
"""
_ADD_EVENTS = """
INSERT INTO timeline_event (match_id, id, map, round, void, body)
SELECT $1, * FROM unnest($2::int[], $3::smallint[], $4::smallint[], $5::bool[], $6::json[])
ON CONFLICT (match_id, id) DO UPDATE
SET map = excluded.map, round = excluded.round, void = excluded.void, body = excluded.body
"""


_FINISHED = """
AND m.status = 'finished'
AND e.id < (
    SELECT coalesce(min(own.first), 9223372036854775807) FROM match, LATERAL (
        SELECT min(entry.id) AS first FROM ledger_entry AS entry WHERE entry.match_id = match.id
    ) AS own
    WHERE status IN ('discovered', 'upcoming', 'live')
)
"""


def add_statements(match_id: UUID, rounds: Iterable[Round], events: Iterable[TimelineEvent]) -> list[Write]:
    """The statements that write finished rounds and timeline events, replacing those already written."""
    inserts = (
        (_ADD_ROUNDS, [(r.id, r.map, r.number, r.void, _encode(r)) for r in rounds]),
        (_ADD_EVENTS, [(e.id, e.map, e.round, e.void, _encode(e)) for e in events]),
    )
    return [
        Write(sql, (match_id, *(list(column) for column in zip(*rows, strict=True))))
        for sql, rows in inserts
        if rows
    ]


async def void(tx: Tx, match_id: UUID, ids: Collection[int]) -> None:
    """Mark as void the rounds and events with these history ids."""
    if ids:
        for table in ("round", "timeline_event"):
            await tx.execute(
                f"UPDATE {table} SET void = true WHERE match_id = $1 AND id = ANY($2::int[]) AND NOT void",
                match_id,
                list(ids),
            )


async def rounds(tx: Tx, match_id: UUID) -> list[Round]:
    """Every finished round in playing order, void ones too."""
    rows = await tx.fetch("SELECT void, body FROM round WHERE match_id = $1 ORDER BY id", match_id)
    return [msgspec.structs.replace(_round(row["body"]), void=row["void"]) for row in rows]


async def timeline(tx: Tx, match_id: UUID) -> list[TimelineEvent]:
    """Every timeline event in order of occurrence, void ones too."""
    rows = await tx.fetch("SELECT void, body FROM timeline_event WHERE match_id = $1 ORDER BY id", match_id)
    return [msgspec.structs.replace(_event(row["body"]), void=row["void"]) for row in rows]


async def of_matches(tx: Tx, ids: Collection[UUID]) -> dict[UUID, tuple[list[Round], list[TimelineEvent]]]:
    """`rounds` and `timeline` of each of these matches."""
    found: dict[UUID, tuple[list[Round], list[TimelineEvent]]] = {one: ([], []) for one in ids}
    if not found:
        return found
    query = "SELECT match_id, void, body FROM {} WHERE match_id = ANY($1) ORDER BY match_id, id"
    for row in await tx.fetch(query.format("round"), list(ids)):
        played = _round(row["body"])
        found[row["match_id"]][0].append(msgspec.structs.replace(played, void=row["void"]))
    for row in await tx.fetch(query.format("timeline_event"), list(ids)):
        event = _event(row["body"])
        found[row["match_id"]][1].append(msgspec.structs.replace(event, void=row["void"]))
    return found


async def ledger(tx: Tx, match_id: UUID) -> list[LedgerEntry]:
    """The match's settlement ledger, in order."""
    rows = await tx.fetch("SELECT body FROM ledger_entry WHERE match_id = $1 ORDER BY id", match_id)
    return [_entry(row["body"]) for row in rows]


async def ledger_since(
    tx: Tx, since_id: int, limit: int, *, finished_only: bool = False
) -> list[tuple[UUID, int, LedgerEntry]]:
    """At most `limit` entries of all matches with a higher id than `since_id`, each with its match's id and
    number.

    Ids become visible in order, so the last one is a safe cursor for the next call. `finished_only` returns
    entries of finished matches only, and stops before the first entry of a match that may yet finish: the
    cursor would skip it.
    """
    rows = await tx.fetch(
        f"SELECT e.match_id, m.number, e.body FROM ledger_entry e JOIN match m ON m.id = e.match_id "
        f"WHERE e.id > $1 {_FINISHED if finished_only else ''} ORDER BY e.id LIMIT $2",
        since_id,
        limit,
    )
    return [(row["match_id"], row["number"], _entry(row["body"])) for row in rows]

"""What the stream reads: the change log, and the state when a poller starts.

All of it is read within one `Store.snapshot`, so that state and changes are consistent.
"""

from collections.abc import Collection
from uuid import UUID

from app.domain.match import Status
from app.store.changes import ChangeRow
from app.store.sql import OPEN_MARKETS
from app.store.transaction import Tx

_COLUMNS = "seq, match_id, number, entity, key, frame, message, at, envelope_seq, prev_seq, body"
EntityKey = tuple[UUID, str, str]  #: match, kind of entity, a market's key


async def changes(tx: Tx, after: int, match_id: UUID | None, limit: int) -> list[ChangeRow]:
    """At most `limit` changes of one match, or of all, with a higher seq than `after`, in order."""
    rows = await tx.fetch(
        f"SELECT {_COLUMNS} FROM change WHERE seq > $1 ORDER BY seq LIMIT $2"
        if match_id is None
        else f"SELECT {_COLUMNS} FROM change WHERE seq > $1 AND match_id = $3 ORDER BY seq LIMIT $2",
        *((after, limit) if match_id is None else (after, limit, match_id)),
    )
    return [ChangeRow(**row) for row in rows]


async def relevant(tx: Tx) -> list[UUID]:
    """The matches that are live or have an active or suspended market."""
    rows = await tx.fetch(
        f"""
        SELECT id FROM match WHERE status = $1
        UNION SELECT match_id FROM market WHERE status IN {OPEN_MARKETS}
        """,
        Status.LIVE,
    )
    return [row["id"] for row in rows]


async def newest_seqs(tx: Tx, ids: Collection[UUID]) -> dict[EntityKey, int]:
    """The newest seq of each entity of these matches: each market by its key, everything else by kind. A
    change without a frame of its own counts as a change of the match."""
    rows = await tx.fetch(
        """
        SELECT match_id, kind, key, max(seq) AS seq FROM (
            SELECT match_id, seq, CASE frame WHEN '' THEN 'match' ELSE entity END AS kind,
                CASE entity WHEN 'market' THEN key ELSE '' END AS key
            FROM change WHERE match_id = ANY($1) AND NOT (entity = 'match' AND frame = '')
            UNION ALL SELECT match_id, seq, kind, key FROM past_seq WHERE match_id = ANY($1)
        ) AS seen GROUP BY 1, 2, 3
        """,
        list(ids),
    )
    return {(row["match_id"], row["kind"], row["key"]): row["seq"] for row in rows}

"""The senders of a match's log: one is followed, the others are recorded with the reason why not."""

from collections.abc import Sequence
from typing import Literal
from uuid import UUID

import msgspec

from app.store.transaction import Tx, Write

OTHERS = "others"  #: the name under which a match's senders beyond the most are recorded together
State = Literal["followed", "refused", "dismissed", "ended"]
_FIELDS = (
    "source, server, instance, peer, map, state, why, claims, first_seen, last_seen, end_offset, last_line"
)


class LogSender(msgspec.Struct, frozen=True, kw_only=True):
    """A sender of a match's log. Times in Unix ms, `end_offset` in bytes of its run (None: not known).

    `source` names it within the match: the run's instance token, or the server where it has none.
    `server` is what stays the same when the server restarts: its address, else its unique token, else the
    peer's address. `refused`: it sends although another is followed, and `claims` the match when it sends
    play. `dismissed`: an operator decided against it. `ended`: another run or server replaced it.
    """

    source: str
    server: str = ""
    instance: str = ""
    peer: str = ""
    map: str = ""
    state: State
    why: str = ""
    claims: bool = False
    first_seen: int
    last_seen: int
    end_offset: int | None = None
    last_line: str = ""


_decode = msgspec.json.Decoder(tuple[LogSender, ...]).decode
#: For a query in which $1 is the match: all its senders as one JSON value.
ALL = f"""coalesce((SELECT json_agg(t) FROM (
    SELECT {_FIELDS} FROM match_source WHERE match_id = $1 ORDER BY first_seen, source
) AS t), '[]')"""


def decoded(rows: bytes) -> tuple[LogSender, ...]:
    """The result of `ALL`."""
    return _decode(rows)


async def listing(tx: Tx, match_id: UUID) -> tuple[LogSender, ...]:
    """The senders of a match's log, by the time when each was first seen."""
    return decoded(await tx.value(f"SELECT {ALL}", match_id))


def save_statements(match_id: UUID, changed: Sequence[LogSender]) -> list[Write]:
    """The statement that writes these senders."""
    if not changed:
        return []
    write = f"""
        INSERT INTO match_source (match_id, {_FIELDS})
        SELECT $1, {_FIELDS} FROM json_populate_recordset(NULL::match_source, $2)
        ON CONFLICT (match_id, source) DO UPDATE SET
            server = excluded.server, peer = excluded.peer, map = excluded.map, state = excluded.state,
            why = excluded.why, claims = excluded.claims, last_seen = excluded.last_seen,
            end_offset = excluded.end_offset, last_line = excluded.last_line
        """
    return [Write(write, (match_id, msgspec.json.encode(changed)))]


async def rival_sources_gone(tx: Tx, before: int) -> list[UUID]:
    """Matches with an open alert about rival sources none of which has sent since `before` (ms)."""
    rows = await tx.fetch(
        """
        SELECT DISTINCT match_id FROM alert a
        WHERE kind = 'rival_source' AND ended_at IS NULL AND NOT EXISTS (
            SELECT FROM match_source s
            WHERE s.match_id = a.match_id AND s.state = 'refused' AND s.claims AND s.last_seen >= $1
        )
        """,
        before,
    )
    return [row["match_id"] for row in rows]

"""Statements that read the change log backwards, for people who look at its envelopes."""

from app.domain import frame_types
from app.store.sql import BOOKED_THEN, OFFERED, OPEN_MARKETS, TO_ONE_TENANT

#: A binary search by time, as a recursion: the log has no index on time, which every write of a change would
#: pay for. Envelopes are in the order of their timestamps but for the seconds by which processes' clocks and
#: waiting transactions differ; rows without a message have older timestamps and are passed over.
POSITION = """
WITH RECURSIVE halves AS (
    SELECT coalesce(min(seq), 0) AS low, coalesce(max(seq), 0) + 1 AS high FROM change
    UNION ALL
    SELECT CASE WHEN probe.at < $1 THEN probe.seq + 1 ELSE low END,
        CASE WHEN probe.at < $1 THEN high ELSE middle.seq END
    FROM halves CROSS JOIN LATERAL (SELECT (low + high) / 2 AS seq) AS middle
    LEFT JOIN LATERAL (
        SELECT c.seq, c.at FROM change c
        WHERE c.seq >= middle.seq AND c.seq < high AND c.message <> '' ORDER BY c.seq LIMIT 1
    ) AS probe ON true
    WHERE low < high
)
SELECT low FROM halves WHERE low >= high
"""


#: Whether a row is for this tenant alone, whose id its key begins with.
_OWN = f"entity IN {TO_ONE_TENANT} AND starts_with(key, {{}}::uuid::text || ' ')"
_OWN_OF_PAGE = _OWN.format("$1")


def _booked(tenant: str) -> str:
    """Whether the tenant had booked the match of the envelope of `c` at its place."""
    place = (tenant, "c.match_id", "c.envelope_seq")
    return BOOKED_THEN.format(*place, *place, "c.envelope_seq")


#: Whether an envelope lists the market of a row to the tenant, as `domain.types_off.changed_market`: while
#: its type is off, an open market is not listed, as if it was opened after the switch, unless it is new or a
#: rollback has opened it again.
_LISTED = OFFERED.format(
    *("$10", "$11", "$12", "$13", "split_part(key, ':', 1)::int", "envelope_seq"),
    f"""CASE WHEN entity = 'market' AND (body->>'status')::int IN {OPEN_MARKETS}
            AND frame <> '{frame_types.MARKET_CREATED}'
            AND (frame = '{frame_types.MARKET_UPDATED}' OR coalesce(body->>'settled_by', '') = '')
        THEN {2**63 - 1} ELSE coalesce((body->>'first_opened_at')::bigint, 0) END""",
)


def _page(of_match: str) -> str:
    """A page of envelopes, newest first, from a bounded number of rows; `of_match` restricts these. Where
    nothing is left for a tenant because types were off for it, an envelope is an `odds_change`.

    An envelope that the bound cuts is left to the next page, which begins below `next`. Rows below the floor
    are passed over afterwards: with a floor in the scan, PostgreSQL without statistics of the log expects few
    rows, and sorts all that there are.
    """
    return f"""
WITH scanned AS MATERIALIZED (
    SELECT seq, match_id, number, entity, key, at, envelope_seq,
        CASE WHEN {_OWN_OF_PAGE} THEN 'odds_change' ELSE message END AS message,
        CASE WHEN cardinality($10::int[]) > 0 AND entity IN ('market', 'settlement')
            THEN {_LISTED} ELSE true END AS listed
    FROM change WHERE seq < $2 {of_match} ORDER BY seq DESC LIMIT $4
), ends AS (
    SELECT CASE WHEN count(*) < $4 OR min(seq) < $3 THEN 0
        ELSE (SELECT envelope_seq + 1 FROM scanned ORDER BY seq LIMIT 1) END AS next FROM scanned
), found AS (
    SELECT c.envelope_seq AS seq, c.match_id, c.number, c.at,
        CASE WHEN bool_or(c.listed) THEN c.message ELSE 'odds_change' END AS name
    FROM scanned c, ends
    WHERE c.message <> '' AND c.seq >= $3 AND c.envelope_seq >= ends.next AND c.envelope_seq < $2
        AND c.at BETWEEN $7 AND $8
        AND {_booked("$1")}
    GROUP BY c.envelope_seq, c.match_id, c.number, c.at, c.message
    HAVING ($5 = '' OR $5 = CASE WHEN bool_or(c.listed) THEN c.message ELSE 'odds_change' END)
        AND ($6 = '' OR bool_or(c.listed AND CASE c.entity
            WHEN 'market' THEN starts_with(c.key, $6) WHEN 'settlement' THEN starts_with(c.key, $6)
            ELSE c.entity IN {TO_ONE_TENANT} AND starts_with(c.key, $1::uuid::text || ' ' || $6) END))
    ORDER BY 1 DESC LIMIT $9
)
SELECT ends.next, found.seq, found.match_id, found.number, found.name, found.at, m.home, m.away
FROM ends LEFT JOIN found ON true LEFT JOIN match m ON m.id = found.match_id
ORDER BY found.seq DESC
"""


#: Groups of what a bounded scan has found: the cost does not depend on how much is stored.
PAGE = _page("")
#: The same of one match, by its index.
PAGE_OF_MATCH = _page("AND match_id = $14")
#: The rows of one envelope are consecutive: the first one follows the last row of another envelope, which a
#: subquery finds.
ROWS = f"""
SELECT seq, match_id, number, entity, key, frame, message, at, envelope_seq, prev_seq, body, arrived_at
FROM change c WHERE seq <= $1 AND envelope_seq = $1 AND (message <> '' OR {_OWN.format("$2")})
    AND {_booked("$2")}
    AND seq > coalesce((
    SELECT p.seq FROM change p WHERE p.seq < $1 AND p.envelope_seq < $1 ORDER BY p.seq DESC LIMIT 1
), 0)
ORDER BY seq
"""

"""The change log's statements.

Rows for one tenant alone are written by several statements in one transaction. What happens for a tenant has
a place in the log, and the markets that change for it are read at exactly that place. So a statement of its
own takes the log's lock first (`LOCK_LOG`); `APPEND`, which assigns numbers to the changes of one match,
takes the lock itself.
"""

from app.store.sql import WITHOUT_FRAME, booked_by

#: Seqs are assigned under the log's lock, which all other writers wait for, and what depends on them (seq,
#: timestamp, a settlement's own id) is computed in the same statement, which writes three tables: with two
#: statements the lock would be held for one round trip more.
APPEND = """
WITH assigned AS MATERIALIZED (
    SELECT * FROM take_change_numbers($1, $3)
), placed AS MATERIALIZED (
    SELECT assigned.first + own AS seq, assigned.first + last AS envelope_seq,
        CASE WHEN before < 0 THEN assigned.last_seq ELSE assigned.first + before END AS prev_seq,
        CASE envelopes WHEN 0 THEN greatest($4, assigned.last_stamp)
            ELSE greatest($4, assigned.last_stamp + 1) + envelopes - 1 END AS at,
        entity, key, frame, message, body, type_id, specifiers
    FROM assigned, unnest($5::int[], $6::int[], $7::int[], $8::int[], $9::text[], $10::text[], $11::text[],
        $12::text[], $13::json[], $14::int[], $15::text[])
        AS t (own, last, before, envelopes, entity, key, frame, message, body, type_id, specifiers)
), numbered AS MATERIALIZED (
    SELECT seq, envelope_seq, prev_seq, at, entity, key, frame, message, type_id, specifiers,
        CASE WHEN type_id IS NULL THEN body
            ELSE (format('{"id":%s,"at":%s,', seq, at) || substr(body::text, 2))::json END AS body
    FROM placed
), inserted AS (
    INSERT INTO change (seq, match_id, number, entity, key, frame, message, at, envelope_seq, prev_seq, body,
        arrived_at)
    SELECT seq, $1, $2, entity, key, frame, message, at, envelope_seq, prev_seq, body, $16 FROM numbered
), entries AS (
    INSERT INTO ledger_entry (id, at, type_id, specifiers, body, match_id)
    SELECT seq, at, type_id, specifiers, body, $1 FROM numbered WHERE type_id IS NOT NULL
), newest AS (
    SELECT at, envelope_seq FROM numbered WHERE message <> '' ORDER BY seq DESC LIMIT 1
), stamped AS (
    UPDATE match SET last_stamp = newest.at, last_seq = newest.envelope_seq,
        closed_at = CASE WHEN status IN ('finished', 'cancelled') THEN coalesce(closed_at, newest.at) END
    FROM newest WHERE id = $1
)
SELECT coalesce((SELECT at FROM newest), assigned.last_stamp) AS last_stamp,
    coalesce((SELECT envelope_seq FROM newest), assigned.last_seq) AS last_seq,
    assigned.first + $3 - 1 AS seq, pg_notify($17, (assigned.first + $3 - 1)::text)
FROM assigned
"""
#: Where a page of whole envelopes ends is a subquery of a subquery with a limit that is a parameter.
READ = """
SELECT seq, match_id, number, entity, key, frame, message, at, envelope_seq, prev_seq, body, arrived_at
FROM change WHERE seq > $1 AND seq <= (
    SELECT max(envelope_seq)
    FROM (SELECT envelope_seq FROM change WHERE seq > $1 ORDER BY seq LIMIT $2) AS page
)
ORDER BY seq
"""
#: What belongs to one match, as `READ`: rows that follow each other in its part of the log.
READ_OF_MATCH = """
SELECT seq, match_id, number, entity, key, frame, message, at, envelope_seq, prev_seq, body, arrived_at
FROM change WHERE match_id = $1 AND seq > $2 AND seq <= (
    SELECT max(envelope_seq) FROM (
        SELECT envelope_seq FROM change WHERE match_id = $1 AND seq > $2 ORDER BY seq LIMIT $3
    ) AS page
)
ORDER BY seq
"""
#: Deletes from one table what it inserts into two others: one statement, so that a reader of the three
#: misses nothing and sees nothing twice.
_PRUNE = f"""
WITH page AS (SELECT seq, at, envelope_seq FROM change ORDER BY seq LIMIT $2),
deleted AS (
    DELETE FROM change WHERE seq < (
        SELECT min(seq) FROM page WHERE at >= $1 OR envelope_seq = (SELECT max(envelope_seq) FROM page)
    )
    RETURNING seq, match_id, number, entity, key, frame, message, at, envelope_seq, prev_seq, body, arrived_at
), numbered AS (
    INSERT INTO past_seq (match_id, kind, key, seq)
    SELECT match_id, kind, key, max(seq) FROM (
        SELECT match_id, seq, CASE frame WHEN '' THEN 'match' ELSE entity END AS kind,
            CASE entity WHEN 'market' THEN key ELSE '' END AS key
        FROM deleted WHERE NOT (entity IN {WITHOUT_FRAME} AND frame = '')
    ) AS pruned
    WHERE EXISTS (SELECT FROM match WHERE id = match_id AND status NOT IN ('finished', 'cancelled'))
    GROUP BY 1, 2, 3
    ON CONFLICT (match_id, kind, key) DO UPDATE SET seq = excluded.seq
), past_fixtures AS (
    INSERT INTO past_fixture (seq, match_id, number, at, envelope_seq, body)
    SELECT seq, match_id, number, at, envelope_seq, body FROM deleted WHERE message = 'fixture_change'
)
"""
#: How many it deleted.
PRUNE = f"{_PRUNE} SELECT count(*) FROM deleted"
#: What it deleted, by match, for `kept_change`: the rows as one JSON value (`kept_changes`), because the
#: process that prunes also publishes, and to read them one by one would hold it up.
PRUNE_KEEPING = f"""
{_PRUNE}
SELECT match_id, max(seq) AS last_seq, min(seq) AS first_seq, max(number) AS number, count(*)::int AS rows,
    min(prev_seq) AS prev_seq,
    coalesce(max(envelope_seq) FILTER (WHERE message <> ''), min(prev_seq)) AS envelope_seq, max(at) AS at,
    json_agg(
        json_build_array(seq, entity, key, frame, message, at, envelope_seq, prev_seq, arrived_at, body)
        ORDER BY seq
    ) AS body
FROM deleted GROUP BY match_id
"""
#: Many rows from arrays.
KEEP = """
INSERT INTO kept_change (match_id, last_seq, first_seq, number, rows, prev_seq, envelope_seq, at, body)
SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::int[], $6::bigint[],
    $7::bigint[], $8::bigint[], $9::bytea[])
"""
#: Compares each part of a match with the one before it, and the last one with the match, which Piccolo's
#: queries cannot.
WHOLE = """
WITH parts AS (
    SELECT match_id, last_seq, prev_seq, envelope_seq FROM kept_change WHERE match_id = ANY ($1::uuid[])
    UNION ALL
    SELECT match_id, max(seq), min(prev_seq),
        coalesce(max(envelope_seq) FILTER (WHERE message <> ''), min(prev_seq))
    FROM change WHERE match_id = ANY ($1::uuid[]) GROUP BY 1
), compared AS (
    SELECT match_id, prev_seq, envelope_seq, lag(envelope_seq, 1, 0::bigint) OVER (
        PARTITION BY match_id ORDER BY last_seq
    ) AS expected
    FROM parts
)
SELECT c.match_id FROM compared c JOIN match m ON m.id = c.match_id
GROUP BY c.match_id, m.last_seq HAVING bool_and(prev_seq = expected) AND max(envelope_seq) = m.last_seq
"""
#: The matches that a tenant can replay, newest first: over, booked, and their first envelope kept or in the
#: log. Subqueries with an order, of two tables. Matches that ended more than $5 ms before the oldest change
#: are not looked at.
REPLAYABLE = f"""
SELECT m.id, m.number, m.home, m.away, m.event, m.started_at, m.finished_at
FROM match m
WHERE m.status = ANY ($6::text[]) AND m.finished_at <= $2 AND (m.finished_at, m.number) < ($2, $3)
    AND m.finished_at >= least(
        (SELECT min(at) FROM kept_change), (SELECT at FROM change ORDER BY seq LIMIT 1)
    ) - $5::bigint
    AND {booked_by("$1")}
    AND 0 = coalesce(
        (SELECT k.prev_seq FROM kept_change k WHERE k.match_id = m.id ORDER BY k.last_seq LIMIT 1),
        (SELECT c.prev_seq FROM change c WHERE c.match_id = m.id ORDER BY c.seq LIMIT 1)
    )
ORDER BY m.finished_at DESC, m.number DESC LIMIT $4
"""
#: The matches with changes between $1 and $2 (Unix ms), and between which seqs these are, of the log and of
#: what is kept of it. Parts that are kept have the time of their last change only: a part whose first change
#: is after those of the first part that ends after $3 begins after $2. $4 is the match of rows of no match.
CHANGED = f"""
WITH parts AS (
    SELECT match_id, number, first_seq, last_seq FROM kept_change WHERE at >= $1
        AND first_seq <= (SELECT coalesce(min(last_seq), {2**63 - 1}) FROM kept_change WHERE at >= $3)
    UNION ALL
    SELECT match_id, number, min(seq), max(seq) FROM change WHERE at >= $1 AND at < $2 AND match_id <> $4
    GROUP BY 1, 2
)
SELECT match_id AS id, number, min(first_seq) AS first, max(last_seq) AS last, coalesce((
    SELECT max(last_seq) FROM kept_change AS earlier
    WHERE earlier.match_id = parts.match_id AND earlier.at < $1
), 0) AS after
FROM parts GROUP BY match_id, number ORDER BY number
"""
#: Whether the newest changes of a match are neither kept nor in the log, of one that was not over before $1
#: (Unix ms), and of which what is there ends before $2. Compares a table with the greatest of two others.
LOST = """
SELECT EXISTS (
    SELECT FROM match m CROSS JOIN LATERAL (
        SELECT coalesce(max(envelope_seq), 0) AS seq, coalesce(max(at), 0) AS at FROM (
            SELECT envelope_seq, at FROM kept_change WHERE match_id = m.id
            UNION ALL
            SELECT envelope_seq, at FROM change WHERE match_id = m.id
        ) AS parts
    ) AS newest
    WHERE coalesce(m.closed_at, m.last_stamp) >= $1 AND m.last_seq > newest.seq AND newest.at < $2
)
"""
#: The lock that every writer of the log holds until its transaction is visible (`take_change_numbers`).
LOCK_LOG = "SELECT pg_advisory_xact_lock(7232651)"
#: A number of the log, once its lock is held.
TAKE_NUMBER = "SELECT nextval('change_seq')"
#: Many rows from arrays, and the sequence moved past their numbers.
APPEND_FOR_TENANT = """
WITH inserted AS (
    INSERT INTO change (seq, match_id, number, entity, key, frame, message, at, envelope_seq, prev_seq, body,
        arrived_at)
    SELECT seq, match_id, number, entity, key, '', '', at, envelope_seq, prev_seq, body, 0
    FROM unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::bigint[],
        $8::bigint[], $9::json[])
        AS t (seq, match_id, number, entity, key, at, envelope_seq, prev_seq, body)
)
SELECT setval('change_seq', $10), pg_notify($11, $10::bigint::text)
"""

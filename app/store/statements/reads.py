"""Reads that join rows in a way that Piccolo does not: with arrays, with subqueries that name the row beside
them, with the rows of another query. Piccolo joins a table by one column, and each table once."""

from app.domain.entrants import MAX_FILE_NUMBER
from app.domain.match import Status
from app.store.sql import NOW, OPEN_MARKETS, TO_ONE_TENANT, WITHOUT_FRAME, booked_by

_OVER = f"('{Status.FINISHED}', '{Status.CANCELLED}')"
_ENDED_LATELY_MILLIS = 3_600_000  #: a clock that is wrong by more would be noticed elsewhere
_MAX_BEHIND = 100_000  #: more envelopes than this are not counted
_WHEN = "status = 'finished' AND finished_at >= $2 AND finished_at < $3"
_NEWEST = "ORDER BY finished_at DESC LIMIT $4"
_MAP = "match_id, map_name, finished_at, body"

#: The bodies of a match's finished rounds and timeline events that count, each as one JSON array, or NULL.
STANDING = """
SELECT (SELECT json_agg(body ORDER BY id) FROM round WHERE match_id = $1 AND NOT void) AS rounds,
    (SELECT json_agg(body ORDER BY id) FROM timeline_event WHERE match_id = $1 AND NOT void) AS events
"""
#: A row of each of two subqueries beside each cursor. The upper bound excludes nothing: with it PostgreSQL
#: estimates a range instead of a third of the log, and uses the index whatever statistics it has.
_CURSOR_STATUS = f"""
SELECT t.slug, coalesce(nullif(t.named_vhost, ''), t.slug) AS vhost,
    c.seq, c.holder, c.epoch, c.expires_at - {NOW} AS remaining, c.state, c.dropped,
    greatest(0, {NOW} - c.last_alive_at) AS silent,
    (SELECT count(*) FROM (
        SELECT FROM change x WHERE x.seq > c.seq AND x.seq <= (SELECT max(seq) FROM change)
            AND x.seq = x.envelope_seq AND x.message <> ''
        LIMIT {_MAX_BEHIND}
    ) AS unpublished) AS behind,
    (SELECT {NOW} - x.at FROM change x WHERE x.seq > c.seq AND x.message <> ''
        ORDER BY x.seq LIMIT 1) AS oldest,
    c.bound_queues = '[]' AS unbound, c.notice_pending
FROM tenant_cursor c JOIN tenant t ON t.id = c.tenant_id AND t.amqp AND t.active
"""
#: The state of each tenant that is to be published to, by slug.
CURSOR_STATUS = f"{_CURSOR_STATUS}ORDER BY t.slug"
#: The same of one tenant.
CURSOR_STATUS_OF = f"{_CURSOR_STATUS}WHERE t.id = $1"
#: How many tenants wait for a message that is older than `$1` ms, of those with a connection and a bound
#: queue, and how many these are: `change` is read by the tenant's cursor.
LATE_TENANTS = f"""
SELECT count(*) FILTER (WHERE found.oldest > $1) AS late, count(*) AS served FROM (
    SELECT (SELECT {NOW} - x.at FROM change x WHERE x.seq > c.seq AND x.message <> ''
        ORDER BY x.seq LIMIT 1) AS oldest
    FROM tenant_cursor c JOIN tenant t ON t.id = c.tenant_id AND t.amqp AND t.active
    WHERE c.state = '' AND c.bound_queues NOT IN ('', '[]')
) AS found
"""
#: How many recoveries ended from `$1` until before `$2` (Unix ms), completed and failed, and how many seconds
#: the completed ones took. Percentiles have no class in Piccolo.
RECOVERY_TIMES = """
SELECT count(*) FILTER (WHERE state = 'completed') AS completed,
    count(*) FILTER (WHERE state = 'failed') AS failed,
    percentile_disc(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY finished_at - scheduled_at)
        FILTER (WHERE state = 'completed') AS millis
FROM recovery_job WHERE finished_at >= $1 AND finished_at < $2
"""
_LISTED = "id, number, status, home, away, event, home_id, away_id, tournament_id, scheduled_at, started_at"
_LISTED += ", finished_at, best_of, score_home, score_away, map_name, sort_time"
_PAGE = f"SELECT {_LISTED} FROM match WHERE in_lists AND status = $1 AND sort_time >= $2 AND sort_time <= $3"
#: Pages of lists, the most frequent reads of clients: the position is a pair of columns, and the limit a
#: parameter, so that one plan serves every size of page.
PAGE_FORWARD = f"{_PAGE} AND (sort_time, number) > ($4, $5) ORDER BY sort_time, number LIMIT $6"
#: The same in the other order.
PAGE_BACKWARD = f"{_PAGE} AND (sort_time, number) < ($4, $5) ORDER BY sort_time DESC, number DESC LIMIT $6"
#: A union, so that either column is read by its index.
PARTICIPANTS = """
SELECT home_id AS id FROM match WHERE tournament_id = $1 AND status = ANY($2) AND home_id IS NOT NULL
UNION SELECT away_id FROM match WHERE tournament_id = $1 AND status = ANY($2) AND away_id IS NOT NULL
"""
#: A union of limited queries, so that each direction is read by its index.
HEAD_TO_HEAD = f"""
(SELECT state FROM match WHERE home_id = $1::bigint AND away_id = $5::bigint AND {_WHEN} {_NEWEST})
UNION ALL
(SELECT state FROM match WHERE home_id = $5::bigint AND away_id = $1::bigint AND {_WHEN} {_NEWEST})
"""
#: A union of limited queries, so that each column is read by its index.
MATCHES_OF_TEAM = f"""
(SELECT state FROM match WHERE home_id = $1::bigint AND {_WHEN} {_NEWEST})
UNION ALL
(SELECT state FROM match WHERE away_id = $1::bigint AND {_WHEN} {_NEWEST})
"""
#: The newest row for each element of an array, of a union.
RATINGS_BEFORE = """
SELECT wanted.team, newest.rating FROM unnest($1::int[]) AS wanted (team), LATERAL (
    SELECT rating FROM (
        (SELECT at, reference, outcome->'a' AS rating FROM rating_event
         WHERE team_a = wanted.team AND at < $2 ORDER BY at DESC, reference DESC LIMIT 1)
        UNION ALL
        (SELECT at, reference, outcome->'b' FROM rating_event
         WHERE team_b = wanted.team AND at < $2 ORDER BY at DESC, reference DESC LIMIT 1)
    ) AS both_places ORDER BY at DESC, reference DESC LIMIT 1
) AS newest
"""
#: A join by either of two columns.
MATCHES_TO_REFRESH = """
SELECT DISTINCT match.id FROM match
JOIN team_rating ON team_rating.team_id IN (match.home_id, match.away_id)
WHERE match.status IN ('discovered', 'upcoming')
    AND team_rating.version > coalesce((match.state->>'ratings_version')::bigint, 0)
LIMIT $1
"""
#: The newest reference prices of matches at moments before their play, not older than $3 (ms): a lateral
#: subquery for each match and moment.
REFERENCES_BEFORE = """
SELECT m.id AS match_id, wanted.millis, p.source, p.type_id, p.specifiers, p.odds
FROM match m CROSS JOIN unnest($2::bigint[]) AS wanted (millis) CROSS JOIN LATERAL (
    SELECT DISTINCT ON (source, type_id, specifiers) source, type_id, specifiers, odds FROM reference_price r
    WHERE r.match_id = m.id AND r.at <= m.started_at - wanted.millis
        AND r.at >= m.started_at - wanted.millis - $3::bigint
        AND r.received_at >= coalesce((m.reference_state->'references'->>'since')::bigint, 0)
    ORDER BY source, type_id, specifiers, at DESC
) AS p WHERE m.id = ANY($1)
"""
#: Our prices at the same moments, however old.
OURS_BEFORE = """
SELECT m.id AS match_id, wanted.millis, p.type_id, p.specifiers, p.probability, p.own, p.odds
FROM match m CROSS JOIN unnest($2::bigint[]) AS wanted (millis) CROSS JOIN LATERAL (
    SELECT DISTINCT ON (type_id, specifiers) type_id, specifiers, probability, own, odds FROM prematch_price o
    WHERE o.match_id = m.id AND o.at <= m.started_at - wanted.millis
    ORDER BY type_id, specifiers, at DESC
) AS p WHERE m.id = ANY($1)
"""
#: A semijoin: the markets of all groups in which a market has a reference price.
REFERENCED_MARKETS = """
SELECT match_id, type_id, specifiers, "group", result FROM market
WHERE match_id = ANY($1) AND (match_id, "group") IN (
    SELECT k.match_id, k."group" FROM market k JOIN reference_price r USING (match_id, type_id, specifiers)
    WHERE k.match_id = ANY($1)
)
"""
#: A join with arrays: those of these reference prices that are known, by their place in the arrays.
KNOWN_REFERENCE_PRICES = """
SELECT wanted.place, known.odds
FROM unnest($1::uuid[], $2::text[], $3::int[], $4::text[], $5::bigint[])
    WITH ORDINALITY AS wanted (match_id, source, type_id, specifiers, at, place)
JOIN reference_price known USING (match_id, source, type_id, specifiers, at)
"""
#: A join with two arrays: for each match the entries up to its own seq.
LEDGER_UP_TO = """
SELECT e.match_id, e.body
FROM unnest($1::uuid[], $2::bigint[]) AS read (match_id, seq)
JOIN ledger_entry e ON e.match_id = read.match_id AND e.id <= read.seq AND e.at > $3
ORDER BY e.match_id, e.id
"""
#: A join with arrays: the entries of these markets, in the ledger's order.
LEDGER_OF_MARKETS = """
SELECT e.match_id, e.body
FROM unnest($1::uuid[], $2::int[], $3::text[]) AS wanted (match_id, type_id, specifiers)
JOIN ledger_entry e USING (match_id, type_id, specifiers)
ORDER BY e.id
"""
#: A lateral subquery: each match's rows after its last message are few, and found by an index. As a join the
#: whole change log is read.
NEWEST_OF_TENANT = f"""
SELECT m.id AS match_id, newest.seq
FROM match m CROSS JOIN LATERAL (
    SELECT max(envelope_seq) AS seq FROM change
    WHERE match_id = m.id AND seq > m.last_seq AND entity IN {TO_ONE_TENANT} AND starts_with(key, $2)
) AS newest
WHERE m.id = ANY($1) AND newest.seq IS NOT NULL
"""
#: A join and a group: for each type when the newest market was opened that can have a later result.
NEWEST_OPENED = f"""
SELECT k.type_id, max(k.first_opened_at) AS at
FROM match m JOIN market k ON k.match_id = m.id AND k.type_id = ANY($1)
WHERE m.status NOT IN {_OVER} OR m.closed_at > $2::bigint - {_ENDED_LATELY_MILLIS}
GROUP BY k.type_id
"""
_PUBLISHED_FIXTURE_CHANGES = """
    SELECT seq, match_id, number, at, envelope_seq, body FROM change
    WHERE message = 'fixture_change' AND at > $2
    UNION ALL
    SELECT seq, match_id, number, at, envelope_seq, body FROM past_fixture WHERE at > $2
"""
#: A join with the union of two tables: `PRUNE` moves rows from one to the other.
FIXTURE_CHANGES = f"""
SELECT c.number, c.at, c.envelope_seq AS seq, c.body
FROM ({_PUBLISHED_FIXTURE_CHANGES}) AS c JOIN match m ON m.id = c.match_id
WHERE {booked_by("$1")}
ORDER BY c.seq
"""
#: The same, for the newest one of each match in these states.
CHANGED_FIXTURES = f"""
SELECT c.number, max(c.at) AS at
FROM ({_PUBLISHED_FIXTURE_CHANGES}) AS c JOIN match m ON m.id = c.match_id
WHERE m.status = ANY($3) AND {booked_by("$1")}
GROUP BY c.number
ORDER BY at, c.number
"""
#: A page of a schedule: limit and offset are parameters, so that one plan serves every size of page.
SCHEDULE = f"""
SELECT m.state FROM match m
WHERE m.status = ANY($1) AND ($2::bigint IS NULL OR m.scheduled_at >= $2 AND m.scheduled_at < $3)
AND {booked_by("$4")}
ORDER BY m.scheduled_at NULLS LAST, m.number LIMIT $5 OFFSET $6
"""
#: The newest rows for each element of an array.
MAPS = f"""
SELECT {_MAP} FROM unnest($1::text[]) AS wanted (name), LATERAL (
    SELECT * FROM team_map WHERE map_name = wanted.name AND finished_at >= $2 AND finished_at < $3
    ORDER BY finished_at DESC, match_id, map LIMIT $4
) AS newest
"""
#: The newest rows for each element of an array.
MAPS_OF_PLAYERS = """
SELECT newest.* FROM unnest($1::bigint[]) AS wanted (account), LATERAL (
    SELECT match_id, account, name, map_name, finished_at, body FROM player_map
    WHERE account = wanted.account AND finished_at >= $2 AND finished_at < $3
    ORDER BY finished_at DESC, match_id, map DESC LIMIT $4
) AS newest
"""
#: A union of two tables, each read by its partial index.
STREAMED_MATCHES = f"""
SELECT id FROM match WHERE status = '{Status.LIVE}'
UNION SELECT match_id FROM market WHERE status IN {OPEN_MARKETS}
"""
#: Groups the union of two tables: `PRUNE` moves rows from one to the other.
NEWEST_SEQS = f"""
SELECT match_id, kind, key, max(seq) AS seq FROM (
    SELECT match_id, seq, CASE frame WHEN '' THEN 'match' ELSE entity END AS kind,
        CASE entity WHEN 'market' THEN key ELSE '' END AS key
    FROM change WHERE match_id = ANY($1)
        AND NOT (entity IN {WITHOUT_FRAME} AND frame = '')
    UNION ALL SELECT match_id, seq, kind, key FROM past_seq WHERE match_id = ANY($1)
) AS seen GROUP BY 1, 2, 3
"""


def newest_matches(column: str, of_each: int, *, finished_only: bool) -> str:
    """The newest rows for each element of an array."""
    status = "AND status = 'finished'" if finished_only else ""
    return f"""
    SELECT wanted.entrant, newest.* FROM unnest($1::int[]) AS wanted (entrant), LATERAL (
        SELECT id, number FROM match WHERE {column} = wanted.entrant {status}
        ORDER BY number DESC LIMIT {of_each}
    ) AS newest
    """


def entrants_named(table: str) -> str:
    """Entrants of these names: a table with a subquery of itself."""
    return f"""
    SELECT body FROM {table} AS one
    WHERE folded = ANY($1::text[]) AND (id <= {MAX_FILE_NUMBER} OR NOT EXISTS (
        SELECT FROM {table} AS other WHERE other.folded = one.folded AND other.id <= {MAX_FILE_NUMBER}
    ))
    ORDER BY id
    """


_MIN_SIMILARITY = 0.3  #: names of a lower similarity are not found
#: Another name may have the very same trigrams; only the name itself scores 1.
_SCORE = """greatest(CASE WHEN folded = $2 THEN 1.0 WHEN starts_with(folded, $2) THEN 0.9
    WHEN position($2 IN folded) > 0 THEN 0.7 ELSE 0.0 END, least(likeness, 0.99))"""
#: Names with all trigrams within the query, and names with many of its trigrams: a part of `search`.
NEAR = f"""
SELECT id, likeness FROM (
    SELECT id, count(*) FILTER (WHERE trigram = ANY($5::text[])) AS within,
        count(*)::float8 / (trigrams + cardinality($4::text[]) - count(*)) AS likeness
    FROM name_trigram WHERE entrant_table = $1 AND trigram = ANY($4::text[]) GROUP BY id, trigrams
) AS found WHERE within = cardinality($5::text[]) OR likeness >= {_MIN_SIMILARITY}
"""
#: Two letters make no trigram, but begin one wherever they occur: a part of `search`.
NEAR_SHORT = """
SELECT DISTINCT id, 0.0::float8 AS likeness FROM name_trigram
WHERE entrant_table = $1 AND trigram >= $4 AND trigram < $5
"""


def search(table: str, near: str, condition: str) -> str:
    """A join with the result of another query; `condition` is on a row called `one`."""
    return f"""
    WITH near AS ({near})
    SELECT body, {_SCORE} AS score FROM near JOIN {table} AS one USING (id)
    WHERE (likeness >= {_MIN_SIMILARITY} OR position($2 IN folded) > 0) AND {condition}
    ORDER BY score DESC, length(folded), id LIMIT $3
    """


def senders(columns: str) -> str:
    """JSON that the database makes of these columns of all senders of a match, which msgspec decodes at
    once."""
    return f"SELECT {_senders(columns)}"


def log_state(columns: str, of_senders: str) -> str:
    """What is known of a log, for every batch: three tables in one round trip, and a row even without any."""
    return f"""
    SELECT {columns}, EXISTS (SELECT FROM log_pending p WHERE p.match_id = wanted.id) AS has_pending,
        {_senders(of_senders)} AS known
    FROM (SELECT $1::uuid AS id) AS wanted LEFT JOIN log_offset s ON s.match_id = wanted.id
    """


def _senders(columns: str) -> str:
    """All senders of the match $1, as one JSON value."""
    return f"""coalesce((SELECT json_agg(t) FROM (
        SELECT {columns} FROM log_sender WHERE match_id = $1 ORDER BY first_seen, source
    ) AS t), '[]')"""

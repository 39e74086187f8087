"""Statements that write many rows at once, or a row and more with it.

Many rows are written from arrays: the text is the same for any number of rows, and as cheap to parse as for
one. Piccolo would repeat the values of each row in the text.
"""

from app.store.sql import LOSING, NOW

#: The columns that have what a match's state has, in the order of their parameters.
MATCH_COLUMNS = (
    *("id", "number", "status", "home", "away", "event", "home_id", "away_id", "tournament_id"),
    *("scheduled_at", "started_at", "finished_at", "suspended", "last_arrived_at"),
    *("best_of", "score_home", "score_away"),
)
_RATING = "points, spread, at, maps, anchored"

#: When keys were last used: all of the last seconds.
RECORD_LAST_USED = """
UPDATE api_key SET last_used_at = greatest(last_used_at, u.at)
FROM unnest($1::uuid[], $2::bigint[]) AS u (id, at) WHERE api_key.id = u.id
"""
#: The cursors of all tenants that a process publishes to, several times a second. No cursor goes back: a
#: statement whose caller has stopped waiting may be executed after a later one.
CHECKPOINT = """
UPDATE tenant_cursor c SET seq = checkpoint.seq, notice_pending = checkpoint.notice_pending
FROM unnest($2::uuid[], $3::int[], $4::bigint[], $5::bool[])
    AS checkpoint (tenant_id, epoch, seq, notice_pending)
WHERE c.tenant_id = checkpoint.tenant_id AND c.epoch = checkpoint.epoch AND c.holder = $1
    AND c.seq <= checkpoint.seq
RETURNING c.tenant_id
"""
#: What a process knows of all tenants that it publishes to.
SAVE_REPORTS = f"""
UPDATE tenant_cursor
SET state = report.state, last_alive_at = greatest(tenant_cursor.last_alive_at, {NOW} - report.silent),
    dropped = report.dropped, notified_heartbeat = report.notified_heartbeat,
    notice_pending = report.notice_pending, bound_queues = report.bound_queues,
    dropped_at = CASE WHEN report.dropped > tenant_cursor.dropped THEN {NOW}
        ELSE tenant_cursor.dropped_at END,
    dropped_before = CASE WHEN {LOSING} THEN tenant_cursor.dropped_before ELSE tenant_cursor.dropped END
FROM unnest($2::uuid[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bool[], $8::text[])
    AS report (tenant_id, state, silent, dropped, notified_heartbeat, notice_pending, bound_queues)
WHERE tenant_cursor.tenant_id = report.tenant_id AND tenant_cursor.holder = $1
RETURNING tenant_cursor.tenant_id
"""
#: The samples of all tenants of a process, of a minute or more.
SAVE_DELIVERY_MINUTES = """
INSERT INTO delivery_minute (tenant_id, minute, epoch, published, lag, dropped, notices)
SELECT * FROM unnest(
    $1::uuid[], $2::bigint[], $3::int[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[]
)
ON CONFLICT (tenant_id, minute, epoch) DO UPDATE
SET published = greatest(delivery_minute.published, excluded.published),
    lag = greatest(delivery_minute.lag, excluded.lag),
    dropped = greatest(delivery_minute.dropped, excluded.dropped),
    notices = greatest(delivery_minute.notices, excluded.notices)
"""
#: The refused recoveries of many tenants, each until a time of its own.
DELETE_REFUSED = """
DELETE FROM refused_recovery r USING unnest($1::uuid[], $2::bigint[]) AS notified (tenant_id, due_at)
WHERE r.tenant_id = notified.tenant_id AND r.due_at <= notified.due_at
"""
#: Events that ratings follow from: thousands in an import.
SAVE_RATING_EVENTS = """
INSERT INTO rating_event (reference, at, series, team_a, team_b, body)
SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::int[], $5::int[], $6::json[])
ON CONFLICT (reference) DO UPDATE
SET at = excluded.at, series = excluded.series, team_a = excluded.team_a,
    team_b = excluded.team_b, body = excluded.body, outcome = NULL
"""
#: What those events made of ratings.
SAVE_OUTCOMES = """
UPDATE rating_event SET outcome = found.outcome
FROM unnest($1::text[], $2::json[]) AS found (reference, outcome)
WHERE rating_event.reference = found.reference
"""
#: The ratings of all teams of an import.
SAVE_RATINGS = f"""
INSERT INTO team_rating (team_id, {_RATING}, stands, version)
SELECT *, true, nextval('rating_version')
FROM unnest($1::int[], $2::float8[], $3::float8[], $4::bigint[], $5::int[], $6::boolean[])
ON CONFLICT (team_id) DO UPDATE
SET points = excluded.points, spread = excluded.spread, at = excluded.at, maps = excluded.maps,
    anchored = excluded.anchored, stands = true, version = excluded.version
"""
#: Reference prices of many matches; how many of them were not known.
ADD_REFERENCE_PRICES = """
WITH added AS (
    INSERT INTO reference_price (match_id, source, type_id, specifiers, at, odds, received_at, received_by)
    SELECT *, $7, $8
    FROM unnest($1::uuid[], $2::text[], $3::int[], $4::text[], $5::bigint[], $6::float8[])
    ON CONFLICT DO NOTHING RETURNING match_id
)
SELECT match_id, count(*) AS prices FROM added GROUP BY match_id
"""
#: Our prices of markets that have a reference price; the later of two of one moment stands.
RECORD_PREMATCH_PRICES = """
INSERT INTO prematch_price (match_id, type_id, specifiers, at, probability, own, odds)
SELECT $1, ours.type_id, ours.specifiers, $2, ours.probability, ours.own, ours.odds
FROM unnest($3::int[], $4::text[], $5::float8[], $6::float8[], $7::float8[])
    AS ours (type_id, specifiers, probability, own, odds)
WHERE EXISTS (
    SELECT FROM reference_price r
    WHERE r.match_id = $1 AND r.type_id = ours.type_id AND r.specifiers = ours.specifiers
)
ON CONFLICT (match_id, type_id, specifiers, at) DO UPDATE
SET probability = excluded.probability, own = excluded.own, odds = excluded.odds
"""
#: Locks rows in the order of their numbers before it updates them: two imports cannot deadlock.
REFERENCES_DUE = """
WITH locked AS (
    SELECT id FROM match WHERE id = ANY($1) AND status IN ('discovered', 'upcoming')
    ORDER BY number FOR UPDATE
)
UPDATE match SET references_due_at = $2 FROM locked WHERE match.id = locked.id
"""
#: The players of a finished match, on each of its maps.
ADD_PLAYER_MAPS = """
INSERT INTO player_map (match_id, finished_at, map, account, name, team, map_name, body)
SELECT $1, $2, * FROM unnest($3::smallint[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::json[])
"""
_MATCH = (*MATCH_COLUMNS, "map_name", "state", "reference_state")
_VALUES = ", ".join(f"${at}" for at, _ in enumerate(_MATCH, 1))
_CHANGES = ", ".join(f"{name} = ${at}" for at, name in enumerate(_MATCH, 1) if name != "id")
#: Inserts a match and notifies the caches on channel $23. With two statements it would be two round trips.
INSERT_MATCH = f"""
WITH made AS (
    INSERT INTO match ({", ".join(_MATCH)}, last_stamp, last_seq) VALUES ({_VALUES}, $21, $22) RETURNING id
)
SELECT pg_notify($23, $24) FROM made
"""
#: Writes a match and notifies the caches on channel $22, for every log batch: Piccolo returns columns only,
#: not what a function returns, so it would be two statements.
SAVE_MATCH = f"""
UPDATE match SET {_CHANGES}, reprice_at = $21 WHERE id = $1 RETURNING pg_notify($22, $23)
"""
#: The conflict is on an expression and a partial index, which Piccolo cannot name, and `xmax` says whether
#: the row is new.
BEGIN_ALERT = """
INSERT INTO alert (kind, match_id, tenant, subject, detail, since) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (kind, coalesce(match_id, '00000000-0000-0000-0000-000000000000'), tenant, subject)
    WHERE ended_at IS NULL
DO UPDATE SET detail = excluded.detail
RETURNING xmax = 0
"""
#: Merges two JSON objects, of which the stored one takes precedence: a price that was made again stays.
ADD_REMADE_PRICE = """
UPDATE combination SET remade = ($2::jsonb || coalesce(remade, '{}')::jsonb)::json WHERE id = $1
"""
#: The delays that a process has counted on each day. A statement whose caller has stopped waiting may be
#: executed after a later one, which had counted more.
SAVE_DELAY_COUNTS = """
INSERT INTO delay_count (day, process, figure, total, counts)
SELECT counted.day, $1, counted.figure, counted.total, counted.counts
FROM unnest($2::text[], $3::text[], $4::bigint[], $5::json[]) AS counted (day, figure, total, counts)
ON CONFLICT (day, process, figure) DO UPDATE SET total = excluded.total, counts = excluded.counts
WHERE excluded.total >= delay_count.total
"""
#: That the status was observed at `$1` (Unix ms); when that was for the first time.
OBSERVE_STATUS = """
INSERT INTO status_observation (id, first_at, at) VALUES (1, $1, $1)
ON CONFLICT (id) DO UPDATE SET at = greatest(status_observation.at, excluded.at)
RETURNING first_at
"""

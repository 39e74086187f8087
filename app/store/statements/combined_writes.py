"""Statements that write a row and do more with it, in one round trip."""

#: Inserts a match and notifies the caches on channel $23. With two statements it would be two round trips.
INSERT_MATCH = """
WITH made AS (
    INSERT INTO match (id, number, status, home, away, event, home_id, away_id, tournament_id,
        scheduled_at, started_at, finished_at, suspended, last_arrived_at, best_of, score_home, score_away,
        map_name, state, last_stamp, last_seq)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $21,
        $22)
    RETURNING id
)
SELECT pg_notify($23, $20) FROM made
"""
#: Writes a match and notifies the caches on channel $22, for every log batch: Piccolo returns columns only,
#: not what a function returns, so it would be two statements.
SAVE_MATCH = """
UPDATE match SET number = $2, status = $3, home = $4, away = $5, event = $6, home_id = $7,
    away_id = $8, tournament_id = $9, scheduled_at = $10, started_at = $11, finished_at = $12,
    suspended = $13, last_arrived_at = $14, best_of = $15, score_home = $16, score_away = $17,
    map_name = $18, state = $19, reprice_at = $21
WHERE id = $1
RETURNING pg_notify($22, $20)
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

"""Statements by which one of several processes acquires something: leases, jobs, timestamps."""

from app.domain.recovery import IMPLICIT_SLOT, MAX_ATTEMPTS, SLOT_MILLIS, RecoveryState
from app.store.sql import NO_SLOT, NOW

_SLOW_MILLIS = 60_000  #: the pause before each further run: earlier ones may have crashed the process
_OPEN = f"state IN ('{RecoveryState.SCHEDULED}', '{RecoveryState.RUNNING}')"

#: Inserts what it selects, in an order: two processes that insert the same rows in different orders would
#: deadlock.
CREATE_CURSORS = f"""
INSERT INTO tenant_cursor (tenant_id, seq, last_alive_at)
SELECT t.id, (SELECT coalesce(max(seq), 0) FROM change), {NOW} FROM tenant t
WHERE t.amqp AND t.active AND NOT EXISTS (SELECT FROM tenant_cursor c WHERE c.tenant_id = t.id)
ORDER BY t.id
ON CONFLICT (tenant_id) DO NOTHING
"""
#: Selects rows that no other transaction has locked, and updates them; returns what they held before. A
#: holder whose lease expired remains a former one until a later one has expelled it from the broker: the next
#: one may crash before that.
ACQUIRE_LEASES = f"""
WITH free AS (
    SELECT c.tenant_id, c.holder, c.expires_at, t.slug,
        coalesce(nullif(t.named_vhost, ''), t.slug) AS vhost
    FROM tenant_cursor c JOIN tenant t ON t.id = c.tenant_id AND t.amqp AND t.active
    WHERE c.holder IS NULL OR c.expires_at < {NOW}
    ORDER BY c.expires_at, t.slug LIMIT $2
    FOR UPDATE OF c SKIP LOCKED
)
UPDATE tenant_cursor c SET holder = $1, epoch = c.epoch + 1, expires_at = {NOW} + $3,
    former_holders = array_remove(array_remove(c.former_holders || free.holder, NULL), $1)
FROM free WHERE c.tenant_id = free.tenant_id
RETURNING c.tenant_id, free.slug, free.vhost, c.seq, c.epoch, c.former_holders,
    CASE WHEN c.epoch > 1 THEN greatest(0, {NOW} - c.last_alive_at) ELSE 0 END AS silent, c.dropped,
    c.notified_heartbeat, c.notice_pending, c.bound_queues
"""


def _node(job: str) -> str:
    """The node whose slot a full job needs; `job` is an alias of the table of jobs, here and below."""
    return f"coalesce({job}.node_id, '{IMPLICIT_SLOT}')"


def _wants_slot(job: str) -> str:
    """Whether it is a full job that has never had a slot."""
    return f"({job}.of_match IS NULL AND {job}.token = {NO_SLOT})"


#: The columns of a job that are read by their names, beside `scheduled_at AS accepted_at`.
JOB_COLUMNS = (
    *("id", "tenant_id", "kind", "request_id", "after", "node_id", "of_match", "token", "state"),
    *("started_at", "finished_at", "attempts", "steps", "steps_done", "envelopes", "error"),
)
_JOB = ", ".join(f"j.{name}" for name in JOB_COLUMNS)
#: The next job, with its slot if it has waited for one: a slot that another transaction acquires meanwhile
#: leaves the job where it is. Selects with SKIP LOCKED, inserts and updates in one statement, on jobs beside
#: other jobs of the same table.
CLAIM_JOB = f"""
WITH next AS (
    SELECT w.id, w.tenant_id, {_node("w")} AS node, {_wants_slot("w")} AS wants_slot FROM recovery_job w
    JOIN tenant_cursor c ON c.tenant_id = w.tenant_id AND c.holder = $1 AND c.expires_at >= {NOW}
    WHERE w.{_OPEN} AND w.due_at <= {NOW} AND w.tenant_id = ANY ($3::uuid[]) AND w.id <> ALL ($4::bigint[])
        AND NOT EXISTS (
            SELECT FROM recovery_job e
            WHERE e.tenant_id = w.tenant_id AND e.{_OPEN} AND e.id < w.id AND (
                (w.of_match IS NOT NULL AND e.of_match IS NOT NULL)
                OR ({_wants_slot("w")} AND {_wants_slot("e")} AND {_node("e")} = {_node("w")})
            )
        )
        AND NOT ({_wants_slot("w")} AND EXISTS (
            SELECT FROM recovery_slot s
            WHERE s.tenant_id = w.tenant_id AND s.node = {_node("w")} AND s.expires_at > {NOW}
        ))
    ORDER BY w.id LIMIT 1 FOR UPDATE OF w SKIP LOCKED
), acquired AS (
    INSERT INTO recovery_slot AS slot (tenant_id, node, token, expires_at)
    SELECT tenant_id, node, 1, {NOW} + {SLOT_MILLIS} FROM next WHERE wants_slot
    ON CONFLICT (tenant_id, node) DO UPDATE SET token = slot.token + 1, expires_at = excluded.expires_at
    WHERE slot.expires_at <= {NOW}
    RETURNING token
)
UPDATE recovery_job j SET state = '{RecoveryState.RUNNING}', holder = $1, attempts = attempts + 1,
    due_at = CASE WHEN attempts < {MAX_ATTEMPTS} THEN due_at ELSE {NOW} + {_SLOW_MILLIS} END,
    started_at = coalesce(started_at, $2), steps = 0, steps_done = 0, envelopes = 0,
    token = coalesce((SELECT token FROM acquired), j.token)
FROM next
WHERE j.id = next.id AND (NOT next.wants_slot OR EXISTS (SELECT FROM acquired))
RETURNING {_JOB}, j.scheduled_at AS accepted_at
"""
#: The holder of the slot $2, else the first job that waits for it; $3 jobs wait. Joins on an expression of
#: two tables and orders by columns of both.
JOB_IN_FLIGHT = f"""
SELECT j.request_id, j.kind, j.after, j.scheduled_at AS accepted_at,
    greatest(0, coalesce(s.expires_at, 0) - {NOW}) + $3::bigint * {SLOT_MILLIS} AS remaining,
    j.steps > 0 AND j.steps_done >= j.steps - 1 AS ending
FROM recovery_job j
LEFT JOIN recovery_slot s
    ON s.tenant_id = j.tenant_id AND s.node = {_node("j")} AND s.token = j.token
WHERE j.tenant_id = $1 AND {_node("j")} = $2
    AND (s.token IS NOT NULL OR ({_wants_slot("j")} AND j.{_OPEN}))
ORDER BY coalesce(s.expires_at, 1) DESC, j.id LIMIT 1
"""
#: The columns of a replay that are read by their names.
REPLAY_COLUMNS = (
    *("id", "tenant_id", "node", "match_ids", "options", "state", "scheduled_at", "started_at"),
    *("finished_at", "attempts", "positions", "envelopes", "error"),
)
#: The next replay: as `CLAIM_JOB`, without slots. Selects with SKIP LOCKED and updates in one statement.
CLAIM_REPLAY = f"""
WITH next AS (
    SELECT w.id FROM replay_job w
    JOIN tenant_cursor c ON c.tenant_id = w.tenant_id AND c.holder = $1 AND c.expires_at >= {NOW}
    WHERE w.{_OPEN} AND w.due_at <= {NOW} AND w.tenant_id = ANY ($3::uuid[]) AND w.id <> ALL ($4::bigint[])
    ORDER BY w.id LIMIT 1 FOR UPDATE OF w SKIP LOCKED
)
UPDATE replay_job j SET state = '{RecoveryState.RUNNING}', holder = $1, attempts = attempts + 1,
    due_at = CASE WHEN attempts < {MAX_ATTEMPTS} THEN due_at ELSE {NOW} + {_SLOW_MILLIS} END,
    started_at = coalesce(started_at, $2)
FROM next WHERE j.id = next.id
RETURNING {", ".join(f"j.{name}" for name in REPLAY_COLUMNS)}
"""
#: Locks rows in the order of their numbers before it updates them: two recoveries cannot deadlock.
ASSIGN_TIMESTAMPS = """
WITH locked AS (SELECT id FROM match WHERE id = ANY($1) ORDER BY number FOR UPDATE)
UPDATE match m SET last_stamp = greatest($2::bigint, m.last_stamp + 1) FROM locked WHERE m.id = locked.id
RETURNING m.id, m.number, m.status, m.state, m.last_stamp, m.last_seq
"""

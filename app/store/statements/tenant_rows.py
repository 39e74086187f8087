"""Statements that write rows for one tenant alone, which are run one after the other in one transaction.

What happens for a tenant has a place in the change log, and what the tenant learns of it is read at exactly
that place. So it waits for the log's lock by itself; `APPEND`, which assigns numbers to the changes of one
match, takes the lock in its own statement.
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

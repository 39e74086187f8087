"""Statements about a database that was restored from a backup."""

from app.store.sql import NOW

#: PostgreSQL's own view.
SESSIONS = """
SELECT pid, coalesce(host(client_addr), 'this machine') AS address FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = $1
ORDER BY pid
"""
#: Sequences, and the greatest of several tables.
KNOWN = f"""
SELECT pg_is_in_recovery() AS standby, {NOW} AS clock, head, numbers.match_number,
    greatest(head, (SELECT last_value FROM change_seq)) AS seq,
    (SELECT coalesce(max(last_stamp), 0) FROM match) AS newest_at
FROM (
    SELECT greatest((SELECT max(seq) FROM change), (SELECT max(id) FROM ledger_entry),
        (SELECT max(last_seq) FROM match), (SELECT max(seq) FROM tenant_cursor), 0) AS head,
        greatest((SELECT last_value FROM match_number), (SELECT max(number) FROM match)) AS match_number
) AS numbers
"""
#: Sequences.
SET_NUMBERS = """
SELECT setval('change_seq', $1), setval('match_number', $2),
    setval(pg_get_serial_sequence('recovery_job', 'id'), $1),
    setval(pg_get_serial_sequence('alert', 'id'), $1), setval(pg_get_serial_sequence('audit', 'id'), $1)
"""
_ENVELOPES = """(
    SELECT match_id, envelope_seq, prev_seq, at, lag(envelope_seq) OVER own AS before_seq,
        lag(at) OVER own AS before_at
    FROM change WHERE message <> '' AND seq = envelope_seq
    WINDOW own AS (PARTITION BY match_id ORDER BY envelope_seq)
)"""
_COUNTS = {
    "ledger entries that are not in the change log": """
SELECT count(*) FROM ledger_entry e WHERE e.id >= (SELECT min(seq) FROM change)
    AND NOT EXISTS (SELECT FROM change c WHERE c.seq = e.id AND c.match_id = e.match_id)
""",
    "settlements in the change log that are not in the ledger": """
SELECT count(*) FROM change c WHERE c.entity = 'settlement'
    AND NOT EXISTS (SELECT FROM ledger_entry e WHERE e.id = c.seq AND e.match_id = c.match_id)
""",
    "ledger entries without a market": """
SELECT count(*) FROM ledger_entry e WHERE NOT EXISTS (
    SELECT FROM market k
    WHERE k.match_id = e.match_id AND k.type_id = e.type_id AND k.specifiers = e.specifiers
)
""",
    "rows of matches that do not exist": """
SELECT count(*) FROM (
    SELECT match_id FROM ledger_entry UNION SELECT match_id FROM market UNION SELECT match_id FROM round
    UNION SELECT match_id FROM timeline_event UNION SELECT match_id FROM change WHERE message <> ''
) AS named WHERE NOT EXISTS (SELECT FROM match m WHERE m.id = named.match_id)
""",
    "changes whose envelope is incomplete": """
SELECT count(*) FROM change c WHERE c.message <> '' AND NOT EXISTS (
    SELECT FROM change l
    WHERE l.seq = c.envelope_seq AND l.match_id = c.match_id AND l.message = c.message AND l.at = c.at
)
""",
    "envelopes that do not follow the one before them": f"""
SELECT count(*) FROM {_ENVELOPES} AS envelope WHERE prev_seq <> before_seq OR at <= before_at
""",
    "matches older than their last envelope": """
SELECT count(*) FROM match m JOIN (
    SELECT match_id, max(envelope_seq) AS seq, max(at) AS at FROM change WHERE message <> '' GROUP BY 1
) AS newest ON newest.match_id = m.id
WHERE m.last_seq < newest.seq OR m.last_stamp < newest.at
""",
}

#: What `contradictions` counts.
CONTRADICTIONS = tuple(_COUNTS)


def contradictions(what: str) -> str:
    """A count of the contradictions in ledger and change log: anti-joins of two tables, windows."""
    return _COUNTS[what]

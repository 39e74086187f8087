"""Statements that concern no table of ours: notifications, locks, the sequence, the clock."""

from app.store.sql import NOW

#: A function without a table, as all below.
CHECK = "SELECT 1"
#: PostgreSQL's own function.
NOTIFY = "SELECT pg_notify($1, $2)"
#: One notification for each element of an array.
NOTIFY_ALL = "SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload"
#: PostgreSQL's own function: true when the lock was free.
TRY_LOCK = "SELECT pg_try_advisory_xact_lock($1)"
#: PostgreSQL's own function, which waits for the lock.
LOCK = "SELECT pg_advisory_xact_lock($1)"
#: PostgreSQL's own, as the two below: one savepoint at a time.
SAVEPOINT = "SAVEPOINT one"
#: As above.
ROLLBACK_TO_SAVEPOINT = "ROLLBACK TO SAVEPOINT one"
#: As above.
RELEASE_SAVEPOINT = "RELEASE SAVEPOINT one"
#: PostgreSQL's own view. A session is `active` from a statement's first message to the end of its result.
WAIT_FOR_CLIENT = """
SELECT pid, state_change AS since, wait_event AS event, coalesce(host(client_addr), 'this machine') AS address
FROM pg_stat_activity
WHERE datname = current_database() AND usename = current_user AND application_name = $1
    AND state = 'active' AND wait_event IN ('ClientRead', 'ClientWrite')
"""
#: PostgreSQL's own function and view; a session that has gone on meanwhile is not ended.
END = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND state_change = $2"
#: A sequence without a table.
NEXT_MATCH_NUMBER = "SELECT nextval('match_number')"
#: The database's clock without a table.
IS_AHEAD = f"SELECT $1::bigint > {NOW}"


def listening(channel: str) -> str:
    """PostgreSQL's own function. It names the channel in pg_stat_activity, too."""
    return f"SELECT pg_listening_channels() -- {channel}"


def lock_table(table: str) -> str:
    """Piccolo builds no LOCK TABLE."""
    return f"LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE"

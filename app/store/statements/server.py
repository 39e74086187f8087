"""Statements that concern PostgreSQL itself: notifications, locks, sessions, sequences, the clock, the
server's state and timeline. Its own functions and views have no class in Piccolo."""

from app.store.sql import NOW

#: A function without a table.
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
END_SESSION = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND state_change = $2"
#: A sequence without a table.
NEXT_MATCH_NUMBER = "SELECT nextval('match_number')"
#: The database's clock without a table.
IS_AHEAD = f"SELECT $1::bigint > {NOW}"
#: PostgreSQL's own view.
UNANALYZED = """
SELECT relname AS name, n_mod_since_analyze AS changed
FROM pg_stat_user_tables WHERE n_mod_since_analyze > greatest($1::bigint, n_live_tup / 2) ORDER BY relname
"""
#: PostgreSQL's own functions and views.
STATE = f"""
SELECT current_setting('server_version') AS version, {NOW} AS now, pg_is_in_recovery() AS standby,
    (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')::int AS connections,
    current_setting('max_connections')::int AS max_connections, pg_database_size(current_database()) AS size
"""
#: PostgreSQL's own view.
ARCHIVING = """
SELECT current_setting('archive_mode') <> 'off' AS on,
    coalesce(extract(epoch FROM last_archived_time) * 1000, 0)::bigint AS archived_at,
    coalesce(extract(epoch FROM last_failed_time) * 1000, 0)::bigint AS failed_at
FROM pg_stat_archiver
"""
#: Two rows of one table, each found by the primary key.
LOG_EXTENT = """
SELECT coalesce((SELECT at FROM change ORDER BY seq LIMIT 1), 0) AS oldest,
    coalesce((SELECT at FROM change ORDER BY seq DESC LIMIT 1), 0) AS newest
"""
#: Piccolo's own table, which is missing in a database that was never migrated.
HAS_MIGRATIONS = "SELECT to_regclass('migration') IS NOT NULL"
#: As above.
MIGRATIONS = "SELECT name FROM migration WHERE app_name = 'matchfeed'"
#: PostgreSQL's own functions and a sequence: a timeline has eight hexadecimal digits in the name of a WAL
#: file. Compared with a row that is missing in a database on which no process has worked yet.
TIMELINE = """
SELECT CASE WHEN pg_is_in_recovery() THEN 0
        ELSE ('x' || lpad(left(pg_walfile_name(pg_current_wal_lsn()), 8), 16, '0'))::bit(64)::bigint
    END AS present,
    stored.timeline AS stored, coalesce(stored.mark, 0) AS mark,
    (SELECT last_value FROM change_seq) AS last_seq
FROM (SELECT 1) AS one LEFT JOIN database_timeline AS stored ON stored.id = 1
"""
#: PostgreSQL's own function and view, for all sessions of a name but this one.
END_SESSIONS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = $1
"""


def listening(channel: str) -> str:
    """PostgreSQL's own function. It names the channel in pg_stat_activity, too."""
    return f"SELECT pg_listening_channels() -- {channel}"


def lock_table(table: str) -> str:
    """Piccolo builds no LOCK TABLE."""
    return f"LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE"

"""Statements about PostgreSQL itself, and about the change log's extent."""

from app.store.sql import NOW

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

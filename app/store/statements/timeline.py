"""Statements about the timeline of the PostgreSQL server."""

#: PostgreSQL's own functions and a sequence: a timeline has eight hexadecimal digits in the name of a WAL
#: file. Compared with a row that is missing in a database on which no process has worked yet.
READ = """
SELECT CASE WHEN pg_is_in_recovery() THEN 0
        ELSE ('x' || lpad(left(pg_walfile_name(pg_current_wal_lsn()), 8), 16, '0'))::bit(64)::bigint
    END AS present,
    stored.timeline AS stored, coalesce(stored.mark, 0) AS mark,
    (SELECT last_value FROM change_seq) AS last_seq
FROM (SELECT 1) AS one LEFT JOIN database_timeline AS stored ON stored.id = 1
"""

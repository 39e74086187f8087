"""Statements whose effect lasts as long as their session: for a connection of their own (`Store.dedicated`),
never for one of the pool."""

#: PostgreSQL's own function: true when the lock was free.
TRY_LOCK = "SELECT pg_try_advisory_lock($1)"

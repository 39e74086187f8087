"""Piccolo's engine, as far as a table class needs one: for PostgreSQL's dialect of SQL."""

from piccolo.engine.postgres import PostgresEngine

_OLDEST = 15.0


class Dialect(PostgresEngine):
    """A PostgreSQL engine that connects only when a query runs on it, not when it is made."""

    async def get_version(self) -> float:
        return _OLDEST

    async def prep_database(self) -> None:
        """No extension is needed."""


DIALECT = Dialect(config={})

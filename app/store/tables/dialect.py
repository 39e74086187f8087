"""What Piccolo lacks for our table classes: an engine that does not connect, and kinds of columns."""

from typing import Any

from piccolo.columns import BigSerial, Column
from piccolo.engine.postgres import PostgresEngine

_OLDEST = 15.0


class Dialect(PostgresEngine):
    """A PostgreSQL engine that connects only when a query runs on it, not when it is made."""

    async def get_version(self) -> float:
        return _OLDEST

    async def prep_database(self) -> None:
        """No extension is needed."""


DIALECT = Dialect(config={})


class Json(Column):
    """A `json` value as the bytes of its text. Piccolo's own column would encode bytes once more."""

    value_type = bytes

    def __init__(self, default: bytes | None = b"{}", **kwargs: Any) -> None:
        self.default = default
        super().__init__(default=default, **kwargs)

    @property
    def column_type(self) -> str:
        return "JSON"


class Computed(BigSerial):
    """A `bigint` that the database numbers or computes (`GENERATED ALWAYS`): inserts leave it alone."""

    @property
    def column_type(self) -> str:
        return "BIGINT"


class ComputedBoolean(Computed):
    """A `boolean` that the database computes."""

    @property
    def column_type(self) -> str:
        return "BOOLEAN"

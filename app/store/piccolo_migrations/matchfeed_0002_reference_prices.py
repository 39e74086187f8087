"""Reference prices of the market, our own prices at the same time, and what matches have of them."""

from typing import Any

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import UUID, BigInt, Column, DoublePrecision, Integer, Text

from app.store.tables.dialect import Json

ID = "2031-02-01T00:00:02:000000"
VERSION = "1.38.0"
DESCRIPTION = "reference prices of the market"

# The default None is that of a column without one. The next migration completes the keys: Piccolo makes none
# of several columns.
_TABLES: dict[str, dict[str, Column]] = {
    "reference_price": {
        "match_id": UUID(primary_key=True, default=None),
        "source": Text(default=None),
        "type_id": Integer(default=None),
        "specifiers": Text(default=None),
        "at": BigInt(default=None),
        "odds": DoublePrecision(default=None),
        "received_at": BigInt(default=None),
        "received_by": Text(default=None),
    },
    "prematch_price": {
        "match_id": UUID(primary_key=True, default=None),
        "type_id": Integer(default=None),
        "specifiers": Text(default=None),
        "at": BigInt(default=None),
        "probability": DoublePrecision(default=None),
        "own": DoublePrecision(null=True, default=None),
        "odds": DoublePrecision(null=True, default=None),
    },
}
# A process of version 0.2.0 writes a match's `state` without fields that it does not know, and leaves these
# alone.
_OF_MATCHES: dict[str, Column] = {
    "reference_state": Json(null=True, default=None),
    "references_due_at": BigInt(null=True, default=None),
}


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    for table in _TABLES:
        manager.add_table(class_name=table, tablename=table)
    for table, columns in (_TABLES | {"match": _OF_MATCHES}).items():
        for name, column in columns.items():
            manager.add_column(
                table_class_name=table,
                tablename=table,
                column_name=name,
                column_class=type(column),
                params=_params(column),
            )
    return manager


def _params(column: Column) -> dict[str, Any]:
    if isinstance(column, Json):
        return {"default": column.default, "null": True, "db_column_name": None}
    return column._meta.params

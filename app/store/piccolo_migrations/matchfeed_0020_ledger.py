"""The signed ledger: leaves, heads, keys, and how far it has come."""

from typing import Any

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import BigInt, Boolean, Bytea, Column, Integer, SmallInt, Text

from app.store.tables.dialect import Json

ID = "2031-02-01T00:00:20:000000"
VERSION = "1.38.0"
DESCRIPTION = "the signed ledger"

# The default None is that of a column without one. The next migration makes the indices and the only state.
_TABLES: dict[str, dict[str, Column]] = {
    "ledger_leaf": {
        "entry_id": BigInt(primary_key=True, default=None),
        "day": Text(default=None),
        "index": Integer(default=None),
        "hash": Bytea(default=None),
        "salt": Bytea(default=None),
        "price_salt": Bytea(default=None),
        "price_count": Integer(default=None),
        "price_first_seq": BigInt(default=None),
        "price_digest": Bytea(default=None),
    },
    "ledger_head": {
        "number": BigInt(primary_key=True, default=None),
        "body": Bytea(default=None),
        "signatures": Json(default=None),
    },
    "ledger_key": {
        "id": Text(primary_key=True, default=None),
        "public_key": Bytea(default=None),
        "private_key": Bytea(null=True, default=None),
        "created_at": BigInt(default=None),
        "retired_at": BigInt(null=True, default=None),
    },
    "ledger_state": {
        "id": SmallInt(primary_key=True, default=None),
        "entry_id": BigInt(default=None),
        "restored": Boolean(default=False),
    },
}


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    for table, columns in _TABLES.items():
        manager.add_table(class_name=table, tablename=table)
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
        return {"default": column.default, "null": column._meta.null, "db_column_name": None}
    return column._meta.params

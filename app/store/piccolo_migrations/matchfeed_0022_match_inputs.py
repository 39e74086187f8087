"""What the transactions on matches were given, and the versions of the coefficients."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import UUID, BigInt, Bytea, Column, Text

ID = "2031-02-01T00:00:22:000000"
VERSION = "1.38.0"
DESCRIPTION = "inputs of matches"

# The default None is that of a column without one. The next migration completes keys.
_TABLES: dict[str, dict[str, Column]] = {
    "match_input": {
        "match_id": UUID(primary_key=True, default=None),
        "id": BigInt(default=None),
        "body": Bytea(default=None),
    },
    "coefficients": {
        "sha256": Text(primary_key=True, default=None),
        "at": BigInt(default=None),
        "body": Bytea(default=None),
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
                params=column._meta.params,
            )
    return manager

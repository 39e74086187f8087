"""Which log of its sender is read: when it began, its first line, whether there was one before."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import BigInt, Boolean, Column, Text

ID = "2031-01-01T00:06:50:000000"
VERSION = "1.38.0"
DESCRIPTION = "the log of a sender that is read"

COLUMNS: dict[str, Column] = {
    "log_began": BigInt(default=0),
    "first_line": Text(default=""),
    "another_log": Boolean(default=False),
}


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    for name, column in COLUMNS.items():
        manager.add_column(
            table_class_name="LogOffset",
            tablename="log_source",
            column_name=name,
            column_class=type(column),
            params=column._meta.params,
        )
    return manager

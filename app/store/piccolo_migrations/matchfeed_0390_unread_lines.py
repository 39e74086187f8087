"""The lines about play that could not be parsed, per sender of a match's log."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import BigInt, Column, Text

ID = "2031-01-01T00:06:30:000000"
VERSION = "1.38.0"
DESCRIPTION = "unread lines of a match's log"

COLUMNS: dict[str, Column] = {"unread_lines": BigInt(default=0), "unread_line": Text(default="")}


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    for name, column in COLUMNS.items():
        manager.add_column(
            table_class_name="LogSender",
            tablename="match_source",
            column_name=name,
            column_class=type(column),
            params=column._meta.params,
        )
    return manager

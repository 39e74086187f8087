"""Who has seen an alert, who has taken it, and who ended it; null: nobody."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import BigInt, Column, Text

ID = "2031-01-01T00:05:10:000000"
VERSION = "1.38.0"
DESCRIPTION = "who has seen, taken and ended an alert"

COLUMNS: dict[str, Column] = {
    "seen_at": BigInt(null=True, default=None),
    "seen_by": Text(null=True, default=None),
    "taken_at": BigInt(null=True, default=None),
    "taken_by": Text(null=True, default=None),
    "ended_by": Text(null=True, default=None),
}


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    for name, column in COLUMNS.items():
        manager.add_column(
            table_class_name="alert",
            tablename="alert",
            column_name=name,
            column_class=type(column),
            params=column._meta.params,
        )
    return manager

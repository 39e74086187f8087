"""On which timeline of the PostgreSQL server the service works."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import BigInt, Column, Integer

ID = "2031-01-01T00:05:40:000000"
VERSION = "1.38.0"
DESCRIPTION = "the timeline of the server that the service works on"

COLUMNS: dict[str, Column] = {
    "id": Integer(primary_key=True, default=None),
    "timeline": BigInt(default=None),
    "mark": BigInt(default=0),
    "at": BigInt(default=0),
    "head": BigInt(default=0),
    "head_at": BigInt(default=0),
    "known_seq": BigInt(default=0),
    "known_at": BigInt(default=0),
}


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_table(class_name="DatabaseTimeline", tablename="database_timeline")
    for name, column in COLUMNS.items():
        manager.add_column(
            table_class_name="DatabaseTimeline",
            tablename="database_timeline",
            column_name=name,
            column_class=type(column),
            params=column._meta.params,
        )
    return manager

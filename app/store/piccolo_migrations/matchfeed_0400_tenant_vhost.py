"""A tenant's number of queues, and a name of its vhost other than its slug."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import Column, Integer, Text

ID = "2031-01-01T00:06:40:000000"
VERSION = "1.38.0"
DESCRIPTION = "queues and vhost names of tenants"

COLUMNS: dict[str, Column] = {"max_queues": Integer(default=10), "named_vhost": Text(default="")}


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    for name, column in COLUMNS.items():
        manager.add_column(
            table_class_name="Tenant",
            tablename="tenant",
            column_name=name,
            column_class=type(column),
            params=column._meta.params,
        )
    return manager

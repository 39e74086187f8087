"""The history of a tenant's recoveries, newest first."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:04:00:000000"
VERSION = "1.38.0"
DESCRIPTION = "the history of a tenant's recoveries"


async def _create() -> None:
    await DB.run_ddl("CREATE INDEX recovery_job_tenant ON recovery_job (tenant_id, id)")


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_create)
    return manager

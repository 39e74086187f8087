"""Which processes read what this version writes and the versions before do not."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import SmallInt

from app.store import migration_steps

ID = "2031-02-01T00:00:28:000000"
VERSION = "1.38.0"
DESCRIPTION = "the compatibility level of each process"


async def forwards() -> MigrationManager:
    columns = {"worker_beat": {"compatibility": SmallInt(default=0)}}
    return migration_steps.add(ID, DESCRIPTION, columns=columns)

"""Which match an operator's browser has open, for the others at the console."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import UUID, BigInt

from app.store import migration_steps

ID = "2031-02-01T00:00:06:000000"
VERSION = "1.38.0"
DESCRIPTION = "the match that an operator watches"

_OF_SESSIONS = {
    "watched_match": UUID(null=True, default=None),
    "watched_at": BigInt(null=True, default=None),
}


async def forwards() -> MigrationManager:
    return migration_steps.add(ID, DESCRIPTION, columns={"portal_session": _OF_SESSIONS})

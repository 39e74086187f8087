"""Requests for consent are numbered by the database, and found by match, by their sender's id, while they
wait."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:05:12:000000"
VERSION = "1.38.0"
DESCRIPTION = "the number and the indexes of requests for consent"

STATEMENTS = (
    "ALTER TABLE consent_request ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY",
    "CREATE INDEX consent_request_match ON consent_request (match_id, id)",
    "CREATE INDEX consent_request_reference ON consent_request (person, reference)",
    "CREATE INDEX consent_request_waiting ON consent_request (expires_at) WHERE outcome IS NULL",
)


async def _complete() -> None:
    for statement in STATEMENTS:
        await DB.run_ddl(statement)


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_complete)
    return manager

"""What operators have commanded, so that a command that is sent twice is done once."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:00:20:000000"
VERSION = "1.38.0"
DESCRIPTION = "operator commands by the operator's own id, audit by subject"

STATEMENTS = (
    """
    CREATE TABLE operator_command (
        actor text NOT NULL,
        reference text NOT NULL,
        match_id uuid NOT NULL,
        at bigint NOT NULL,
        asked json NOT NULL,
        PRIMARY KEY (actor, reference)
    )
    """,
    "CREATE INDEX operator_command_match ON operator_command (match_id)",
    "CREATE INDEX audit_subject ON audit (subject, id)",
)


async def _create() -> None:
    for statement in STATEMENTS:
        await DB.run_ddl(statement)


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_create)
    return manager

"""What Piccolo cannot express of the table of the migration before: a reference, and indices of several
columns and of a part of the rows."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store import migration_steps

ID = "2031-02-01T00:00:25:000000"
VERSION = "1.38.0"
DESCRIPTION = "the keys of claims"

STATEMENTS = (
    """
    ALTER TABLE claim
        ADD FOREIGN KEY (tenant_id) REFERENCES tenant (id) ON UPDATE CASCADE ON DELETE CASCADE
    """,
    "CREATE INDEX claim_tenant ON claim (tenant_id, opened_at, id)",
    "CREATE INDEX claim_opened ON claim (opened_at, id)",
    "CREATE INDEX claim_match ON claim (match_id)",
    "CREATE UNIQUE INDEX claim_request ON claim (tenant_id, request_id) WHERE request_id IS NOT NULL",
    """
    CREATE UNIQUE INDEX claim_undecided ON claim (tenant_id, match_id, type_id, specifiers)
        WHERE state IN ('open', 'upheld')
    """,
)


async def forwards() -> MigrationManager:
    return migration_steps.run(ID, DESCRIPTION, STATEMENTS)

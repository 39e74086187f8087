"""What Piccolo cannot express of the tables of the migration before: a key of several columns, references,
and indices of several columns, of a part of the rows and of arrays."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store import migration_steps

ID = "2031-02-01T00:00:08:000000"
VERSION = "1.38.0"
DESCRIPTION = "the keys of combinations"

STATEMENTS = (
    "ALTER TABLE priced_state DROP CONSTRAINT priced_state_pkey, ADD PRIMARY KEY (match_id, digest)",
    """
    ALTER TABLE combination
        ADD FOREIGN KEY (tenant_id) REFERENCES tenant (id) ON UPDATE CASCADE ON DELETE CASCADE
    """,
    "CREATE INDEX combination_tenant ON combination (tenant_id, created_at, id)",
    """
    CREATE UNIQUE INDEX combination_request ON combination (tenant_id, request_id)
        WHERE request_id IS NOT NULL
    """,
    "CREATE INDEX combination_matches ON combination USING gin (match_ids)",
)


async def forwards() -> MigrationManager:
    return migration_steps.run(ID, DESCRIPTION, STATEMENTS)

"""What Piccolo cannot express of the tables of the migration before: keys of several columns, numbers that
the database assigns, references, partial indices, and a column that is compressed already."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store import migration_steps

ID = "2031-02-01T00:00:12:000000"
VERSION = "1.38.0"
DESCRIPTION = "the keys of kept changes and replays"

STATEMENTS = (
    """
    ALTER TABLE kept_change DROP CONSTRAINT kept_change_pkey, ADD PRIMARY KEY (match_id, last_seq),
        ALTER body SET STORAGE EXTERNAL
    """,
    "CREATE INDEX kept_change_at ON kept_change (at)",
    """
    ALTER TABLE replay_event DROP CONSTRAINT replay_event_pkey, ADD PRIMARY KEY (tenant_id, node, match_id),
        ADD FOREIGN KEY (tenant_id) REFERENCES tenant (id) ON DELETE CASCADE,
        ALTER position ADD GENERATED ALWAYS AS IDENTITY
    """,
    """
    ALTER TABLE replay_job ADD FOREIGN KEY (tenant_id) REFERENCES tenant (id) ON DELETE CASCADE,
        ALTER id ADD GENERATED ALWAYS AS IDENTITY
    """,
    "CREATE INDEX replay_job_tenant ON replay_job (tenant_id, node, id)",
    """
    CREATE UNIQUE INDEX replay_job_open ON replay_job (tenant_id, node)
        WHERE state IN ('scheduled', 'running')
    """,
)


async def forwards() -> MigrationManager:
    return migration_steps.run(ID, DESCRIPTION, STATEMENTS)

"""Recoveries: the jobs that were accepted, and the slots that keep two from running for one client."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:00:40:000000"
VERSION = "1.38.0"
DESCRIPTION = "recovery jobs and slots, what a replay looks up by time"

STATEMENTS = (
    """
    CREATE TABLE recovery_job (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
        kind text NOT NULL,
        request_id text NOT NULL,
        after bigint NOT NULL,
        node_id text,
        of_match uuid,
        token bigint NOT NULL,
        state text NOT NULL,
        scheduled_at bigint NOT NULL,
        started_at bigint,
        finished_at bigint,
        due_at bigint NOT NULL DEFAULT 0,
        holder text,
        attempts integer NOT NULL DEFAULT 0,
        steps integer NOT NULL DEFAULT 0,
        steps_done integer NOT NULL DEFAULT 0,
        envelopes bigint NOT NULL DEFAULT 0,
        error text NOT NULL DEFAULT ''
    )
    """,
    "CREATE INDEX recovery_job_request ON recovery_job (tenant_id, request_id, id)",
    "CREATE INDEX recovery_job_open ON recovery_job (id) WHERE state IN ('scheduled', 'running')",
    """
    CREATE TABLE recovery_slot (
        tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
        node text NOT NULL,
        token bigint NOT NULL,
        expires_at bigint NOT NULL,
        PRIMARY KEY (tenant_id, node)
    )
    """,
    # What changed since a moment, without reading whole tables.
    "CREATE INDEX ledger_entry_at ON ledger_entry (at)",
    "CREATE INDEX change_fixture ON change (at) WHERE message = 'fixture_change'",
)


async def _create() -> None:
    for statement in STATEMENTS:
        await DB.run_ddl(statement)


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_create)
    return manager

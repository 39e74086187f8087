"""Who is told, with which keys; log sources and workers."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:00:03:000000"
VERSION = "1.38.0"
DESCRIPTION = "tenants, keys, bookings, cursors, log sources, workers"

STATEMENTS = (
    """
    CREATE TABLE tenant (
        id uuid PRIMARY KEY,
        slug text NOT NULL UNIQUE,
        name text NOT NULL,
        amqp boolean NOT NULL DEFAULT false,
        active boolean NOT NULL DEFAULT true,
        created_at bigint NOT NULL
    )
    """,
    """
    CREATE TABLE unbooked (
        tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
        match_id uuid NOT NULL,
        PRIMARY KEY (tenant_id, match_id)
    )
    """,
    "CREATE INDEX unbooked_match ON unbooked (match_id)",
    """
    CREATE TABLE tenant_cursor (
        tenant_id uuid PRIMARY KEY REFERENCES tenant ON DELETE CASCADE,
        seq bigint NOT NULL,
        holder text,
        epoch integer NOT NULL DEFAULT 0,
        expires_at bigint NOT NULL DEFAULT 0
    )
    """,
    """
    CREATE TABLE api_key (
        id uuid PRIMARY KEY,
        tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
        hash bytea NOT NULL UNIQUE,
        hint text NOT NULL,
        label text NOT NULL,
        scopes text[] NOT NULL,
        sports text[] NOT NULL,
        networks text[] NOT NULL DEFAULT '{}',
        rate_limit_rpm integer NOT NULL,
        finished_only boolean NOT NULL,
        operator boolean NOT NULL,
        active boolean NOT NULL DEFAULT true,
        created_at bigint NOT NULL,
        revoked_at bigint,
        replaced_by uuid,
        last_used_at bigint
    )
    """,
    "CREATE INDEX api_key_tenant ON api_key (tenant_id)",
    """
    CREATE TABLE audit (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        at bigint NOT NULL,
        actor text NOT NULL,
        action text NOT NULL,
        tenant_id uuid,
        subject text NOT NULL,
        details json NOT NULL
    )
    """,
    "CREATE INDEX audit_tenant ON audit (tenant_id, id)",
    """
    CREATE TABLE log_source (
        match_id uuid PRIMARY KEY,
        instance text NOT NULL,
        next_offset bigint NOT NULL,
        last_batch_at bigint NOT NULL
    )
    """,
    """
    CREATE TABLE log_pending (
        match_id uuid NOT NULL,
        begin_offset bigint NOT NULL,
        end_offset bigint NOT NULL,
        body bytea NOT NULL,
        instance text NOT NULL,
        arrived_at bigint NOT NULL,
        PRIMARY KEY (match_id, instance, begin_offset)
    )
    """,
    """
    CREATE TABLE worker_beat (
        worker text PRIMARY KEY,
        kind text NOT NULL,
        at bigint NOT NULL
    )
    """,
)


async def _create() -> None:
    for statement in STATEMENTS:
        await DB.run_ddl(statement)


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_create)
    return manager

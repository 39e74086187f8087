"""The change log and the one place where its numbers are given out."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:00:02:000000"
VERSION = "1.38.0"
DESCRIPTION = "change log"

STATEMENTS = (
    "CREATE SEQUENCE change_seq",
    """
    CREATE TABLE change (
        seq bigint PRIMARY KEY,
        match_id uuid NOT NULL,
        number bigint NOT NULL,
        entity text NOT NULL,
        key text NOT NULL,
        frame text NOT NULL,
        message text NOT NULL,
        at bigint NOT NULL,
        envelope_seq bigint NOT NULL,
        prev_seq bigint NOT NULL,
        body json NOT NULL
    )
    """,
    "CREATE INDEX change_match ON change (match_id, seq)",
    # Takes the match's row, then the log's lock (always in this order, so that two writers cannot wait
    # for each other), and only then `wanted` numbers. The lock is held until the transaction is
    # visible to everybody: whoever gets higher numbers commits later. The numbers do not roll back, so
    # a failed transaction leaves a hole, which harms nobody.
    """
    CREATE FUNCTION take_change_numbers(
        of_match uuid, wanted bigint, OUT first bigint, OUT last_stamp bigint, OUT last_seq bigint
    ) LANGUAGE plpgsql AS $$
    BEGIN
        SELECT m.last_stamp, m.last_seq INTO STRICT last_stamp, last_seq
        FROM match m WHERE m.id = of_match FOR UPDATE;
        PERFORM pg_advisory_xact_lock(7232651);
        first := nextval('change_seq');
        IF wanted > 1 THEN
            PERFORM setval('change_seq', first + wanted - 1);
        END IF;
    END
    $$
    """,
)


async def _create() -> None:
    for statement in STATEMENTS:
        await DB.run_ddl(statement)


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_create)
    return manager

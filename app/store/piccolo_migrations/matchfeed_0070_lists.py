"""What lists of matches show and sort by, so that they read rows, not whole matches; and their numbers."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:01:10:000000"
VERSION = "1.38.0"
DESCRIPTION = "lists of matches"

#: `place`: when it begins or began, as far as that is known; what nobody knows comes last. `listed` leaves
#: out what is over and was never played.
STATEMENTS = (
    """
    ALTER TABLE match
        ADD COLUMN best_of smallint NOT NULL DEFAULT 1,
        ADD COLUMN score_home smallint NOT NULL DEFAULT 0,
        ADD COLUMN score_away smallint NOT NULL DEFAULT 0,
        ADD COLUMN map_name text NOT NULL DEFAULT ''
    """,
    """
    UPDATE match SET
        best_of = coalesce((state->>'best_of')::smallint, 1),
        score_home = coalesce((state->>'score_home')::smallint, 0),
        score_away = coalesce((state->>'score_away')::smallint, 0),
        map_name = coalesce((
            SELECT play->>'name' FROM json_array_elements(state->'maps') AS play
            WHERE play->>'status' = 'live' LIMIT 1
        ), '')
    """,
    """
    ALTER TABLE match
        ADD COLUMN place bigint NOT NULL GENERATED ALWAYS AS
            (coalesce(scheduled_at, started_at, finished_at, 9223372036854775807)) STORED,
        ADD COLUMN listed boolean NOT NULL GENERATED ALWAYS AS
            (status NOT IN ('finished', 'cancelled') OR started_at IS NOT NULL OR score_home + score_away > 0)
            STORED
    """,
    "CREATE INDEX match_listed ON match (status, place, number) WHERE listed",
    """
    CREATE TABLE match_count (
        status text NOT NULL,
        shard smallint NOT NULL,
        matches bigint NOT NULL,
        PRIMARY KEY (status, shard)
    )
    """,
    "INSERT INTO match_count SELECT status, 0, count(*) FROM match WHERE listed GROUP BY status",
    # Counts are kept in shards, so that transactions seldom wait for each other, and always taken in the
    # same order, so that two never wait in a circle.
    """
    CREATE FUNCTION count_match() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO match_count (status, shard, matches)
        SELECT one.status, pg_backend_pid() % 16, sum(one.change)
        FROM (VALUES (OLD.status, OLD.listed, -1), (NEW.status, NEW.listed, 1))
            AS one (status, listed, change)
        WHERE one.listed
        GROUP BY one.status
        HAVING sum(one.change) <> 0
        ORDER BY one.status
        ON CONFLICT (status, shard) DO UPDATE SET matches = match_count.matches + excluded.matches;
        RETURN NULL;
    END
    $$
    """,
    """
    CREATE TRIGGER match_counted AFTER INSERT OR DELETE ON match FOR EACH ROW
    EXECUTE FUNCTION count_match()
    """,
    """
    CREATE TRIGGER match_recounted AFTER UPDATE ON match FOR EACH ROW
    WHEN (OLD.status <> NEW.status OR OLD.listed <> NEW.listed) EXECUTE FUNCTION count_match()
    """,
)


async def _create() -> None:
    for statement in STATEMENTS:
        await DB.run_ddl(statement)


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_create)
    return manager

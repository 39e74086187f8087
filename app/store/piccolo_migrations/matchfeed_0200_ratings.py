"""Teams' ratings, and the events that they follow from."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:03:20:000000"
VERSION = "1.38.0"
DESCRIPTION = "teams' ratings, and the events that they follow from"

STATEMENTS = (
    """
    CREATE TABLE rating_event (
        reference text PRIMARY KEY,
        at bigint NOT NULL,
        series text NOT NULL,
        team_a integer NOT NULL,
        team_b integer,
        body json NOT NULL,
        outcome json
    )
    """,
    "CREATE INDEX rating_event_order ON rating_event (at, reference)",
    "CREATE INDEX rating_event_a ON rating_event (team_a, at)",
    "CREATE INDEX rating_event_b ON rating_event (team_b, at)",
    "CREATE INDEX rating_event_series ON rating_event (series, at) WHERE series <> ''",
    "CREATE SEQUENCE rating_version",
    """
    CREATE TABLE team_rating (
        team_id integer PRIMARY KEY,
        points double precision NOT NULL,
        spread double precision NOT NULL,
        at bigint NOT NULL,
        maps integer NOT NULL,
        anchored boolean NOT NULL,
        stands boolean NOT NULL,
        version bigint NOT NULL
    )
    """,
    "CREATE INDEX team_rating_points ON team_rating (points)",
)


async def _create() -> None:
    for statement in STATEMENTS:
        await DB.run_ddl(statement)


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_create)
    return manager

"""What Piccolo cannot express of soccer's matches: indices of several columns."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-02-01T00:00:18:000000"
VERSION = "1.38.0"
DESCRIPTION = "the indices of soccer's matches"

STATEMENTS = (
    "CREATE UNIQUE INDEX soccer_match_key ON soccer_match (tournament_id, season, round, home_id, away_id)",
    "CREATE INDEX soccer_match_days ON soccer_match (day, id)",
    "CREATE INDEX soccer_match_tournament ON soccer_match (tournament_id, day, id)",
    "CREATE INDEX soccer_match_home ON soccer_match (home_id, day, id)",
    "CREATE INDEX soccer_match_away ON soccer_match (away_id, day, id)",
)


async def _complete() -> None:
    for statement in STATEMENTS:
        await DB.run_ddl(statement)


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_complete)
    return manager

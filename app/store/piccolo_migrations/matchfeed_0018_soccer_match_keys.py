"""What Piccolo cannot express of soccer's matches: indices of several columns."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store import migration_steps

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


async def forwards() -> MigrationManager:
    return migration_steps.run(ID, DESCRIPTION, STATEMENTS)

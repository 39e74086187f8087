"""Who plays in what, and what finished matches say about it."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:00:21:000000"
VERSION = "1.38.0"
DESCRIPTION = "reference data, statistics of finished matches"

SHELVES = ("category", "tournament", "team", "player", "soccer_competitor", "soccer_tournament")
STATEMENTS = (
    *(
        f"""
        CREATE TABLE {shelf} (
            id integer PRIMARY KEY,
            folded text NOT NULL,
            parent integer,
            body json NOT NULL
        )
        """
        for shelf in SHELVES
    ),
    *(f"CREATE INDEX {shelf}_folded ON {shelf} (folded text_pattern_ops)" for shelf in SHELVES),
    "CREATE INDEX player_parent ON player (parent)",
    "CREATE INDEX tournament_parent ON tournament (parent)",
    """
    CREATE TABLE team_map (
        match_id uuid NOT NULL,
        map smallint NOT NULL,
        slot text NOT NULL,
        team text NOT NULL,
        team_id integer,
        map_name text NOT NULL,
        finished_at bigint NOT NULL,
        body json NOT NULL,
        PRIMARY KEY (match_id, map, slot)
    )
    """,
    "CREATE INDEX team_map_team ON team_map (team, finished_at)",
    "CREATE INDEX team_map_team_id ON team_map (team_id, finished_at) WHERE team_id IS NOT NULL",
    "CREATE INDEX team_map_name ON team_map (map_name, finished_at)",
    """
    CREATE TABLE player_map (
        match_id uuid NOT NULL,
        map smallint NOT NULL,
        account bigint NOT NULL,
        name text NOT NULL,
        team text NOT NULL,
        map_name text NOT NULL,
        finished_at bigint NOT NULL,
        body json NOT NULL,
        PRIMARY KEY (match_id, map, account, name)
    )
    """,
    "CREATE INDEX player_map_account ON player_map (account, finished_at)",
    "CREATE INDEX player_map_team ON player_map (team, finished_at)",
)


async def _create() -> None:
    for statement in STATEMENTS:
        await DB.run_ddl(statement)


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_create)
    return manager

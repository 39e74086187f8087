"""Every match leads to two teams and a tournament, and so does what was counted."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:00:50:000000"
VERSION = "1.38.0"
DESCRIPTION = "teams and tournaments of all matches, players by account, matches by team"

#: A column of names, the column of numbers beside it, and the shelf that both are about.
LINKS = (("home", "home_id", "team"), ("away", "away_id", "team"), ("event", "tournament_id", "tournament"))


def linked(name: str, number: str, shelf: str) -> tuple[str, str]:
    """What nobody bears yet is taken in above 2,000,000,000; then names that are borne once get numbers."""
    folded = f"lower(regexp_replace(btrim(m.{name}), '\\s+', ' ', 'g'))"
    highest = f"greatest(2000000000, (SELECT coalesce(max(id), 0) FROM {shelf}))"
    return (
        f"""
        INSERT INTO {shelf} (id, folded, body)
        SELECT {highest} + place, missing.folded,
            json_build_object('id', {highest} + place, 'name', missing.name)
        FROM (
            SELECT row_number() OVER (ORDER BY min(m.number)) AS place, {folded} AS folded,
                min(btrim(m.{name})) AS name
            FROM match m
            WHERE m.{number} IS NULL AND NOT EXISTS (SELECT FROM {shelf} WHERE folded = {folded})
            GROUP BY {folded}
        ) AS missing
        """,
        f"""
        UPDATE match m SET {number} = one.id,
            state = (m.state::jsonb || jsonb_build_object('{number}', one.id))::json
        FROM (SELECT folded, min(id) AS id FROM {shelf} GROUP BY folded HAVING count(*) = 1) AS one
        WHERE m.{number} IS NULL AND one.folded = {folded}
        """,
    )


STATEMENTS = (
    "CREATE INDEX player_account ON player (((body->>'account')::bigint))",
    "CREATE INDEX match_home ON match (home_id, status, finished_at)",
    "CREATE INDEX match_away ON match (away_id, status, finished_at)",
    "CREATE INDEX match_tournament ON match (tournament_id, status, scheduled_at)",
    "DROP INDEX team_map_team",
    "DROP INDEX player_map_team",
    *(statement for link in LINKS for statement in linked(*link)),
    """
    UPDATE team_map t SET team_id = CASE t.slot WHEN 'home' THEN m.home_id ELSE m.away_id END
    FROM match m WHERE m.id = t.match_id AND t.team_id IS NULL
    """,
)


async def _create() -> None:
    for statement in STATEMENTS:
        await DB.run_ddl(statement)


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_create)
    return manager

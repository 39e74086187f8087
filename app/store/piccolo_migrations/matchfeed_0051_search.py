"""Names by the pieces of three letters that they hold, and the lists of entrants by what is asked for.

The pieces are kept by the database itself, so that whoever writes a name need not think of them. The
extension that does the like (pg_trgm) is not part of every PostgreSQL that we run on.
"""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:00:51:000000"
VERSION = "1.38.0"
DESCRIPTION = "search by name, lists of entrants"

SEARCHED = ("team", "tournament", "player")
STATEMENTS = (
    # Two blanks at the end: every place in the name begins a piece.
    """
    CREATE FUNCTION name_pieces(folded text) RETURNS SETOF text LANGUAGE sql IMMUTABLE STRICT AS $$
        SELECT DISTINCT substr(' ' || left(folded, 200) || '  ', place, 3)
        FROM generate_series(1, length(left(folded, 200)) + 1) AS place
    $$
    """,
    """
    CREATE TABLE name_piece (
        shelf text NOT NULL,
        piece text COLLATE "C" NOT NULL,
        id integer NOT NULL,
        pieces integer NOT NULL,
        PRIMARY KEY (shelf, piece, id)
    )
    """,
    "CREATE INDEX name_piece_id ON name_piece (shelf, id)",
    """
    CREATE FUNCTION keep_name_pieces() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP = 'UPDATE' AND OLD.folded = NEW.folded AND OLD.id = NEW.id THEN
            RETURN NULL;
        END IF;
        IF TG_OP <> 'INSERT' THEN
            DELETE FROM name_piece WHERE shelf = TG_TABLE_NAME AND id = OLD.id;
        END IF;
        IF TG_OP <> 'DELETE' THEN
            INSERT INTO name_piece (shelf, piece, id, pieces)
            SELECT TG_TABLE_NAME, piece, NEW.id, count(*) OVER () FROM name_pieces(NEW.folded) AS piece;
        END IF;
        RETURN NULL;
    END
    $$
    """,
    *(
        f"""
        CREATE TRIGGER {shelf}_pieces AFTER INSERT OR UPDATE OR DELETE ON {shelf}
        FOR EACH ROW EXECUTE FUNCTION keep_name_pieces()
        """
        for shelf in SEARCHED
    ),
    *(
        f"""
        INSERT INTO name_piece (shelf, piece, id, pieces)
        SELECT '{shelf}', piece, id, count(*) OVER (PARTITION BY id)
        FROM {shelf}, name_pieces(folded) AS piece
        """
        for shelf in SEARCHED
    ),
    *(
        f"CREATE INDEX match_{name}_number ON match ({name}_id, number)"
        for name in ("home", "away", "tournament")
    ),
    "CREATE INDEX tournament_tier ON tournament ((body->>'tier'), id)",
    "CREATE INDEX tournament_starts ON tournament (((body->>'starts_at')::bigint), id)",
    "CREATE INDEX tournament_lan ON tournament (((body->>'is_lan')::boolean), id)",
    "CREATE INDEX team_region ON team (lower(body->>'region'), id)",
    "CREATE INDEX team_active ON team (((body->>'active')::boolean), id)",
)


async def _create() -> None:
    for statement in STATEMENTS:
        await DB.run_ddl(statement)


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_create)
    return manager

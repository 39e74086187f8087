"""Matches, what is offered on them, and what happened in them."""

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-01-01T00:00:01:000000"
VERSION = "1.38.0"
DESCRIPTION = "matches, markets, rounds, timeline, settlement ledger"

STATEMENTS = (
    "CREATE SEQUENCE match_number",
    """
    CREATE TABLE match (
        id uuid PRIMARY KEY,
        number bigint NOT NULL UNIQUE,
        status text NOT NULL,
        home text NOT NULL,
        away text NOT NULL,
        event text NOT NULL,
        home_id integer,
        away_id integer,
        tournament_id integer,
        scheduled_at bigint,
        started_at bigint,
        finished_at bigint,
        suspended text NOT NULL DEFAULT '',
        last_fact_at bigint NOT NULL DEFAULT 0,
        last_stamp bigint NOT NULL DEFAULT 0,
        last_seq bigint NOT NULL DEFAULT 0,
        state json NOT NULL
    ) WITH (fillfactor = 70)
    """,
    # The columns of this index change with a match's lifecycle only, so that the frequent writes
    # (state, last_fact_at, stamps) stay updates in place.
    "CREATE INDEX match_status ON match (status, scheduled_at)",
    "CREATE INDEX match_finished ON match (finished_at) WHERE finished_at IS NOT NULL",
    """
    CREATE TABLE market (
        match_id uuid NOT NULL,
        type_id integer NOT NULL,
        specifiers text NOT NULL,
        status smallint NOT NULL,
        odds numeric NOT NULL,
        probability double precision NOT NULL,
        complement text NOT NULL DEFAULT '',
        reason text NOT NULL DEFAULT '',
        result text,
        void_reason_id integer,
        rests_on text NOT NULL DEFAULT '',
        settled_by text NOT NULL DEFAULT '',
        opened_at bigint NOT NULL DEFAULT 0,
        priced_at bigint NOT NULL DEFAULT 0,
        PRIMARY KEY (match_id, type_id, specifiers)
    ) WITH (fillfactor = 80)
    """,
    "CREATE INDEX market_open ON market (match_id) WHERE status IN (1, -1)",
    """
    CREATE TABLE round (
        match_id uuid NOT NULL,
        id integer NOT NULL,
        map smallint NOT NULL,
        number smallint NOT NULL,
        void boolean NOT NULL DEFAULT false,
        body json NOT NULL,
        PRIMARY KEY (match_id, id)
    )
    """,
    """
    CREATE TABLE timeline_event (
        match_id uuid NOT NULL,
        id integer NOT NULL,
        map smallint NOT NULL,
        round smallint NOT NULL,
        void boolean NOT NULL DEFAULT false,
        body json NOT NULL,
        PRIMARY KEY (match_id, id)
    )
    """,
    """
    CREATE TABLE ledger_entry (
        id bigint PRIMARY KEY,
        match_id uuid NOT NULL,
        type_id integer NOT NULL,
        specifiers text NOT NULL,
        at bigint NOT NULL,
        body json NOT NULL
    )
    """,
    "CREATE INDEX ledger_entry_match ON ledger_entry (match_id, id)",
)


async def _create() -> None:
    for statement in STATEMENTS:
        await DB.run_ddl(statement)


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_create)
    return manager

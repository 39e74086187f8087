import asyncio
from collections.abc import AsyncIterator
from uuid import uuid4

import asyncpg
import pytest

from app.kit.errors import Conflict
from app.store import migrations
from app.store.connections import Store, open_store
from app.store.matches import DEPENDENT_TABLES
from app.store.migrations import migrate
from app.store.piccolo_app import APP_CONFIG
from tests.support import databases
from tests.support.eventually import eventually

_ALIASES = {"timestamp": "timestamp without time zone", "int": "integer", "array": "ARRAY"}


async def test_the_classes_describe_the_tables(store: Store) -> None:
    described = {
        (table._meta.tablename, column._meta.db_column_name, _type(column.column_type), column._meta.null)
        for table in APP_CONFIG.table_classes
        for column in table._meta.columns
    }
    async with store.autocommit() as tx:
        rows = await tx.fetch(
            "SELECT table_name, column_name, data_type, is_nullable = 'YES' AS nullable"
            " FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> 'migration'"
        )
    assert described == {tuple(row.values()) for row in rows}


async def test_a_row_that_piccolo_inserts_gets_the_defaults_of_its_table(store: Store) -> None:
    """Piccolo names every column in an insert, those without a value with the default of the class."""
    columns = {
        (table._meta.tablename, column._meta.db_column_name): column
        for table in APP_CONFIG.table_classes
        for column in table._meta.columns
    }
    async with store.autocommit() as tx:
        rows = await tx.fetch(
            "SELECT table_name, column_name, is_identity = 'YES' OR is_generated = 'ALWAYS' AS computed,"
            " is_nullable = 'YES' AS nullable, column_default FROM information_schema.columns"
            " WHERE table_schema = 'public' AND table_name <> 'migration'"
        )
        for row in rows:
            column = columns[row["table_name"], row["column_name"]]
            default = column.get_default_value()
            if row["computed"]:
                assert str(default) == "DEFAULT", column
            elif row["column_default"] is not None:
                assert default == await tx.value(f"SELECT {row['column_default']}"), column
            elif row["nullable"]:
                assert default is None, column


async def test_trimming_knows_every_table_that_names_a_match(store: Store) -> None:
    async with store.autocommit() as tx:
        rows = await tx.fetch(
            "SELECT table_name FROM information_schema.columns WHERE column_name = 'match_id'"
        )
    assert {row["table_name"] for row in rows} == set(DEPENDENT_TABLES)


def _type(of_class: str) -> str:
    name = of_class.lower()
    return "ARRAY" if name.endswith("[]") else _ALIASES.get(name, name)


@pytest.fixture
async def fresh(database_url: str) -> AsyncIterator[str]:
    """The URL of a database that there is not yet; it is dropped afterwards."""
    name = f"matchfeed_test_{uuid4().hex[:12]}"
    yield databases.named(database_url, name)
    await databases.drop(database_url, name)


async def test_processes_that_migrate_at_once_take_turns(fresh: str) -> None:
    await asyncio.gather(migrate(fresh), migrate(fresh))
    await migrate(fresh)
    async with await open_store(fresh, 1) as store, store.autocommit() as tx:
        assert await tx.value("SELECT count(*) FROM migration WHERE app_name = 'matchfeed'") >= 1
        assert await tx.value("SELECT count(*) - count(DISTINCT name) FROM migration") == 0


async def test_piccolo_is_not_started_for_a_database_that_is_up_to_date(
    fresh: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def started(_: str) -> str:
        return "started"

    await migrate(fresh)
    monkeypatch.setattr(migrations, "_run_piccolo", started)
    await migrate(fresh)
    async with await open_store(fresh, 1) as store, store.autocommit() as tx:
        await tx.execute("DELETE FROM migration WHERE name = (SELECT max(name) FROM migration)")
    with pytest.raises(RuntimeError, match="started"):
        await migrate(fresh)


#: Each statement of a migration first takes a table that others use.
_EACH_TAKES_IT = """
CREATE TABLE used (id integer);
CREATE FUNCTION take() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN LOCK TABLE used; END $$;
CREATE EVENT TRIGGER takes ON ddl_command_start WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION take()
"""
_WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'used'::regclass"


async def test_a_migration_that_waits_for_a_table_does_not_hold_others_up(fresh: str) -> None:
    """A dump reads the table for longer than anybody can wait."""
    await databases.create(fresh)
    dump, other = await asyncpg.connect(fresh), await asyncpg.connect(fresh)
    await other.execute(_EACH_TAKES_IT)
    async with dump.transaction():
        await dump.execute("LOCK TABLE used IN ACCESS SHARE MODE")
        migrating = asyncio.create_task(migrate(fresh))
        await eventually(lambda: other.fetchval(_WAITING))
        await other.execute("SELECT * FROM used", timeout=10)
        assert not migrating.done()
    await migrating
    assert await other.fetchval("SELECT to_regclass('tenant_cursor')") == "tenant_cursor"
    await asyncio.gather(dump.close(), other.close())


async def test_a_database_of_a_development_version_is_refused(fresh: str) -> None:
    """Its migrations are none of ours, and nothing is changed in it."""
    await databases.create(fresh)
    async with await open_store(fresh, 1) as old, old.autocommit() as tx:
        await tx.execute("CREATE TABLE migration (name text, app_name text)")
        await tx.execute("INSERT INTO migration VALUES ('2031-01-01T00:06:40:000000', 'matchfeed')")
        with pytest.raises(Conflict, match="run `matchfeed migrate`"):
            await migrate(fresh)
        assert await tx.value("SELECT to_regclass('match')") is None


async def test_a_failed_migration_raises_its_output(fresh: str) -> None:
    await databases.create(fresh)
    async with await open_store(fresh, 1) as store:
        async with store.autocommit() as tx:
            await tx.execute("CREATE TABLE match (id integer)")
        with pytest.raises(RuntimeError, match="match"):
            await migrate(fresh)
        async with store.autocommit() as tx:
            assert await tx.value("SELECT to_regclass('market')") is None

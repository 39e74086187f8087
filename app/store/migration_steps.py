"""What the steps of `piccolo_migrations` consist of: new tables and columns, or plain statements."""

from collections.abc import Iterable, Mapping

from piccolo.apps.migrations.auto.migration_manager import MigrationManager
from piccolo.columns import Column
from piccolo.engine import engine_finder

Columns = Mapping[str, Column]  #: by their names; the default None is that of a column without one


def add(
    migration_id: str,
    description: str,
    *,
    tables: Mapping[str, Columns] = {},
    columns: Mapping[str, Columns] = {},
) -> MigrationManager:
    """A step that makes `tables`, and adds `columns` to tables that there are, both by the tables' names."""
    manager = _manager(migration_id, description)
    for table in tables:
        manager.add_table(class_name=table, tablename=table)
    for table, of_table in (*tables.items(), *columns.items()):
        for name, column in of_table.items():
            manager.add_column(
                table_class_name=table,
                tablename=table,
                column_name=name,
                column_class=type(column),
                params=column._meta.params,
            )
    return manager


def run(migration_id: str, description: str, statements: Iterable[str]) -> MigrationManager:
    """A step of what Piccolo cannot express, in one transaction."""

    async def run_all() -> None:
        engine = engine_finder()
        assert engine, "Piccolo runs with `piccolo_conf`"
        for statement in statements:
            await engine.run_ddl(statement)

    manager = _manager(migration_id, description)
    manager.add_raw(run_all)
    return manager


def _manager(migration_id: str, description: str) -> MigrationManager:
    return MigrationManager(migration_id=migration_id, app_name="matchfeed", description=description)

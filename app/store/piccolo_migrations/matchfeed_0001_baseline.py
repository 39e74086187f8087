"""Version 0.2.0: every table, as `baseline.sql` has them."""

import re
from pathlib import Path

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store.piccolo_conf import DB

ID = "2031-02-01T00:00:01:000000"
VERSION = "1.38.0"
DESCRIPTION = "the tables of version 0.2.0"

#: A statement begins at the margin, after a semicolon; the lines of a function's body are indented.
_BETWEEN_STATEMENTS = re.compile(r"(?<=;)\n+(?=\S)")


def statements() -> list[str]:
    return _BETWEEN_STATEMENTS.split(Path(__file__).with_name("baseline.sql").read_text())


async def _create() -> None:
    for statement in statements():
        await DB.run_ddl(statement)


async def forwards() -> MigrationManager:
    manager = MigrationManager(migration_id=ID, app_name="matchfeed", description=DESCRIPTION)
    manager.add_raw(_create)
    return manager

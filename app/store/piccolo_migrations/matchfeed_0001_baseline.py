"""Version 0.2.0: every table, as `baseline.sql` has them."""

import re
from pathlib import Path

from piccolo.apps.migrations.auto.migration_manager import MigrationManager

from app.store import migration_steps

ID = "2031-02-01T00:00:01:000000"
VERSION = "1.38.0"
DESCRIPTION = "the tables of version 0.2.0"

#: A statement begins at the margin, after a semicolon; the lines of a function's body are indented.
_BETWEEN_STATEMENTS = re.compile(r"(?<=;)\n+(?=\S)")


async def forwards() -> MigrationManager:
    statements = _BETWEEN_STATEMENTS.split(Path(__file__).with_name("baseline.sql").read_text())
    return migration_steps.run(ID, DESCRIPTION, statements)

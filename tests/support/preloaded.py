"""What our own processes load, for the process that `support.forked` forks them from: never for tests."""

from app.cli import main
from app.kit.garbage_collection import freeze_existing_objects
from tests.support.forked import COMMANDS

for name in COMMANDS:
    main.commands[name]
freeze_existing_objects()  # once: each of them would traverse all of it, and so copy it

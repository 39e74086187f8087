"""Migrations as files: Piccolo runs one of those that share an id, and silently none of the others."""

import re
from collections import defaultdict
from pathlib import Path

FOLDER = Path(__file__).parents[3] / "app" / "store" / "piccolo_migrations"
_ID = re.compile(r'^ID = "\d+-\d\d-\d\dT(\d\d):(\d\d):(\d\d):\d{6}"', re.MULTILINE)


def test_every_migration_has_an_id_of_its_own() -> None:
    found = defaultdict(list)
    for file in FOLDER.glob("matchfeed_*.py"):
        named = _ID.search(file.read_text())
        assert named, file.name
        found[named[0]].append(file.name)
    assert found
    assert [names for names in found.values() if len(names) > 1] == []

"""Piccolo runs each migration once by its `ID`: of two with one ID it would silently run one only."""

import re
from pathlib import Path

from app.store import piccolo_migrations

_ID = re.compile(r'^ID = "(.+)"$', re.MULTILINE)
_FILES = sorted(Path(piccolo_migrations.__path__[0]).glob("matchfeed_*.py"))


def ids() -> list[str]:
    return [_ID.findall(path.read_text())[0] for path in _FILES]


def test_no_two_migrations_have_one_id() -> None:
    assert len(set(ids())) == len(_FILES) > 0


def test_they_run_in_the_order_of_their_files() -> None:
    assert ids() == sorted(ids())

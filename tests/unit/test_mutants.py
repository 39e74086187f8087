"""The mutants that judge the tests: each changes one thing, and no line moves."""

import types
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.mutants.changes import UNCHANGED, code, mutants

SOURCE = '''"""Text that nobody changes: 1 + 1."""

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import decimal

log = logging.getLogger()
LIMIT = 3


def above(value: int, *, strictly: bool = False) -> bool:
    """Whether it is above."""
    log.debug("asked for %d", value + 1)
    if value < 0 and not strictly:
        raise ValueError(value + 1)
    return value > LIMIT if strictly else value >= LIMIT
'''


@pytest.fixture
def module(tmp_path: Path) -> Path:
    path = tmp_path / "module.py"
    path.write_text(SOURCE)
    return path


def test_everything_that_runs_is_changed_once_and_nothing_else(module: Path) -> None:
    changes = {each.change.splitlines()[0] for each in mutants(module) if "\n" not in each.change}
    assert changes == {
        "3 -> 4",
        "False -> True",
        "value < 0 and (not strictly) -> value < 0 or not strictly",
        "value < 0 -> value <= 0",
        "0 -> 1",
        "not strictly -> strictly",
        "raise ValueError(value + 1) -> pass",
        "return value > LIMIT if strictly else value >= LIMIT -> return None",
        "value > LIMIT if strictly else value >= LIMIT -> value > LIMIT if not strictly else value >= LIMIT",
        "value > LIMIT -> value >= LIMIT",
        "value >= LIMIT -> value > LIMIT",
    }


def test_a_mutant_behaves_otherwise(module: Path) -> None:
    [found] = [each for each in mutants(module) if each.change == "value >= LIMIT -> value > LIMIT"]
    assert (_above(code(module, UNCHANGED))(3), _above(code(module, found.number))(3)) == (True, False)


def test_lines_stay_where_they_are(module: Path) -> None:
    for mutant in mutants(module):
        lines = {line for inner in code(module, mutant.number).co_consts if isinstance(inner, types.CodeType)
                 for _, _, line in inner.co_lines() if line}  # fmt: skip
        assert lines <= set(range(13, 19))
        assert SOURCE.splitlines()[mutant.line - 1].strip()


def _above(code: types.CodeType) -> Callable[..., bool]:
    names: dict[str, Callable[..., bool]] = {}
    exec(code, names)
    return names["above"]

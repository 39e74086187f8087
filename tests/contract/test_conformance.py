"""`docs/conformance.md` names tests that there are, one at least for every rule, and no rule twice."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "docs" / "conformance.md"
_ID = re.compile(r"[A-Z]+-\d+")
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
_LEAST = 200


def rows() -> list[list[str]]:
    """The cells of each rule: id, text, tests."""
    lines = [line for line in TABLE.read_text().splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in cells if row[0] != "id" and set(row[0]) != {"-"}]


@cache
def names_in(path: str) -> frozenset[str]:
    """Names that pytest collects from a file: its functions that begin with `test_`."""
    tree = ast.parse((ROOT / path).read_text()) if (ROOT / path).exists() else ast.Module([], [])
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(each.name for each in functions if each.name.startswith("test_"))


def test_every_rule_has_an_id_a_text_and_a_test() -> None:
    found = rows()
    assert len(found) >= _LEAST
    wrong = [row for row in found if len(row) != 3 or not _ID.fullmatch(row[0]) or not row[1] or not row[2]]
    assert wrong == []


def test_no_rule_stands_twice() -> None:
    ids, texts = Counter(row[0] for row in rows()), Counter(row[1] for row in rows())
    assert [name for name, times in (ids + texts).items() if times > 1] == []


def test_every_test_that_is_named_exists() -> None:
    named = [(row[0], cell) for row in rows() for cell in row[2].split("<br>")]
    unread = [(name, cell) for name, cell in named if not _TEST.fullmatch(cell)]
    assert unread == []
    found = [(name, *_TEST.fullmatch(cell).groups()) for name, cell in named]  # type: ignore[union-attr]
    assert [(name, path, test) for name, path, test in found if test not in names_in(path)] == []

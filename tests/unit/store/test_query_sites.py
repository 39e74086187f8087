"""Queries go through Piccolo's builder, except the statements of `store.statements`, each with its reason."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.support.query_functions import DECORATORS

ROOT = Path(__file__).resolve().parents[3]
STATEMENTS = ROOT / "app" / "store" / "statements"
#: Calls on a `Tx` that take SQL, and those that take what Piccolo has built.
_RAW = {"fetch", "row", "value", "execute"}
_BUILT = {"run", "first", "one_value", "change"}
_SHARE_BUILT = 0.6
_BASELINE = 1  #: the migration that makes tables with SQL


class Site(NamedTuple):
    """A call that runs a query, or composes one for `Tx.write`; `query` is its first argument."""

    place: str
    built: bool
    query: ast.expr


def sites(path: Path) -> Iterator[Site]:
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.FunctionDef) and _runs(node):
            yield Site(f"{path.relative_to(ROOT)}:{node.lineno}", True, ast.Name(node.name))
        if not isinstance(node, ast.Call) or not node.args:
            continue
        place = f"{path.relative_to(ROOT)}:{node.lineno}"
        match node.func:
            case ast.Attribute(value=ast.Name(id="tx"), attr=name) if name in _RAW | _BUILT:
                yield Site(place, name in _BUILT, node.args[0])
            case ast.Name(id="Write"):
                yield Site(place, False, node.args[0])
            case ast.Attribute(value=ast.Name(id="Write"), attr="of"):
                yield Site(place, True, node.args[0])


def _runs(function: ast.FunctionDef) -> bool:
    """Whether a decorator of `store.prepared` makes it one that runs the query that it builds."""
    names = [each.func if isinstance(each, ast.Call) else each for each in function.decorator_list]
    return any(isinstance(each, ast.Name) and each.id in DECORATORS for each in names)


@cache
def everywhere() -> list[Site]:
    return [site for path in sorted((ROOT / "app").rglob("*.py")) for site in sites(path)]


def test_most_queries_are_built_by_piccolo() -> None:
    built = sum(site.built for site in everywhere())
    assert built / len(everywhere()) >= _SHARE_BUILT, f"{built} of {len(everywhere())}"


def test_other_statements_are_those_of_one_package() -> None:
    """What runs SQL names a statement, or a function that makes one, of a module of `store.statements`."""
    modules = {path.stem for path in STATEMENTS.glob("[a-z]*.py")} | {"statements"}
    raw = [site for site in everywhere() if not site.built and "store/row_mapping.py" not in site.place]
    assert [
        site.place for site in raw if not all(_module(one) in modules for one in _named(site.query))
    ] == []


def test_only_the_store_runs_queries() -> None:
    assert [site.place for site in everywhere() if not site.place.startswith("app/store/")] == []


def test_each_statement_says_why_piccolo_does_not_build_it() -> None:
    """A comment `#:` above a constant, a docstring in a function; names with an underscore are parts."""
    silent = []
    for path in STATEMENTS.glob("[a-z]*.py"):
        lines = path.read_text().splitlines()
        for node in ast.parse(path.read_text()).body:
            name = _public(node)
            if name and not (_documented(node) or lines[node.lineno - 2].startswith("#:")):
                silent.append(f"{path.stem}.{name}")
    assert silent == []


def test_each_statement_is_used() -> None:
    used = {site.query.attr for site in everywhere() if isinstance(site.query, ast.Attribute)}
    used |= {
        node.attr
        for path in (ROOT / "app" / "store").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
    }
    names = {
        _public(node) for path in STATEMENTS.glob("[a-z]*.py") for node in ast.parse(path.read_text()).body
    }
    assert names - used - {None} == set()


def _named(query: ast.expr) -> list[ast.expr]:
    """What is run: either of two, the function that is called, or the name itself."""
    match query:
        case ast.IfExp(body=one, orelse=other):
            return [one, other]
        case ast.Call(func=function):
            return [function]
    return [query]


def _module(name: ast.expr) -> str:
    """The word before the dot, "" when there is none."""
    return name.value.id if isinstance(name, ast.Attribute) and isinstance(name.value, ast.Name) else ""


def _public(node: ast.stmt) -> str | None:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.FunctionDef(name=name) if not name.startswith("_"):
            return name
    return None


def _documented(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and bool(ast.get_docstring(node))


def test_new_migrations_make_tables_through_piccolo() -> None:
    """Tables and columns by the manager, but for those of the baseline."""
    plain = re.compile(r"CREATE TABLE|ADD COLUMN", re.IGNORECASE)
    paths = (ROOT / "app" / "store" / "piccolo_migrations").glob("matchfeed_*.py")
    new = [path for path in paths if int(path.stem.split("_")[1]) > _BASELINE]
    assert [path.name for path in new if plain.search(path.read_text())] == []

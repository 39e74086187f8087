"""The flows in docs/architecture.md: the figures are what the tables list, and what they list is there."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text()
SECTION = PAGE.partition("## Five flows\n")[2].partition("\n## ")[0]
_NAMES = re.compile(r"`([\w.]+)`")
_TITLE = re.compile(r"^\*\*(?P<title>.+)\*\* \((?P<count>\d+) calls?(?:; (?P<cached>\d+) when .+)?[^)]*\)$")
#: Calls without an import: by the framework, of an object that is handed over, or from a template.
INDIRECT = {
    ("http.upgrade", "http.listeners"),
    ("http.listeners", "http.request_guard"),
    ("http.request_guard", "ingest.routes"),
    ("http.request_guard", "channels.rest.matches"),
    ("http.request_guard", "channels.rest.recovery"),
    ("http.request_guard", "channels.rest.route_options"),
    ("http.request_guard", "sites.pages.sessions"),
    ("sites.pages.sessions", "sites.console.commands"),
    ("sites.pages.sessions", "sites.console.site"),
    ("channels.rest.recovery", "http.response"),
    ("channels.rest.matches", "store.connections"),
    ("sites.console.commands", "store.connections"),
    ("store.matches", "store.match_cache"),
    ("store.markets", "store.match_cache"),
}
#: The calls of these are made only where the cache has no response.
UNCACHED = {"channels.rest.matches", "channels.rest.match_access", "store.connections", "wire.views"}
UNCACHED |= {"http.response"}
Pair = tuple[str, str]


def flows() -> dict[str, tuple[re.Match[str], set[Pair]]]:
    """The flows by their titles, each with its pairs (caller, called). A row without a module is about the
    one of the row before."""
    found: dict[str, tuple[re.Match[str], set[Pair]]] = {}
    title, callers = "", list[str]()
    for line in SECTION.splitlines():
        if line.startswith("**"):
            heading = _TITLE.match(line)
            assert heading, line
            title = heading["title"]
            found[title] = heading, set()
        elif line.startswith("|") and not line.startswith("|---"):
            *_, modules, _, calls = (cell.strip() for cell in line.strip("|").split("|"))
            callers = _NAMES.findall(modules) or callers
            found[title][1].update((one, called) for one in callers for called in _NAMES.findall(calls))
    return found


FLOWS = flows()
PAIRS = sorted(set().union(*(pairs for _, pairs in FLOWS.values())))


def place(module: str) -> Path:
    return ROOT.joinpath("app", *module.split("."))


def files(module: str) -> list[Path]:
    """The file of a module, or those of a package that counts as one."""
    own = place(module).with_suffix(".py")
    return [own] if own.exists() else sorted(place(module).rglob("*.py"))


def imported(module: str) -> Iterator[str]:
    """What a module imports from `app`: modules, and what may be one."""
    for file in files(module):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("app."):
                origin = node.module.removeprefix("app.")
                yield origin
                yield from (f"{origin}.{name.name}" for name in node.names)


def test_there_are_five() -> None:
    assert len(FLOWS) == 5


@pytest.mark.parametrize("title", FLOWS)
def test_a_figure_is_what_its_table_lists(title: str) -> None:
    heading, pairs = FLOWS[title]
    assert int(heading["count"]) == len(pairs)
    if heading["cached"]:
        handled = {called for caller, called in pairs if caller == "http.request_guard"} & UNCACHED
        left = [pair for pair in pairs if pair[0] not in UNCACHED and pair[1] not in handled]
        assert int(heading["cached"]) == len(left)


def test_what_it_lists_is_there() -> None:
    assert [module for module in sorted(set().union(*PAIRS)) if not files(module)] == []


def test_callers_import_what_they_call() -> None:
    known = {caller: set(imported(caller)) for caller, _ in PAIRS}
    without = {
        (caller, called)
        for caller, called in PAIRS
        if not any(f"{name}.".startswith(f"{called}.") for name in known[caller])
    }
    assert without == INDIRECT

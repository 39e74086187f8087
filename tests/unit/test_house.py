"""The project's conventions that a machine can check: sizes, imports at the top, nothing unused."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import median
from typing import NamedTuple

from tests.support.query_functions import DECORATORS

ROOT = Path(__file__).resolve().parents[2]
FILE_LINES, FUNCTION_LINES, MEDIAN_LINES = 400, 60, 10
GENERATED = (
    ROOT / "app" / "wire" / "generated",
    ROOT / "scripts" / "client" / "matchfeed_client" / "messages",
)
_WORD = re.compile(r"[A-Za-z_]\w+")
_IN_TEMPLATE = re.compile(r"\{[{%](.*?)[%}]\}", re.DOTALL)
Function = ast.FunctionDef | ast.AsyncFunctionDef
#: Decorators that leave a function to those who name it.
_OWN = {"property", "staticmethod", "classmethod", "contextmanager", "asynccontextmanager"}
_OWN |= {"cache", "lru_cache", *DECORATORS}
#: Functions that our code does not name, and what calls them.
CALLED_BY_OTHERS = {
    "connection_made": "asyncio, of a protocol",
    "connection_lost": "asyncio, of a protocol",
    "on_message_begin": "httptools, of a protocol",
    "on_url": "httptools, of a protocol",
    "on_header": "httptools, of a protocol",
    "on_headers_complete": "httptools, of a protocol",
    "on_message_complete": "httptools, of a protocol",
    "handle_websocket_upgrade": "uvicorn, of its protocol",
    "send_400_response": "uvicorn, of its protocol",
    "pause_writing": "asyncio, of a protocol",
    "filter": "logging, of a filter",
    "to_asgi_response": "Litestar, of a response",
    "forwards": "Piccolo, of a migration",
    "combine": "users of the client package",
    "download": "users of the client package",
    "get_reset_query": "asyncpg, of a pooled connection",
    "get_version": "Piccolo, of an engine",
    "prep_database": "Piccolo, of an engine",
    "publish_scope": "FastStream, of a middleware",
    "column_type": "Piccolo, of a column",
    "control": "tests of faults, of the private broker that scripts start",
}


def sources(*folders: str) -> list[Path]:
    """Python files of ours, without what is generated."""
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    return [path for path in found if not set(GENERATED) & set(path.parents)]


class Written(NamedTuple):
    """A function of a module: its length, the lines in it that import something, whether a decorator
    registers it, and whether it is in a class."""

    name: str
    lines: int
    imports: tuple[int, ...]
    registered: bool
    method: bool


class Source(NamedTuple):
    """What the tests know of a file: its functions, the names that it reads, and those behind a dot."""

    functions: list[Written]
    named: set[str]
    attributes: set[str]


@cache
def source(path: Path) -> Source:
    """Of one walk for all tests: one through all of our code takes seconds. The tree is not kept, which is
    large."""
    nodes = list(ast.walk(ast.parse(path.read_text(), str(path))))
    imports = [each.lineno for each in nodes if isinstance(each, ast.Import | ast.ImportFrom)]
    methods = {id(each) for node in nodes if isinstance(node, ast.ClassDef) for each in node.body}
    return Source(
        [
            Written(
                node.name,
                lines(node),
                tuple(line for line in imports if node.lineno <= line <= (node.end_lineno or node.lineno)),
                not all(_word(each) in _OWN for each in node.decorator_list),
                id(node) in methods,
            )
            for node in nodes
            if isinstance(node, Function)
        ],
        {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)},
        {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)},
    )


def functions(path: Path) -> list[Written]:
    return source(path).functions


def lines(function: Function) -> int:
    """From `def` to the end, without the docstring: words about a function make it no longer."""
    length = (function.end_lineno or function.lineno) - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function, clean=False) is not None and first.end_lineno:
        length -= first.end_lineno - first.lineno + 1
    return length


ALL = sources("app", "codegen", "scripts", "tests")


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_a_file_fits_on_a_few_screens() -> None:
    lengths = {name(path): len(path.read_text().splitlines()) for path in ALL}
    assert {path: length for path, length in lengths.items() if length > FILE_LINES} == {}


def test_a_function_fits_on_one_screen() -> None:
    lengths = {f"{name(path)}: {each.name}": each.lines for path in ALL for each in functions(path)}
    assert {path: length for path, length in lengths.items() if length > FUNCTION_LINES} == {}


def test_imports_stand_at_the_top() -> None:
    hidden = [
        f"{name(path)}: {function.name}, line {line}"
        for path in ALL
        for function in functions(path)
        for line in function.imports
    ]
    assert hidden == []


def test_every_function_is_used() -> None:
    """A caller names the function that it calls; tests do not count. A function that a decorator registers is
    called by a library. A method or a property is named behind a dot."""
    ours = sources("app", "codegen", "scripts")
    named, attributes = _names([*ours, *(path for folder in GENERATED for path in folder.glob("*.py"))])
    dead = [
        f"{name(path)}: {each.name}"
        for path in ours
        for each in functions(path)
        if each.name not in CALLED_BY_OTHERS and not each.name.startswith("__") and not each.registered
        if each.name not in attributes and (each.method or each.name not in named)
    ]
    assert dead == []


def test_exceptions_are_still_needed() -> None:
    """Each function that is excepted exists."""
    there = {each.name for path in sources("app", "codegen", "scripts") for each in functions(path)}
    assert CALLED_BY_OTHERS.keys() - there == set()


def _names(paths: list[Path]) -> tuple[set[str], set[str]]:
    """The names that code reads, and those that it reads behind a dot, as templates do."""
    named = {word for path in paths for word in source(path).named}
    attributes = {word for path in paths for word in source(path).attributes}
    for template in (*ROOT.glob("app/**/*.html"), *ROOT.glob("codegen/**/*.jinja2")):
        attributes |= {
            word for code in _IN_TEMPLATE.findall(template.read_text()) for word in _WORD.findall(code)
        }
    return named, attributes


def _word(decorator: ast.expr) -> str:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return called.attr if isinstance(called, ast.Attribute) else ast.unparse(called)


def test_a_package_says_what_it_is() -> None:
    """What, invariants, who may import it: the docstring of `__init__.py` is the design note."""
    packages = {path.parent for path in sources("app", "codegen")}
    notes = {name(folder): _note(folder / "__init__.py") for folder in packages}
    assert [folder for folder, note in notes.items() if not note] == []


def test_notes_name_what_there_is() -> None:
    """What stands in quotes in a package's docstring is a file, or a word of the code or the schemas."""
    known = {path.stem for path in ALL} | {path.parent.name for path in ALL}
    for path in (*sources("app", "codegen"), *(ROOT / "schemas").iterdir()):
        if path.name != "__init__.py":
            known |= set(_WORD.findall(path.read_text()))
    unknown = [
        f"{name(path)}: {word}"
        for path in sources("app", "codegen")
        if path.name == "__init__.py"
        for quoted in re.findall(r"`([\w.]+)`", _note(path))
        for word in _WORD.findall(quoted)
        if not {word, word.lower()} & known  # a setting is spoken of as the environment has it
    ]
    assert unknown == []


def _note(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text())) or "" if path.exists() else ""


def test_most_functions_are_short() -> None:
    assert median(each.lines for path in sources("app") for each in functions(path)) <= MEDIAN_LINES


def _texts(path: Path) -> Iterator[str]:
    """The strings of a file, formatted ones with their holes."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    formatted = [node for node in nodes if isinstance(node, ast.JoinedStr)]
    pieces = {id(piece) for node in formatted for piece in node.values}
    yield from map(ast.unparse, formatted)
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in pieces:
            yield node.value


def test_nothing_is_left_in_a_session() -> None:
    """Pooled connections are not reset between their users (`store.connections`): a statement that sets,
    locks, listens or makes something for longer than its transaction would be the next user's surprise.
    Migrations have a connection of their own, and so have the statements of `own_session`."""
    apart = "migrations", "statements/own_session"
    words, lock = r"(SET (?!LOCAL )|LISTEN |PREPARE |CREATE TEMP)", r"advisory_lock\("
    lasting, anywhere = re.compile(rf"(^|;|f'|f\")\s*{words}|{lock}"), re.compile(f"{words}|{lock}")
    ours = [path for path in sources("app") if not any(one in name(path) for one in apart)]
    near = [path for path in ours if anywhere.search(path.read_text())]  # to parse all takes seconds
    assert [f"{name(path)}: {text}" for path in near for text in _texts(path) if lasting.search(text)] == []

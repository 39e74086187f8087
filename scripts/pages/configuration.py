"""The settings, from the struct that reads them: names, types, defaults, comments above each field."""

import ast
import inspect
import re

from app import settings
from app.settings import DEVELOPMENT_SECRET, Settings

HEAD = """# Configuration

Every setting of every process is an environment variable, read once when the process starts; an invalid
value stops it with a line that names the variable. Defaults suit a developer's machine; production sets
`DEPLOYMENT`, the URLs, `OPERATOR_PORT` and `SECRET_KEY`. `.venv/bin/nox -s pages` writes this page from
`app/settings.py`; a test checks that it is current.

| variable | type | default | meaning |
|---|---|---|---|
"""


def page() -> str:
    """The reference as Markdown."""
    return HEAD + "".join(f"| {' | '.join(row)} |\n" for row in rows())


def rows() -> list[tuple[str, str, str, str]]:
    """Variable, type, default and meaning of each setting, in the order of the struct."""
    source = inspect.getsource(settings)
    lines = source.splitlines()
    declared = {
        node.target.id: node
        for each in ast.parse(source).body
        if isinstance(each, ast.ClassDef) and each.name == Settings.__name__
        for node in each.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    meanings: dict[str, str] = {}
    meaning = ""
    for name, node in declared.items():
        meaning = _above(lines, node.lineno - 1) or meaning  # one comment may stand over several fields
        meanings[name] = meaning
    return [
        (f"`{name.upper()}`", _type(ast.unparse(node.annotation)), _default(name), meanings[name])
        for name, node in declared.items()
    ]


def _above(lines: list[str], index: int) -> str:
    lines_above: list[str] = []
    while lines[index - 1].lstrip().startswith("#:"):
        index -= 1
        lines_above.insert(0, lines[index].split("#:", 1)[1].strip())
    return " ".join(lines_above).replace("|", "\\|")


def _type(annotation: str) -> str:
    """What may be set, as text."""
    if annotation.startswith("Literal"):
        return " or ".join(f"`{literal}`" for literal in re.findall(r"'([^']+)'", annotation))
    if annotation == "Positive":
        return "whole number, 1 or more"
    kind = {"int": "whole number", "float": "number", "str": "text", "bool": "`true` or `false`"}[
        annotation.removeprefix("Annotated[").split(",")[0]
    ]
    bounds = dict(re.findall(r"(ge|le|min_length|pattern)=('[^']*'|[\d.]+)", annotation))
    if "ge" in bounds:
        return f"{kind}, {bounds['ge']} " + (f"to {bounds['le']}" if "le" in bounds else "or more")
    if "min_length" in bounds:
        return f"{kind}, {bounds['min_length']} characters or more"
    return f"{kind} like `{ast.literal_eval(bounds['pattern'])}`" if "pattern" in bounds else kind


def _default(name: str) -> str:
    value = getattr(Settings(), name)
    if value == DEVELOPMENT_SECRET:
        return "a published one"
    return "empty" if value == "" else f"`{str(value).lower() if isinstance(value, bool) else value}`"

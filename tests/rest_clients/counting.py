"""How much of a generated client has no type, or a name that the generator made up."""

import re
from pathlib import Path

import msgspec

_RESULT = re.compile(r"def _parse_response\(.*?\) -> (.*?):\n", re.DOTALL)
_FIELD = re.compile(r"^    (?!additional_properties)\w+: (.*\bAny\b.*)$", re.MULTILINE)
_CLASS = re.compile(r"^(?:class )?(\w+)(?:\(|:| = Literal)", re.MULTILINE)
_MADE_UP = re.compile(r"Type\d|Item\d*$|Response\d|^App[A-Z]|^(Get|Post)[A-Z]")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_UNTYPED = re.compile(r"^.*: .*\b(?:any|unknown|Record<string, never>)(?!\w)", re.MULTILINE)
#: What the generator adds to each list of headers.
_OTHER_HEADERS = "[name: string]: unknown"


class Counts(msgspec.Struct, frozen=True):
    """`operations`; of these `untyped` with a result that may be anything; `fields` that may be anything;
    `made_up`: types that are named after a place in the document."""

    operations: int
    untyped: int
    fields: int
    made_up: int


def of_python(package: Path) -> Counts:
    """What `openapi-python-client` made."""
    operations = [path.read_text() for path in package.glob("api/*/*.py") if path.name != "__init__.py"]
    results = [found[1] for text in operations if (found := _RESULT.search(text))]
    models = [path.read_text() for path in package.glob("models/*.py") if path.name != "__init__.py"]
    fields = sum(len(_FIELD.findall(text.partition("def to_dict")[0])) for text in models)
    names = {name for text in models for name in _CLASS.findall(text)}
    return Counts(
        len(operations),
        sum(bool(re.search(r"\bAny\b", result)) for result in results),
        fields,
        sum(bool(_MADE_UP.search(name)) for name in names),
    )


def of_typescript(types: Path) -> Counts:
    """What `openapi-typescript` made; it names no types but those of the document."""
    text = _COMMENT.sub("", types.read_text())
    schemas, _, operations = text.partition("export interface operations")
    names = re.findall(r'^        "?([\w.]+)"?: ', schemas.partition("    schemas: {")[2], re.MULTILINE)
    return Counts(
        len(re.findall(r"^    \w+: \{$", operations, re.MULTILINE)),
        _untyped(operations),
        _untyped(schemas),
        sum("." in name for name in names),
    )


def _untyped(text: str) -> int:
    return sum(_OTHER_HEADERS not in line for line in _UNTYPED.findall(text))

"""An OpenAPI document as one HTML page: no scripts, no external resources."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from markupsafe import Markup, escape

from app.http import pages
from app.http.openapi.schemas import Json

_CODE = re.compile(r"`([^`]+)`")
_STRONG = re.compile(r"\*\*([^*]+)\*\*")
_LIMITS = {
    "minimum": "from {}",
    "maximum": "to {}",
    "minLength": "{} characters or more",
    "maxLength": "{} characters at most",
    "minItems": "{} or more",
    "maxItems": "{} at most",
    "pattern": "{}",
    "default": "default {}",
}


def page(document: Json) -> str:
    """The page, as HTML."""
    return pages.render(
        Path(__file__).parent,
        {"prose": prose, "inline": inline, "kind": kind, "limits": limits, "pretty": pretty},
        document=document,
        groups=list(_groups(document)),
        schemas=document["components"]["schemas"],
        follow=lambda node: _followed(document, node),
    )


def _groups(document: Json) -> Iterator[tuple[str, list[Json]]]:
    """Each tag's operations, with their path and method."""
    for tag in document["tags"]:
        found = [
            operation | {"path": path, "method": method}
            for path, methods in document["paths"].items()
            for method, operation in methods.items()
            if tag["name"] in operation["tags"]
        ]
        yield tag["name"], found


def _followed(document: Json, node: Json) -> Json:
    """The target of a reference; any other node as it is."""
    if "$ref" not in node:
        return node
    found: Any = document
    for part in node["$ref"].removeprefix("#/").split("/"):
        found = found[part]
    return dict(found)


def prose(text: str) -> Markup:
    """Paragraphs, dashed lists, `code` and **strong** as HTML."""
    return Markup("").join(_block(block) for block in re.split(r"\n\s*\n", text.strip()))


def _block(text: str) -> Markup:
    lines = text.splitlines()
    if all(line.startswith("- ") for line in lines):
        items = Markup("").join(Markup("<li>{}</li>").format(inline(line[2:])) for line in lines)
        return Markup("<ul>{}</ul>").format(items)
    if text.startswith("## "):
        return Markup("<h3>{}</h3>").format(inline(text[3:]))
    return Markup("<p>{}</p>").format(inline(text))


def inline(text: str) -> Markup:
    """`code` and **strong** as HTML."""
    marked = _CODE.sub(r"<code>\1</code>", str(escape(text)))
    return Markup(_STRONG.sub(r"<strong>\1</strong>", marked))  # noqa: S704 - escaped above


def kind(schema: Json) -> Markup:
    """The type that a schema describes, in short, with links to named schemas."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return Markup('<a href="#schema-{0}">{0}</a>').format(name)
    for several in ("allOf", "anyOf", "oneOf"):
        if several in schema:
            return Markup(" or ").join(map(kind, schema[several]))
    if "enum" in schema:
        return Markup(" | ").join(Markup("<code>{}</code>").format(value) for value in schema["enum"])
    if schema.get("type") == "array":
        return Markup("list of {}").format(kind(schema.get("items", {})))
    if isinstance(schema.get("additionalProperties"), dict):
        return Markup("object of {}").format(kind(schema["additionalProperties"]))
    parts = [str(schema.get("type", "anything")), schema.get("format", "")]
    return Markup("{}").format(" ".join(filter(None, parts)))


def limits(schema: Json) -> str:
    """The bounds of a schema's values, as text."""
    bounds = [text.format(schema[key]) for key, text in _LIMITS.items() if schema.get(key) is not None]
    return ", ".join(bounds)


def pretty(example: Any) -> str:
    """An example, indented if it is JSON."""
    return example if isinstance(example, str) else _indented(example)


def _indented(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()

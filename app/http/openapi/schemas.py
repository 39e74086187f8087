"""JSON schemas of bodies, from msgspec, which decodes and encodes them."""

import re
from collections.abc import Iterable
from inspect import cleandoc
from typing import Any

import msgspec

Json = dict[str, Any]
_REF = "#/components/schemas/"
_TAIL = re.compile(r"_+\Z")


def described(types: Iterable[Any]) -> tuple[dict[Any, Json], dict[str, Json]]:
    """The schema of each type, and the named schemas that these refer to."""
    wanted = list(types)
    found, named = msgspec.json.schema_components(wanted, ref_template=_REF + "{name}")
    schemas = dict(zip(wanted, map(tidy, found), strict=True))
    return schemas, {_TAIL.sub("", name): tidy(schema) for name, schema in sorted(named.items())}


def tidy(node: Any) -> Any:
    """A schema without the generator's artefacts: trailing underscores of names, indented descriptions,
    titles of objects."""
    if isinstance(node, list):
        return [tidy(item) for item in node]
    if not isinstance(node, dict):
        return node
    cleaned = {key: tidy(value) for key, value in node.items()}
    if isinstance(cleaned.get("$ref"), str):
        cleaned["$ref"] = _TAIL.sub("", cleaned["$ref"])
    if isinstance(cleaned.get("mapping"), dict):
        cleaned["mapping"] = {tag: _TAIL.sub("", ref) for tag, ref in cleaned["mapping"].items()}
    if isinstance(cleaned.get("description"), str):
        cleaned["description"] = cleandoc(cleaned["description"])
    if cleaned.get("type") == "object" and isinstance(cleaned.get("title"), str):
        del cleaned["title"]
    return cleaned

"""The shapes of bodies, as the library describes them that reads and writes them."""

import re
from collections.abc import Iterable
from inspect import cleandoc
from typing import Any

import msgspec

Json = dict[str, Any]
_REF = "#/components/schemas/"
_TAIL = re.compile(r"_+\Z")


def described(types: Iterable[Any]) -> tuple[dict[Any, Json], dict[str, Json]]:
    """For each type its schema, and the named schemas that these refer to."""
    wanted = list(types)
    found, named = msgspec.json.schema_components(wanted, ref_template=_REF + "{name}")
    schemas = dict(zip(wanted, map(tidy, found), strict=True))
    return schemas, {_TAIL.sub("", name): tidy(schema) for name, schema in sorted(named.items())}


def tidy(node: Any) -> Any:
    """The same without the generator's marks: underscores that end a name, indented descriptions, titles of
    types, defaults that say nothing."""
    if isinstance(node, list):
        return [tidy(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {key: tidy(value) for key, value in node.items()}
    if isinstance(kept.get("$ref"), str):
        kept["$ref"] = _TAIL.sub("", kept["$ref"])
    if isinstance(kept.get("mapping"), dict):
        kept["mapping"] = {tag: _TAIL.sub("", ref) for tag, ref in kept["mapping"].items()}
    if isinstance(kept.get("description"), str):
        kept["description"] = cleandoc(kept["description"])
    if kept.get("type") == "object" and isinstance(kept.get("title"), str):
        del kept["title"]
    return kept

"""The AsyncAPI document as one HTML page: no scripts, no external resources."""

from pathlib import Path
from typing import Any

from app.http import pages

Json = dict[str, Any]


def page(document: Json) -> str:
    """The page, as HTML."""
    filters = {"kind": kind, "fields": fields}
    return pages.render(Path(__file__).parent, filters, document=document, last=_last)


def _last(reference: Json) -> str:
    return str(reference["$ref"]).rsplit("/", 1)[-1]


def kind(shape: Json) -> str:
    """The type of a value, in short."""
    if "$ref" in shape:
        return _last(shape)
    if shape.get("type") == "array":
        return f"list of {kind(shape.get('items', {}))}"
    if "const" in shape:
        return f"always {shape['const']!r}"
    for several in ("anyOf", "oneOf", "allOf"):
        if several in shape:
            return " or ".join(kind(one) for one in shape[several] if one)
    if "enum" in shape:
        return f"{', '.join(map(str, shape['enum']))}"
    types = shape.get("type", "any")
    return " or ".join(types) if isinstance(types, list) else str(types)


def fields(shape: Json) -> list[tuple[str, str, str, bool]]:
    """Name, type and description of each property, and whether it is required."""
    required = set(shape.get("required", ()))
    return [
        (name, kind(each), each.get("description", ""), name in required)
        for name, each in shape.get("properties", {}).items()
    ]

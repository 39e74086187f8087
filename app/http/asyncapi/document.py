"""Two halves as one AsyncAPI 3.0 document."""

from typing import Any

Json = dict[str, Any]
_PARTS = ("servers", "channels", "operations")


def joined(info: Json, *halves: Json) -> Json:
    """One document of what the channels say of themselves; raises `ValueError` where two say one name."""
    document: Json = {"asyncapi": "3.0.0", "info": info, "defaultContentType": "application/xml"}
    for part in _PARTS:
        document[part] = _merged(half.get(part, {}) for half in halves)
    kinds = sorted({kind for half in halves for kind in half["components"]})
    document["components"] = {
        kind: _merged(half["components"].get(kind, {}) for half in halves) for kind in kinds
    }
    return document


def _merged(parts: Any) -> Json:
    merged: Json = {}
    for part in parts:
        if twice := merged.keys() & part.keys():
            raise ValueError(f"named twice: {', '.join(sorted(twice))}")
        merged |= part
    return merged

"""One AsyncAPI 3.0 document from the parts that the channels provide."""

from typing import Any

Json = dict[str, Any]
_SECTIONS = ("servers", "channels", "operations")


def joined(info: Json, *parts: Json) -> Json:
    """One document from several parts; raises `ValueError` if two use the same name."""
    document: Json = {"asyncapi": "3.0.0", "info": info, "defaultContentType": "application/xml"}
    for section in _SECTIONS:
        document[section] = _merged(part.get(section, {}) for part in parts)
    kinds = sorted({kind for part in parts for kind in part["components"]})
    document["components"] = {
        kind: _merged(part["components"].get(kind, {}) for part in parts) for kind in kinds
    }
    return document


def _merged(parts: Any) -> Json:
    merged: Json = {}
    for part in parts:
        if twice := merged.keys() & part.keys():
            raise ValueError(f"named twice: {', '.join(sorted(twice))}")
        merged |= part
    return merged

"""Responses of a running service, recorded beside the code: the examples of each operation."""

from pathlib import Path

import msgspec

from app.http.openapi.operation import Examples as Examples

FILE = Path(__file__).with_name("examples.json")


def recorded() -> dict[str, Examples]:
    """The recorded responses, by operation and content type."""
    return msgspec.json.decode(FILE.read_bytes(), type=dict[str, Examples]) if FILE.exists() else {}

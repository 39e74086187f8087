"""Answers of a running service, kept beside the code: what an operation's answers look like."""

from pathlib import Path

import msgspec

from app.http.openapi.operation import Examples as Examples

FILE = Path(__file__).with_name("examples.json")


def recorded() -> dict[str, Examples]:
    """The kept answers, by operation and content type."""
    return msgspec.json.decode(FILE.read_bytes(), type=dict[str, Examples]) if FILE.exists() else {}

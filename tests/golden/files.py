"""Where golden files are and which schema each root belongs to."""

from pathlib import Path

DIRECTORY = Path(__file__).parent
SUFFIX = ".xml"
SCHEMAS = DIRECTORY.parents[1] / "schemas"


def golden(name: str) -> bytes:
    """The stored bytes of a sample; a missing file is a plain FileNotFoundError."""
    return (DIRECTORY / f"{name}{SUFFIX}").read_bytes()

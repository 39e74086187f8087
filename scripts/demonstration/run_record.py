"""The record of the demo that runs now, for the command that stops it."""

import os

import msgspec

from scripts.local_services import files
from scripts.local_services.processes import Started, find, start_ticks

from .paths import HOME

_FILE = HOME / "record.json"


class Record(msgspec.Struct):
    """The contents of `var/demo/record.json`."""

    supervisor: Started
    port: int
    #: The service's processes, by name.
    children: dict[str, Started] = {}


def here(port: int) -> Record:
    """A record with this process as the supervisor."""
    return Record(Started("demo", os.getpid(), start_ticks(os.getpid())), port)


def load() -> Record | None:
    """The last record, whether or not that demo still runs."""
    try:
        return msgspec.json.decode(_FILE.read_bytes(), type=Record)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def running() -> Record | None:
    """The record of the demo that runs."""
    record = load()
    return record if record and find(record.supervisor) else None


def save(record: Record) -> None:
    HOME.mkdir(parents=True, exist_ok=True)
    files.replace(_FILE, msgspec.json.format(msgspec.json.encode(record)))


def remove() -> None:
    _FILE.unlink(missing_ok=True)

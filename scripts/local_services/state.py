"""What a directory's private servers are: written after every start, so that a crash forgets none."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from . import files
from .processes import ServiceError, Started


class State(msgspec.Struct):
    """The contents of `services.json`."""

    #: Private servers by setting: `{"DATABASE_URL": "postgresql://…"}`.
    private: dict[str, str] = {}
    #: Every process started, in order.
    processes: list[Started] = []
    #: Ports used last time by name; used again when they are free, so that URLs keep.
    ports: dict[str, int] = {}
    #: Generated passwords by name; they live as long as the directory's data.
    passwords: dict[str, str] = {}


def load(directory: Path) -> State:
    """The state of this directory; empty when there is none."""
    try:
        return msgspec.json.decode((directory / "services.json").read_bytes(), type=State)
    except FileNotFoundError:
        return State()
    except msgspec.DecodeError as error:
        raise ServiceError(
            f"{directory}/services.json cannot be read ({error}); remove {directory}"
        ) from error


def save(directory: Path, state: State) -> None:
    """Write the state so that a reader sees the old or the new one, and only its owner sees passwords."""
    files.replace(directory / "services.json", msgspec.json.format(msgspec.json.encode(state)))


def remember(directory: Path, state: State, started: Started, **urls: str) -> None:
    """Record a new process at once, before anything can go wrong, with the settings that point to it."""
    state.processes.append(started)
    state.private |= urls
    save(directory, state)


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """One starter or stopper at a time in this directory."""
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ServiceError(f"another start or stop is at work in {directory}; wait for it") from error
        yield

"""Child processes that may outlive the script which starts them, known by pid and when they began."""

import pwd
import signal
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

import msgspec
import psutil

from . import ports

#: Handles of our own children: a handle that is collected while its process runs causes a warning.
_children: list[subprocess.Popen[bytes]] = []


class ServiceError(Exception):
    """Something that a person must do first; the text is one line about it."""


class Started(msgspec.Struct, frozen=True):
    """A process that we started: enough to recognise it, and not to confuse it with another of the same
    pid."""

    name: str
    pid: int
    ticks: int  #: `start_ticks` of the process
    #: The signal that ends it in good order.
    ending: int = signal.SIGTERM


def launch(
    name: str,
    command: Sequence[str | Path],
    log: Path,
    *,
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
    user: str | None = None,
    ending: int = signal.SIGTERM,
) -> Started:
    """Start `command` in a session of its own (as `user`, if there is one), its output appended to `log`."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        try:
            child = subprocess.Popen(
                [str(part) for part in command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=None if environment is None else dict(environment),
                cwd=directory,
                start_new_session=True,
                **identity(user),
            )
        except OSError as error:
            raise ServiceError(f"cannot run {command[0]}: {error.strerror}") from error
    _children.append(child)
    return Started(name, child.pid, start_ticks(child.pid), ending)


def await_start(what: str, started: Started, log: Path, ready: Callable[[], bool], *, seconds: float) -> None:
    """Wait until what was started is ready. Raises `ServiceError` with the end of its log where it has ended
    before, or takes longer."""
    if not ports.wait_until(ready, alive=lambda: find(started) is not None, seconds=seconds):
        raise ServiceError(f"{what} did not start: {last_words(log)} (all of it in {log})")


def output_of(
    what: str,
    command: Sequence[str | Path],
    *,
    environment: Mapping[str, str] | None = None,
    directory: str | Path | None = None,
    seconds: float | None = None,
) -> str:
    """Run `command` to its end; what it prints. Where it fails, raises `ServiceError`: `what`, and how its
    complaint ends."""
    done = subprocess.run(
        [str(part) for part in command],
        env=None if environment is None else dict(environment),
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    if done.returncode:
        raise ServiceError(f"{what}: {(done.stderr.strip() or done.stdout.strip())[-500:]}")
    return done.stdout


def identity(user: str | None) -> dict[str, Any]:
    """What `subprocess` needs to run something as `user`; empty for ourselves."""
    if user is None:
        return {}
    return {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []}


def find(started: Started) -> psutil.Process | None:
    """The process, while it lives and is the one that we started."""
    try:
        process = psutil.Process(started.pid)
        same = start_ticks(started.pid) == started.ticks
        return process if same and process.status() != psutil.STATUS_ZOMBIE else None
    except (psutil.NoSuchProcess, FileNotFoundError, ProcessLookupError):
        return None


def start_ticks(pid: int) -> int:
    """When the process began, in clock ticks since the boot (proc(5), `starttime`). Seconds since the epoch,
    which psutil returns, are another number once the clock was set."""
    _, _, after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")
    return int(after_name.split()[19])


def stop(processes: Iterable[Started], *, patience: float = 20.0) -> list[str]:
    """End these processes together and wait until they are gone; the names of those that had to be killed.

    A process that is no longer ours (ended, or its pid reused by another) is left alone.
    """
    ours = [(started, process) for started in processes if (process := find(started))]
    descendants = [child for _, process in ours for child in _descendants(process)]
    for started, process in ours:
        _signal(process, started.ending)
    deadline = monotonic() + patience
    _, stubborn = psutil.wait_procs([process for _, process in ours], timeout=patience)
    for process in stubborn:
        _signal(process, signal.SIGKILL)
    _, orphans = psutil.wait_procs(descendants, timeout=max(0.5, min(2.0, deadline - monotonic())))
    for process in orphans:
        _signal(process, signal.SIGKILL)
    psutil.wait_procs([*stubborn, *orphans], timeout=5)
    _children[:] = [child for child in _children if child.poll() is None]
    return [started.name for started, process in ours if process in stubborn]


def _descendants(process: psutil.Process) -> list[psutil.Process]:
    try:
        found: list[psutil.Process] = process.children(recursive=True)
    except psutil.NoSuchProcess:
        return []
    return found


def _signal(process: psutil.Process, number: int) -> None:
    try:
        process.send_signal(number)
    except psutil.NoSuchProcess:
        return


def last_words(log: Path) -> str:
    """The last line of a log, for an error message; of our own structured lines only the event."""
    if not log.exists():
        return "no output"
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return _event(lines[-1])[-400:] if lines else "no output"


def _event(line: str) -> str:
    try:
        fields = msgspec.json.decode(line)
    except msgspec.DecodeError:
        return line
    return str(fields.get("event", line)) if isinstance(fields, dict) else line

"""Runs the whole service with a simulated match day; `scripts/demo` calls it.

Without options it runs until Ctrl-C. What it prints at the end is also in `var/demo.json`.
"""

import argparse
import os
import shutil
import sys
from pathlib import Path
from time import monotonic, sleep

from scripts import services
from scripts.demonstration import run_record as records
from scripts.demonstration.paths import BOOKMAKER, DESCRIPTION, ENVIRONMENT, HOME, LOGS, ROOT
from scripts.demonstration.run_record import Record
from scripts.demonstration.welcome import welcome
from scripts.local_services import ports, processes
from scripts.local_services.output import print_line
from scripts.local_services.processes import ServiceError, Started, find, launch

#: The supervisor itself gives up earlier, with a reason.
_DETACH_SECONDS = 600.0
_STOP_SECONDS = 90.0


def main() -> None:
    options = _options()
    try:
        if options.stop:
            _stop()
        elif (present := records.running()) and not options.reset:
            _show_running(present)
        else:
            _start(options)
    except ServiceError as error:
        raise SystemExit(f"demo: {error}") from error


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/demo", description="The service with a simulated match day"
    )
    parser.add_argument("--detach", action="store_true", help="return once it is ready; it goes on running")
    parser.add_argument("--stop", action="store_true", help="end a running demo")
    parser.add_argument("--reset", action="store_true", help="forget everything of earlier runs first")
    parser.add_argument("--port", type=int, default=8000, help="the API's port (default: 8000)")
    options = parser.parse_args()
    if options.stop and (options.detach or options.reset):
        parser.error("--stop stands alone")
    return options


def _start(options: argparse.Namespace) -> None:
    if options.reset:
        if records.running():
            _stop()
        _forget()
    _clean_up()
    if not ports.is_free(options.port):
        raise ServiceError(
            f"port {options.port} is taken; end what listens there, or choose another with --port"
        )
    if options.detach:
        _detach(options)
        return
    # The demo runs in a program of its own, so that this one starts quickly.
    os.execv(sys.executable, _supervisor(options))


def _supervisor(options: argparse.Namespace, *more: str) -> list[str]:
    reset = ["--reset"] if options.reset else []
    return [sys.executable, "-m", "scripts.demonstration", "--port", str(options.port), *reset, *more]


def _clean_up() -> None:
    """End what a supervisor that was killed has left."""
    if left := records.load():
        processes.stop(left.children.values())
        services.stop(HOME)
        for file in (DESCRIPTION, ENVIRONMENT, BOOKMAKER):
            file.unlink(missing_ok=True)
        records.remove()


def _forget() -> None:
    """Drop data and logs of earlier runs; what lies on servers of others is dropped once they are found."""
    for directory in (HOME, LOGS):
        shutil.rmtree(directory, ignore_errors=True)


def _detach(options: argparse.Namespace) -> None:
    """Start a supervisor in a session of its own and show its output until it is ready or has ended."""
    log = LOGS / "demo.log"
    shown = log.stat().st_size if log.exists() else 0
    started = launch("demo", _supervisor(options, "--quiet"), log, directory=ROOT)
    try:
        deadline = monotonic() + _DETACH_SECONDS
        while find(started) and not DESCRIPTION.exists() and monotonic() < deadline:
            shown = _show(log, shown)
            sleep(0.1)
    except KeyboardInterrupt:
        _end(started)
        raise SystemExit("demo: interrupted; nothing is left running") from None
    shown = _show(log, shown)
    if find(started) and DESCRIPTION.exists():
        welcome()
        return
    _end(started)
    raise SystemExit(1)


def _show(log: Path, shown: int) -> int:
    """Print what has been added to the log since `shown` bytes; how many there are now."""
    text = log.read_bytes()[shown:]
    print_line(text.decode(errors="replace"), end="")
    return shown + len(text)


def _stop() -> None:
    """End the running demo, and whatever one that was killed has left."""
    present = records.running()
    if present:
        print_line("stopping the demo")
        _end(present.supervisor)
    elif not records.load():
        print_line("no demo is running")
    _clean_up()


def _end(supervisor: Started) -> None:
    if processes.stop([supervisor], patience=_STOP_SECONDS):
        _clean_up()


def _show_running(present: Record) -> None:
    print_line(f"the demo is already running on port {present.port}; ./scripts/demo --stop ends it")
    if DESCRIPTION.exists():
        welcome()


if __name__ == "__main__":
    main()

"""Certifies a client on servers of its own where none run; `scripts/certify` calls it with the options of
`matchfeed certify`."""

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from app.cli.certify_commands import certify
from scripts import services

ROOT = Path(__file__).resolve().parents[1]
DIRECTORY = ROOT / "var" / "certify" / "services"


def main() -> None:
    """Exits as the command does. `--help`, `--list` and `--verify` need no servers."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: servers that it has started end
    try:
        if {"--help", "--list", "--verify"}.isdisjoint(sys.argv[1:]):
            _check(sys.argv[1:])
            with _alone(), services.running(DIRECTORY):
                sys.exit(_certify())
        sys.exit(_certify())
    except KeyboardInterrupt:
        sys.exit("scripts/certify: interrupted before the certification began")


def _check(options: list[str]) -> None:
    """Refuse wrong options before servers are started for them."""
    try:
        certify.make_context("scripts/certify", list(options))
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)


@contextmanager
def _alone() -> Iterator[None]:
    """A second run of this checkout would stop the servers of the first one."""
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    with (DIRECTORY.parent / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit("scripts/certify: another certification runs in this checkout; wait for it")
        yield


def _certify() -> int:
    """Its exit status. From its start on a signal is for the command alone, which ends what it has started
    and says so; servers end after it."""
    paths = (str(ROOT), str(ROOT / "scripts" / "client"), os.environ.get("PYTHONPATH", ""))
    command = subprocess.Popen(
        [sys.executable, "-m", "app.cli", "certify", *sys.argv[1:]],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _: command.send_signal(received))
    return command.wait()


if __name__ == "__main__":
    main()

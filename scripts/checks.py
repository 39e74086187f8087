"""What `scripts/test` does once the environment stands: quick checks beside all tests, then a summary.

The last line is pytest's own.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic

import msgspec

from scripts import services
from scripts.local_services.processes import ServiceError

ROOT = Path(__file__).resolve().parents[1]
BINARIES = Path(sys.executable).parent
DIRECTORY = ROOT / "var" / "test"
#: nox sessions that need no servers; each is seconds.
QUICK = ("lint", "types", "contracts", "codegen-check")
#: Each opens connections and databases of its own on one server.
MOST_WORKERS = 4


class Outcome(msgspec.Struct, frozen=True):
    """How one check ended: `note` is its closing line."""

    name: str
    passed: bool
    seconds: float
    note: str = ""


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))
    began = monotonic()
    try:
        with ThreadPoolExecutor(1) as pool:  # servers that start leave a processor idle
            quick = pool.map(_quick, QUICK)
            tests = _tests(sys.argv[1:])
            outcomes = [*quick, tests]
    except ServiceError as error:
        raise SystemExit(f"scripts/test: {error}") from error
    except KeyboardInterrupt:
        raise SystemExit("scripts/test: interrupted") from None
    _summary(outcomes, monotonic() - began)
    sys.exit(not all(outcome.passed for outcome in outcomes))


def _environment(**extra: str) -> dict[str, str]:
    """The surroundings of a check. Bytecode is written, whatever the user's wish: tests start many
    processes, each of which would compile the whole service."""
    path = f"{BINARIES}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    found = os.environ | {"PATH": path} | extra
    found.pop("PYTHONDONTWRITEBYTECODE", None)
    return found


def _quick(name: str) -> Outcome:
    """Run a nox session; its output is shown only when it fails."""
    began = monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "nox", "--session", name],
        cwd=ROOT,
        env=_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        print(f"== {name}\n{done.stdout}", flush=True)
    return Outcome(name, done.returncode == 0, monotonic() - began)


def _tests(arguments: Sequence[str]) -> Outcome:
    print("== tests", flush=True)
    began = monotonic()
    try:
        # With fewer schedulers than cores the broker would wait for a core behind the tests' processes.
        found = services.start(DIRECTORY, services.wanted(), schedulers=0)
        environment = _environment(MATCHFEED_SERVICES="running", **found.environment())
        status, closing = _pytest(arguments, environment)
    finally:
        services.stop(DIRECTORY)
    return Outcome("tests", status == 0, monotonic() - began, closing)


def _pytest(arguments: Sequence[str], environment: dict[str, str]) -> tuple[int, str]:
    """Run pytest with its output shown as it comes; its status and closing line."""
    closing = ""
    command = [sys.executable, "-m", "pytest", "--hypothesis-profile=gate", *_workers(), *arguments]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        while chunk := os.read(running.stdout.fileno(), 65536):
            sys.stdout.buffer.write(chunk)
            sys.stdout.buffer.flush()
            closing = (closing + chunk.decode(errors="replace"))[-2000:]
    lines = [line for line in closing.splitlines() if line.strip()]
    return running.returncode, lines[-1] if lines else "pytest printed nothing"


def _workers() -> tuple[str, ...]:
    """Tests run side by side, but those that kill processes one after the other (`tests/conftest.py`): their
    worker waits most of the time, and others wait for servers, so there are two more than the processors
    could run."""
    return ("-n", str(min((os.cpu_count() or 2) + 2, MOST_WORKERS)), "--dist", "loadscope")


def _summary(outcomes: Sequence[Outcome], seconds: float) -> None:
    print(f"\n== summary, {seconds:.0f} s in all")
    for outcome in outcomes:
        print(f"{'ok    ' if outcome.passed else 'FAILED'} {outcome.name:14} {outcome.seconds:6.1f} s")
    print(outcomes[-1].note, flush=True)


if __name__ == "__main__":
    main()

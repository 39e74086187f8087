"""Runs the whole service with a simulated match day; `scripts/demo` calls it.

Without options it runs until Ctrl-C. What it prints at the end is also in `var/demo.json`.
"""

import argparse
import shutil
import sys
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import msgspec

from scripts import services
from scripts.demonstration import record as records
from scripts.demonstration import supervisor
from scripts.demonstration.places import DESCRIPTION, ENVIRONMENT, HOME, LOGS, ROOT
from scripts.demonstration.record import Record
from scripts.housekeeping import ports, processes
from scripts.housekeeping.processes import ServiceError, Started, find, launch

#: The supervisor itself gives up earlier, with a reason.
_DETACH_SECONDS = 600.0
_STOP_SECONDS = 90.0


def main() -> None:
    options = _options()
    try:
        if options.stop:
            _stop()
        elif (present := records.running()) and not options.reset:
            _tell_running(present)
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
    parser.add_argument("--supervised", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.stop and (options.detach or options.reset):
        parser.error("--stop stands alone")
    return options


def _start(options: argparse.Namespace) -> None:
    if options.reset and not options.supervised:
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
    ready = _say_ready if options.supervised else _welcome
    supervisor.run(options.port, reset=options.reset, say=_say, ready=ready)


def _clean_up() -> None:
    """End what a supervisor that was killed has left."""
    if left := records.load():
        processes.stop(left.children.values())
        services.stop(HOME)
        for told in (DESCRIPTION, ENVIRONMENT):
            told.unlink(missing_ok=True)
        records.remove()


def _forget() -> None:
    """Drop data and logs of earlier runs; what lies on servers of others is dropped once they are found."""
    for directory in (HOME, LOGS):
        shutil.rmtree(directory, ignore_errors=True)


def _detach(options: argparse.Namespace) -> None:
    """Start a supervisor of its own session and show what it says until it is ready or gone."""
    log = LOGS / "demo.log"
    shown = log.stat().st_size if log.exists() else 0
    asked = ["--supervised", "--port", str(options.port), *(["--reset"] if options.reset else [])]
    started = launch("demo", [sys.executable, __file__, *asked], log, directory=ROOT)
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
        _welcome()
        return
    _end(started)
    raise SystemExit(1)


def _show(log: Path, shown: int) -> int:
    """Print what has been added to the log since `shown` bytes; how many there are now."""
    text = log.read_bytes()[shown:]
    sys.stdout.write(text.decode(errors="replace"))
    sys.stdout.flush()
    return shown + len(text)


def _stop() -> None:
    """End the running demo, and whatever one that was killed has left."""
    present = records.running()
    if present:
        _say("stopping the demo")
        _end(present.supervisor)
    elif not records.load():
        _say("no demo is running")
    _clean_up()


def _end(supervisor: Started) -> None:
    if processes.stop([supervisor], patience=_STOP_SECONDS):
        _clean_up()


def _say(line: str) -> None:
    print(line, flush=True)


def _say_ready() -> None:
    """In the log there are no keys."""
    _say("ready")


def _tell_running(present: Record) -> None:
    _say(f"the demo is already running on port {present.port}; ./scripts/demo --stop ends it")
    if DESCRIPTION.exists():
        _welcome()


def _welcome() -> None:
    """What a visitor needs first."""
    demo: dict[str, Any] = msgspec.json.decode(DESCRIPTION.read_bytes())
    _say(f"\nready: {demo['base_url']}   (WebSocket {demo['ws_url']}; everything below is in var/demo.json)")
    for tenant in demo["tenants"]:
        _say(f"  {tenant['slug']:10} key {tenant['api_key']}")
        if tenant["amqp_url"]:
            _say(f"  {'':10} AMQP {tenant['amqp_url']}  exchange {demo['exchange']}")
    _say(f"  {'operator':10} key {demo['operator_key']}")
    key = demo["tenants"][0]["api_key"]
    _say(f"try:  curl -H 'X-Api-Key: {key}' '{demo['base_url']}/cs2/v1/matches?status=live'")
    _say("      .venv/bin/python scripts/consumer.py acme")
    _say("end:  Ctrl-C, or ./scripts/demo --stop when detached")


if __name__ == "__main__":
    main()

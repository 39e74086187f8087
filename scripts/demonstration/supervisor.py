"""The process that runs the demo: starts everything, keeps it going, ends exactly what it started."""

import os
import secrets
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from time import monotonic, sleep
from typing import Any

import httpx
import msgspec

from scripts import services
from scripts.housekeeping import ports
from scripts.housekeeping.processes import ServiceError, last_words
from scripts.services import Services

from . import promise, remains
from . import record as records
from .family import Family
from .places import DATABASE, DESCRIPTION, ENVIRONMENT, HOME, INTERNAL_VHOST, LOGS, ROOT

Say = Callable[[str], None]
#: It takes some 30 s; on a machine with much else to do it may take longer.
_PATIENCE_SECONDS = 150.0
_TEND_SECONDS = 1.0
_EXCHANGE, _PRODUCER = "oddsfeed", 2


def run(port: int, *, reset: bool, say: Say, ready: Callable[[], None]) -> None:
    """Run the demo until SIGINT, SIGTERM or SIGHUP; nothing that it started is left afterwards.

    `ready` is called once, when `var/demo.json` is there for clients.
    Raises `ServiceError` when it cannot start, or when a process of it keeps dying.
    """
    record = records.here(port)
    HOME.mkdir(parents=True, exist_ok=True)
    LOGS.mkdir(parents=True, exist_ok=True)
    records.save(record)
    family: Family | None = None
    with _stop_event() as stopping:
        try:
            found = services.start(HOME, services.wanted(), say)
            _interrupted(stopping)
            if reset:
                remains.remove(found)
            settings = _settings(found, port)
            environment = os.environ | settings
            description = _prepare(found, environment, port, say)
            # By the environment, which other users cannot read, unlike a command line.
            environment["MATCHFEED_OPERATOR_KEY"] = description["operator_key"]
            family = Family(record, environment, say)
            _interrupted(stopping)
            _write(ENVIRONMENT, _exports(settings))
            _open(family, description, port, stopping, say)
            ready()
            while not stopping.wait(_TEND_SECONDS):
                _tend(family, say)
        except _Interrupted:
            pass
        finally:
            _end(family, say)


class _Interrupted(Exception):
    """Asked to stop while still starting."""


def _interrupted(stopping: Event) -> None:
    if stopping.is_set():
        raise _Interrupted


@contextmanager
def _stop_event() -> Iterator[Event]:
    """An event that the signals set which end the demo."""
    stopping = Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: stopping.set())
    yield stopping


def _settings(found: Services, port: int) -> dict[str, str]:
    """Settings of the demo's processes."""
    secret = HOME / "secret"
    if not secret.exists():
        secret.touch(mode=0o600)
        secret.write_text(secrets.token_urlsafe(32))
    own = {
        "DATABASE_URL": remains.database_url(found),
        "RABBITMQ_INTERNAL_VHOST": INTERNAL_VHOST,
        "EXCHANGE": _EXCHANGE,
        "PRODUCER_ID": str(_PRODUCER),
        "PUBLIC_URL": f"http://{ports.LOOPBACK}:{port}",
        "SECRET_KEY": secret.read_text(),
    }
    return found.environment() | own


def _exports(settings: Mapping[str, str]) -> bytes:
    """The settings as a shell reads them."""
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in settings.items()).encode()


def _write(file: Path, content: bytes) -> None:
    """Whole or not at all, and for its owner only: it holds secrets."""
    draft = file.with_suffix(".new")
    draft.touch(mode=0o600)
    draft.write_bytes(content)
    draft.replace(file)


def _prepare(found: Services, environment: dict[str, str], port: int, say: Say) -> dict[str, Any]:
    """Schema, tenants and keys; what clients need to know of them."""
    say(f"migrating the database {DATABASE}")
    _command(environment, "migrate")
    say("creating tenants, keys and vhosts")
    tenants = HOME / "tenants.json"
    _command(environment, "demo-tenants", "--output", str(tenants))
    made = msgspec.json.decode(tenants.read_bytes())
    tenants.unlink()
    return {
        "base_url": f"http://{ports.LOOPBACK}:{port}",
        "ws_url": f"ws://{ports.LOOPBACK}:{port}",
        "exchange": _EXCHANGE,
        "producer_id": _PRODUCER,
        "operator_key": made["operator_key"],
        "log_sink_url": f"http://{ports.LOOPBACK}:{port}/ops/v1/matches/{{match_id}}/log?token={{token}}",
        "rabbitmq_api": found.rabbitmq_api_url,
        "tenants": made["tenants"],
    }


def _command(environment: dict[str, str], *arguments: str) -> None:
    log = LOGS / "setup.log"
    with log.open("ab") as output:
        done = subprocess.run(
            [sys.executable, "-m", "app.cli", *arguments],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            check=False,
        )
    if done.returncode:
        raise ServiceError(f"matchfeed {arguments[0]} failed: {last_words(log)} (all of it in {log})")


def _open(family: Family, description: dict[str, Any], port: int, stopping: Event, say: Say) -> None:
    """Start the service and the match day, wait until the promise is kept, then tell clients."""
    say(f"starting API on port {port}, feed and ingest")
    family.start("web", "serve", "--port", str(port))
    family.start("ingest", "ingest")
    family.start("feed", "feed")
    key = next(tenant["api_key"] for tenant in description["tenants"] if tenant["slug"] == "acme")
    with httpx.Client(
        base_url=description["base_url"], headers={"X-Api-Key": key}, timeout=5, trust_env=False
    ) as client:
        _wait("the API answers", lambda: promise.unanswered(client), family, stopping)
        say("starting the match day")
        family.start("simulator", "simulate", "--matchday", "--base-url", description["base_url"])
        _wait("the match day is under way", lambda: promise.lacking(client), family, stopping)
    _write(DESCRIPTION, msgspec.json.format(msgspec.json.encode(description)) + b"\n")


def _wait(what: str, missing: Callable[[], str], family: Family, stopping: Event) -> None:
    """Ask until nothing is missing any more; `ServiceError` says what still was after a long time."""
    deadline = monotonic() + _PATIENCE_SECONDS
    while why := missing():
        _interrupted(stopping)
        family.tend()
        if monotonic() > deadline:
            raise ServiceError(
                f"waited {_PATIENCE_SECONDS:.0f} s in vain until {what}: {why}; see the logs in {LOGS}"
            )
        sleep(0.5)


def _tend(family: Family, say: Say) -> None:
    """Private servers first: the service's processes wait for them by themselves."""
    if services.lost(HOME):
        say("a private server has ended; starting it again")
        services.start(HOME, services.wanted(), say)
    family.tend()
    family.trim_logs()


def _end(family: Family | None, say: Say) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    for told in (DESCRIPTION, ENVIRONMENT):
        told.unlink(missing_ok=True)
    if family is not None:
        say("stopping the service")
        family.end()
    services.stop(HOME, say)
    records.remove()

"""The process that runs the demo: starts everything, restarts what dies, ends exactly what it started."""

import os
import secrets
import shlex
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from pathlib import Path
from threading import Event
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import msgspec

from app import settings as settings_of_processes
from app.broker.permissions import SDK_EXCHANGE
from scripts import services
from scripts.local_services import files, ports, postgresql
from scripts.local_services.certificates import certificate_in
from scripts.local_services.processes import ServiceError
from scripts.services import KeyStore, Services

from . import run_record as records
from .paths import BOOKMAKER, DATABASE, DESCRIPTION, ENVIRONMENT, HOME, INTERNAL_VHOST, LOGS, VAR
from .service_processes import ServiceProcesses

if TYPE_CHECKING:
    from .preparation import Preparation

Notify = Callable[[str], None]
#: It takes some 30 s; on a machine with much else to do it may take longer.
_PATIENCE_SECONDS = 150.0
_TEND_SECONDS = 0.25
_POLL_SECONDS = 0.1
_PREPARATION = "scripts.demonstration.preparation"
_EXCHANGE, _PRODUCER = "oddsfeed", 2
_ENOUGH = 3  #: matches of each kind


def run(port: int, *, reset: bool, notify: Notify, ready: Callable[[], None]) -> None:
    """Run the demo until SIGINT, SIGTERM or SIGHUP; nothing that it started is left afterwards.

    `ready` is called once, when `var/demo.json` is there for clients.
    Raises `ServiceError` when it cannot start, or when a process of it keeps dying.
    """
    record = records.here(port)
    HOME.mkdir(parents=True, exist_ok=True)
    LOGS.mkdir(parents=True, exist_ok=True)
    records.save(record)
    demo = _Demo(record, notify)
    with _stop_event() as stopping:
        try:
            demo.start(stopping, reset=reset)
            ready()
            while not stopping.wait(_TEND_SECONDS):
                demo.tend()
        except _Interrupted:
            pass
        finally:
            demo.end()


class _Demo:
    """What was started so far, for `end` to end it, however far that is."""

    def __init__(self, record: records.Record, notify: Notify) -> None:
        self._record, self._notify = record, notify
        self._preparation: Preparation | None = None
        self._processes: ServiceProcesses | None = None

    def start(self, stopping: Event, *, reset: bool) -> None:
        """Start everything, and wait until there is something to see. While a private broker boots, all is
        done that does not need it; our processes wait for it by themselves."""
        notify, port = self._notify, self._record.port
        with _servers(notify) as found:
            _interrupted(stopping)
            settings = _settings(found, port, *ports.free_ports([port + 1, port + 2]))
            environment = os.environ | settings
            loaded = settings_of_processes.load(dict(environment))
            # Imported only now that the broker boots: it takes as long as the start of a process.
            preparation: Preparation = import_module(_PREPARATION).Preparation(found, loaded, reset=reset)
            self._preparation = preparation
            if not found.amqps_url:  # a broker that others may use as well; it answers already
                preparation.claim()
            notify(f"migrating the database {DATABASE}, creating tenants, keys and vhosts")
            preparation.migrate()
            description = _description(found, environment, port)
            self._processes = processes = ServiceProcesses(self._record, environment, notify)
            _interrupted(stopping)
            _start_service(processes, description, port, notify)
            description |= preparation.make_keys()
            # By the environment, which other users cannot read, unlike a command line.
            environment["MATCHFEED_OPERATOR_KEY"] = description["operator_key"]
            processes.start("simulator", "simulate", "--matchday", "--base-url", description["base_url"])
        _interrupted(stopping)
        if found.amqps_url:
            preparation.claim()
        preparation.make_vhosts(description)
        processes.start("feed", "feed", metrics_port=_port(description["metrics"]["feed"]))
        # The key is in the fragment, which no browser sends anywhere.
        description["board"]["url"] = f"{description['base_url']}/#key={description['board']['api_key']}"
        files.replace(ENVIRONMENT, _exports(settings))
        _await_play(processes, description, stopping, notify)
        files.replace(DESCRIPTION, msgspec.json.format(msgspec.json.encode(description)) + b"\n")
        processes.start("bookmaker", module="scripts.demonstration.bookmaker")

    def tend(self) -> None:
        """Private servers first: the service's processes wait for them by themselves."""
        if services.lost(HOME):
            self._notify("a private server has ended; starting it again")
            with _servers(self._notify):
                pass
        if self._processes is not None:
            self._processes.restart_dead()
            self._processes.trim_logs()

    def end(self) -> None:
        """End exactly what was started."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        for file in (DESCRIPTION, ENVIRONMENT, BOOKMAKER):
            file.unlink(missing_ok=True)
        if self._processes is not None:
            self._notify("stopping the service")
            self._processes.end()
        if self._preparation is not None:
            self._preparation.release()
        services.stop(HOME, self._notify)
        records.remove()


class _Interrupted(Exception):
    """A request to stop arrived while it was still starting."""


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


def _servers(notify: Notify) -> AbstractContextManager[Services]:
    """The servers to use, as `services.starting` yields them. A private broker is reached over TLS too, and
    lets our keys log in; of another one neither is known."""
    wanted = msgspec.structs.replace(services.wanted(), amqps_url="")
    return services.starting(HOME, wanted, notify, keys=KeyStore(DATABASE, _secret()))


def _secret() -> str:
    secret = HOME / "secret"
    if not secret.exists():
        secret.touch(mode=0o600)
        secret.write_text(secrets.token_urlsafe(32))
    return secret.read_text()


def _settings(found: Services, port: int, operator_port: int, sdk_port: int) -> dict[str, str]:
    """Settings of the demo's processes."""
    certificate = certificate_in(Path(found.tls_directory))
    own = {
        "DATABASE_URL": postgresql.named(found.database_url, DATABASE),
        "RABBITMQ_INTERNAL_VHOST": INTERNAL_VHOST,
        "EXCHANGE": _EXCHANGE,
        "PRODUCER_ID": str(_PRODUCER),
        "PUBLIC_URL": f"http://{ports.LOOPBACK}:{port}",
        "OPERATOR_PORT": str(operator_port),
        "SDK_PORT": str(sdk_port),
        "SDK_PUBLIC_URL": f"https://{ports.LOOPBACK}:{sdk_port}",
        "SDK_CERTIFICATE_FILE": str(certificate.certificate),
        "SDK_PRIVATE_KEY_FILE": str(certificate.key),
        "SANDBOX": "true",
        "SECRET_KEY": _secret(),
        "BOARD_REPORT": str(BOOKMAKER),
        # By this `matchfeed fault` knows that what it breaks is a demo.
        "MATCHFEED_DEMO": str(VAR),
    }
    return found.environment() | own


def _exports(settings: Mapping[str, str]) -> bytes:
    """The settings as a shell reads them."""
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in settings.items()).encode()


def _description(found: Services, environment: Mapping[str, str], port: int) -> dict[str, Any]:
    """Where clients find everything; keys are added when they are made."""
    return {
        "base_url": f"http://{ports.LOOPBACK}:{port}",
        "operator_url": f"http://{ports.LOOPBACK}:{environment['OPERATOR_PORT']}",
        "ws_url": f"ws://{ports.LOOPBACK}:{port}",
        "portal_url": f"http://{ports.LOOPBACK}:{port}/portal",
        "console_url": f"http://{ports.LOOPBACK}:{environment['OPERATOR_PORT']}/console",
        "exchange": _EXCHANGE,
        "producer_id": _PRODUCER,
        "sdk": _sdk(found, environment["SDK_PUBLIC_URL"]),
        "metrics": _metrics(port),
        "log_sink_url": f"http://{ports.LOOPBACK}:{port}/ops/v1/matches/{{match_id}}/log?token={{token}}",
        "rabbitmq_api": found.rabbitmq_api_url,
    }


def _metrics(port: int) -> dict[str, str]:
    """Where each process serves its metrics."""
    processes = ("web", "ingest", "feed")
    found = ports.free_ports([port + 3 + index for index in range(len(processes))])
    return {
        name: f"http://{ports.LOOPBACK}:{own}/metrics" for name, own in zip(processes, found, strict=True)
    }


def _sdk(found: Services, public_url: str) -> dict[str, Any] | None:
    """What existing odds-feed clients are configured with (docs/compatibility.md), beside a tenant's key;
    None where the broker is not ours."""
    if not found.amqps_url:
        return None
    broker = urlsplit(found.amqps_url)
    return {
        "api_url": f"{public_url}/v1",
        "mq_host": broker.hostname,
        "mq_port": broker.port,
        "ca_file": str(Path(found.tls_directory) / "ca.pem"),
        "exchange": SDK_EXCHANGE,
    }


def _start_service(
    processes: ServiceProcesses, description: Mapping[str, Any], port: int, notify: Notify
) -> None:
    """Start what can wait for a broker that boots; the web process takes the longest."""
    operators = _port(description["operator_url"])
    notify(f"starting API on port {port} (operators' on {operators}), feed, ingest and a match day")
    metrics = description["metrics"]
    processes.start("web", "serve", "--port", str(port), metrics_port=_port(metrics["web"]))
    processes.start("ingest", "ingest", metrics_port=_port(metrics["ingest"]))


def _port(url: str) -> int:
    return urlsplit(url).port or 0


def _await_play(
    processes: ServiceProcesses, description: Mapping[str, Any], stopping: Event, notify: Notify
) -> None:
    """Wait until the match day is under way."""
    key = next(tenant["api_key"] for tenant in description["tenants"] if tenant["slug"] == "acme")
    with httpx.Client(
        base_url=description["base_url"], headers={"X-Api-Key": key}, timeout=5, trust_env=False
    ) as client:
        _wait("the API answers", lambda: _unanswered(client), processes, stopping)
        notify("waiting for the match day to be under way")
        _wait("the match day is under way", lambda: _lacking(client), processes, stopping)


def _wait(what: str, missing: Callable[[], str], processes: ServiceProcesses, stopping: Event) -> None:
    """Poll until nothing is missing; after a long time `ServiceError` has what still is."""
    deadline = monotonic() + _PATIENCE_SECONDS
    while why := missing():
        _interrupted(stopping)
        processes.restart_dead()
        if monotonic() > deadline:
            raise ServiceError(
                f"waited {_PATIENCE_SECONDS:.0f} s in vain until {what}: {why}; see the logs in {LOGS}"
            )
        sleep(_POLL_SECONDS)


class MatchCounts(msgspec.Struct, frozen=True):
    """How many matches there are of each kind; `live` counts those with an open market."""

    live: int
    upcoming: int
    finished: int

    def lacking(self) -> str:
        """Empty when these are enough, else what there is so far."""
        if min(self.live, self.upcoming, self.finished) >= _ENOUGH:
            return ""
        return (
            f"{self.live} live with open markets, {self.upcoming} upcoming, {self.finished} finished so far"
        )


def _unanswered(client: httpx.Client) -> str:
    """Empty when the web process serves the key that `client` sends, else what is wrong."""
    try:
        client.get("/v1/alive").raise_for_status()
    except httpx.HTTPError as error:
        return str(error) or type(error).__name__
    return ""


def _lacking(client: httpx.Client) -> str:
    """Empty when a tenant's key finds enough matches over REST, else what it finds so far."""
    try:
        return _match_counts(client).lacking()
    except httpx.HTTPError as error:
        return str(error) or type(error).__name__


def _match_counts(client: httpx.Client) -> MatchCounts:
    """With few calls: the key has a rate limit."""
    live = _listing(client, "live")
    upcoming, finished = len(_listing(client, "upcoming")), len(_listing(client, "finished"))
    if min(len(live), upcoming, finished) < _ENOUGH:
        return MatchCounts(len(live), upcoming, finished)
    return MatchCounts(sum(_is_open(client, match["id"]) for match in live), upcoming, finished)


def _listing(client: httpx.Client, status: str) -> list[dict[str, Any]]:
    answer = client.get("/cs2/v1/matches", params={"status": status, "limit": 10}).raise_for_status()
    rows: list[dict[str, Any]] = answer.json()["data"]
    return rows


def _is_open(client: httpx.Client, match_id: str) -> bool:
    """Whether some market of the match is on offer."""
    answer = client.get(f"/cs2/v1/matches/{match_id}").raise_for_status()
    return any(market["status"] == "active" for market in answer.json()["data"].get("markets", ()))

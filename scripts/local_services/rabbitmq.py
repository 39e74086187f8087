"""RabbitMQ: one that runs with the management plugin, or a private broker beside it.

A private broker shares the installed binaries and nothing else: own node, ports, directories, cookie and
plugin list, on loopback. Its Erlang port mapper (epmd) is its own too, on its own port: one that the
broker started by itself would stay behind when it ends. So is `matchfeed broker-authorisation`, which
authorises tenants' operations for it.
"""

import asyncio
import os
import re
import secrets
import sys
from collections.abc import Callable, Mapping
from hashlib import blake2b
from pathlib import Path
from urllib.parse import quote, urlsplit

import aio_pika
import httpx
import msgspec

from app.broker.permissions import AuthorisationMode

from . import ports
from .certificates import Certificate
from .processes import ServiceError, Started, await_start, find, last_words, launch, output_of
from .rabbitmq_node import USER, BrokerNode, half_of_cores
from .rabbitmq_package import Programs, programs
from .state import State, load, remember

_ROOT = Path(__file__).resolve().parents[2]
_AUTHORISATION = "broker-authorisation"
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def usable(url: str, api_url: str, authorisation: AuthorisationMode, notify: Callable[[str], None]) -> bool:
    """Whether a broker answers at `url` whose management API at `api_url` lets us administer it, and which
    requests our decision about tenants' rights."""
    parts = urlsplit(url)
    where = f"{parts.hostname}:{parts.port or 5672}"
    if not ports.answers(parts.hostname or ports.LOOPBACK, parts.port or 5672):
        return False
    unauthorised = "" if authorisation == "http" else "it does not ask us what tenants may do"
    if why := _unsuitable(api_url) or unauthorised:
        notify(f"RabbitMQ at {where} is left alone: {why}; a private broker is started beside it")
        return False
    try:
        asyncio.run(_log_in(url))
    except (aio_pika.exceptions.AMQPError, OSError, TimeoutError) as error:
        raise ServiceError(
            f"RabbitMQ at {where} refuses us ({error}); set RABBITMQ_URL to its account"
        ) from error
    return True


async def _log_in(url: str) -> None:
    async with await aio_pika.connect(url, timeout=5):
        return


def _unsuitable(api_url: str) -> str:
    """Why the management API there does not serve us, briefly; empty when it does."""
    parts = urlsplit(api_url)
    try:
        answer = httpx.get(f"{api_url.rstrip('/')}/api/whoami", timeout=5)
    except httpx.HTTPError:
        return f"its management plugin does not answer on port {parts.port}"
    if answer.status_code != httpx.codes.OK:
        return f"its management API answers {answer.status_code} to user {parts.username}"
    tags = answer.json().get("tags", [])
    administrator = "administrator" in (tags if isinstance(tags, list) else tags.split(","))
    return "" if administrator else f"user {parts.username} is no administrator"


class Options(msgspec.Struct, frozen=True):
    """What a private broker presents to TLS clients, the settings that lead to the API keys that may log in
    (none: no keys), and its schedulers (0: Erlang's default)."""

    certificate: Certificate
    keys: Mapping[str, str] = {}
    schedulers: int = msgspec.field(default_factory=half_of_cores)


class BrokerUrls(msgspec.Struct, frozen=True):
    """Where a broker is: AMQP and the management API with our login, and AMQPS without one."""

    url: str
    api_url: str
    amqps_url: str


class Booting(msgspec.Struct, frozen=True):
    """A private broker that may not answer yet; where it will be is known already."""

    urls: BrokerUrls
    started: Started
    authorisation: int  #: the port of the process that it asks about tenants
    log: Path

    def wait(self) -> None:
        """Return once it serves us. Raises `ServiceError` with the reason when it has ended or takes long."""
        if not ports.wait_until(self._serves, alive=lambda: find(self.started) is not None, seconds=60):
            raise ServiceError(f"RabbitMQ did not start: {_reason(self.log)} (all of it in {self.log})")

    def _serves(self) -> bool:
        # First the ports: a client of httpx takes 20 ms of CPU, which the broker needs to boot.
        management = urlsplit(self.urls.api_url).port or 0
        listening = all(ports.answers(ports.LOOPBACK, port) for port in (self.authorisation, management))
        return listening and not _unsuitable(self.urls.api_url)


def start(directory: Path, state: State, options: Options, notify: Callable[[str], None]) -> BrokerUrls:
    """Start a private broker, and wait until it serves us."""
    booting = begin(directory, state, options, notify)
    booting.wait()
    return booting.urls


def begin(directory: Path, state: State, options: Options, notify: Callable[[str], None]) -> Booting:
    """Start a private broker without waiting for it."""
    found = programs(notify)
    home = directory / "rabbitmq"
    names = ("amqp", "amqps", "management", "distribution")
    used = ports.free_ports([state.ports.get(name, 0) for name in names], patience=ports.LETTING_GO_SECONDS)
    amqp, amqps, management, _ = used
    state.ports |= dict(zip(names, used, strict=True))
    _ensure_port_mapper(directory, state, found)
    password = state.passwords.setdefault("rabbitmq", secrets.token_urlsafe(18))
    user = f"{USER}:{quote(password, safe='')}@{ports.LOOPBACK}"
    url, api_url = f"amqp://{user}:{amqp}", f"http://{user}:{management}"
    authorisation = authorise(directory, state, api_url, options.keys)
    node = msgspec.structs.replace(_node(home, state.ports), schedulers=options.schedulers)
    node.configure(password, options.certificate)
    log = directory / "log" / "rabbitmq.log"
    notify(f"starting a private RabbitMQ on port {amqp}, management on {management} (some five seconds)")
    started = launch(
        "rabbitmq",
        [found.scripts / "rabbitmq-server", "-noinput"],
        log,
        directory=home,
        environment=node.environment(found),
    )
    amqps_url = f"amqps://{ports.LOOPBACK}:{amqps}"
    remember(
        directory, state, started, RABBITMQ_URL=url, RABBITMQ_API_URL=api_url, MATCHFEED_AMQPS_URL=amqps_url
    )
    return Booting(BrokerUrls(url, api_url, amqps_url), started, authorisation, log)


def control(directory: Path, *arguments: str) -> str:
    """Run `rabbitmqctl` with these arguments on a directory's private broker; its output."""
    home, found = directory / "rabbitmq", programs(print)
    return output_of(
        f"rabbitmqctl {arguments[0]}",
        [found.scripts / "rabbitmqctl", "--quiet", *arguments],
        environment=_node(home, load(directory).ports).environment(found),
        directory=home,
    )


def _ensure_port_mapper(directory: Path, state: State, found: Programs) -> None:
    """Start this directory's epmd when it is not running."""
    if any(started.name == "epmd" for started in state.processes):
        return
    [port] = ports.free_ports([state.ports.get("epmd", 0)], patience=ports.LETTING_GO_SECONDS)
    state.ports["epmd"] = port
    log = directory / "log" / "epmd.log"
    command: list[str | Path] = [found.port_mapper(), "-address", ports.LOOPBACK, "-port", str(port)]
    started = launch("epmd", command, log, directory=directory, environment=found.environment())
    remember(directory, state, started)
    await_start("Erlang's epmd", started, log, lambda: ports.answers(ports.LOOPBACK, port), seconds=10)


def authorise(directory: Path, state: State, api_url: str, keys: Mapping[str, str]) -> int:
    """The port of the process that decides about tenants for this directory's broker, started if needed;
    `keys` as in `Options`."""
    if any(started.name == _AUTHORISATION for started in state.processes):
        return state.ports[_AUTHORISATION]
    [port] = ports.free_ports([state.ports.get(_AUTHORISATION, 0)], patience=ports.LETTING_GO_SECONDS)
    state.ports[_AUTHORISATION] = port
    command = [sys.executable, "-m", "app.cli", _AUTHORISATION, "--port", str(port)]
    log = directory / "log" / f"{_AUTHORISATION}.log"
    environment = {**os.environ, "RABBITMQ_API_URL": api_url, **keys}
    started = launch(_AUTHORISATION, command, log, directory=_ROOT, environment=environment)
    remember(directory, state, started)
    return port


def _node(home: Path, used: Mapping[str, int]) -> BrokerNode:
    """The node of a directory, with a name of its own: two of one name refuse to run on one machine."""
    return BrokerNode(
        home=home,
        name=f"matchfeed-{blake2b(str(home).encode(), digest_size=4).hexdigest()}@localhost",
        address=ports.LOOPBACK,
        amqp=used["amqp"],
        amqps=used["amqps"],
        management=used["management"],
        distribution=used["distribution"],
        mapper=used["epmd"],
        authorisation=used[_AUTHORISATION],
    )


def _reason(log: Path) -> str:
    """The line of the broker's log that names the trouble; its last lines are only an Erlang dump."""
    if not log.exists():
        return "no output"
    lines = _COLOUR.sub("", log.read_text(errors="replace")).splitlines()
    errors = [line for line in lines if "ERROR:" in line or "eaddrinuse" in line]
    return errors[-1][-200:] if errors else last_words(log)

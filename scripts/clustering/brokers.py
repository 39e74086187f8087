"""Three RabbitMQ nodes that form a cluster, each with `matchfeed broker-authorisation` beside it."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import quote

from scripts.local_services import ports
from scripts.local_services.processes import ServiceError, find, last_words, launch
from scripts.local_services.rabbitmq_node import USER, BrokerNode
from scripts.local_services.rabbitmq_package import Programs, programs

from .hosts import BROKERS, Hosts
from .record import HOME, ROOT, Record

_AMQP, _MANAGEMENT, _DISTRIBUTION, _MAPPER, _AUTHORISATION = 5672, 15672, 25672, 4399, 8091
_SECONDS = 90.0
_COOKIE = ".erlang.cookie"


def node(hosts: Hosts, host: str) -> BrokerNode:
    address = hosts.address(host)
    return BrokerNode(
        home=HOME / host,
        name=f"{host}@{address}",
        address=address,
        amqp=_AMQP,
        management=_MANAGEMENT,
        distribution=_DISTRIBUTION,
        mapper=_MAPPER,
        authorisation=_AUTHORISATION,
    )


def settings(record: Record) -> dict[str, str]:
    """The service's settings that name all nodes."""
    login = f"{USER}:{quote(record.passwords['rabbitmq'], safe='')}"
    addresses = [record.hosts.address(host) for host in BROKERS]
    return {
        "RABBITMQ_URL": f"amqp://{login}@" + ",".join(f"{each}:{_AMQP}" for each in addresses),
        "RABBITMQ_API_URL": f"http://{login}@" + ",".join(f"{each}:{_MANAGEMENT}" for each in addresses),
        "BROKER_AUTHORISATION": "http",
        "INGEST_QUEUE_TYPE": "quorum",
    }


def start(record: Record, host: str, environment: Mapping[str, str], notify: Callable[[str], None]) -> None:
    """Start one node and what stands beside it; returns when its management API answers."""
    found, made = programs(notify), node(record.hosts, host)
    made.configure(record.passwords["rabbitmq"], None, [node(record.hosts, each).name for each in BROKERS])
    cookie = made.home / _COOKIE
    if not cookie.exists():
        cookie.touch(mode=0o600)
        cookie.write_text(record.passwords["cookie"])
        cookie.chmod(0o400)
    _ensure_mapper(record, host, found)
    _authorise(record, host, environment)
    command = record.hosts.inside(host, [found.scripts / "rabbitmq-server", "-noinput"])
    log = HOME / "log" / f"{host}.log"
    started = record.add(
        launch(f"{host}/rabbitmq", command, log, directory=made.home, environment=made.environment(found))
    )
    up = ports.wait_until(
        lambda: answers(record, host), alive=lambda: find(started) is not None, seconds=_SECONDS
    )
    if not up:
        raise ServiceError(f"RabbitMQ on {host} did not start: {last_words(log)} (all of it in {log})")


def answers(record: Record, host: str) -> bool:
    """Whether a node's management API answers on its host."""
    url = f"http://{record.hosts.address(host)}:{_MANAGEMENT}/api/overview"
    login = f"{USER}:{record.passwords['rabbitmq']}"
    # The login on standard input: a command line can be read by every user.
    command = record.hosts.inside(
        host, ["curl", "--silent", "--fail", "--max-time", "2", "--config", "-", url]
    )
    done = subprocess.run(
        [str(part) for part in command],
        input=f'user = "{login}"\n',
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode == 0


def control(record: Record, host: str, *arguments: str) -> str:
    """Run `rabbitmqctl` on a node; its output."""
    found, made = programs(print), node(record.hosts, host)
    command = record.hosts.inside(host, [found.scripts / "rabbitmqctl", "--longnames", "--quiet", *arguments])
    done = subprocess.run(
        [str(part) for part in command],
        env=made.environment(found),
        cwd=made.home,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ServiceError(
            f"rabbitmqctl {arguments[0]} on {host}: {(done.stdout + done.stderr).strip()[-300:]}"
        )
    return done.stdout


def _ensure_mapper(record: Record, host: str, found: Programs) -> None:
    """Erlang's port mapper: one on each host, or one for all where the hosts are addresses of loopback."""
    place = host if record.separate else BROKERS[0]
    if any(each.name == f"{place}/epmd" for each in record.processes if find(each)):
        return
    addresses = [record.hosts.address(each) for each in ([host] if record.separate else BROKERS)]
    command: list[str | Path] = [found.port_mapper(), "-address", ",".join(addresses), "-port", str(_MAPPER)]
    record.add(
        launch(
            f"{place}/epmd",
            record.hosts.inside(host, command),
            HOME / "log" / f"{place}-epmd.log",
            directory=HOME,
            environment=found.environment(),
        )
    )


def _authorise(record: Record, host: str, environment: Mapping[str, str]) -> None:
    address = record.hosts.address(host)
    command = [sys.executable, "-m", "app.cli", "broker-authorisation"]
    command += ["--host", address, "--port", str(_AUTHORISATION)]
    record.add(
        launch(
            f"{host}/authorisation",
            record.hosts.inside(host, command),
            HOME / "log" / f"{host}-authorisation.log",
            directory=ROOT,
            environment={**os.environ, **environment},
        )
    )

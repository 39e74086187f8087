"""Three RabbitMQ nodes that form a cluster, each with `matchfeed broker-authorisation` beside it."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import quote

import msgspec

from scripts.lab.hosts import BROKERS, Hosts
from scripts.lab.record import HOME, Record, log_of
from scripts.local_services.processes import Started, await_start, find, output_of
from scripts.local_services.rabbitmq_node import USER, BrokerNode
from scripts.local_services.rabbitmq_package import Programs, programs

_MAPPER = 4399


class Ports(msgspec.Struct, frozen=True):
    """Those of each node, and of `matchfeed broker-authorisation` beside it."""

    amqp: int
    management: int
    distribution: int
    authorisation: int


_USUAL = Ports(5672, 15672, 25672, 8091)
#: Where hosts are addresses of loopback: at the usual ports a broker of the machine may listen on all. The
#: nodes share a port mapper there, so each has a port of its own for the distribution, from this one on.
_UNUSUAL = Ports(45672, 45673, 45680, 45675)
_SECONDS = 90.0
_COOKIE = ".erlang.cookie"


def ports_of(hosts: Hosts) -> Ports:
    return _USUAL if hosts.separate else _UNUSUAL


def node(hosts: Hosts, host: str) -> BrokerNode:
    address, used = hosts.address(host), ports_of(hosts)
    return BrokerNode(
        home=HOME / host,
        name=f"{host}@{address}",
        address=address,
        amqp=used.amqp,
        management=used.management,
        distribution=used.distribution + (0 if hosts.separate else BROKERS.index(host)),
        mapper=_MAPPER,
        authorisation=used.authorisation,
    )


def settings(record: Record) -> dict[str, str]:
    """The service's settings that name all nodes."""
    login = f"{USER}:{quote(record.passwords['rabbitmq'], safe='')}"
    addresses, used = [record.hosts.address(host) for host in BROKERS], ports_of(record.hosts)
    return {
        "RABBITMQ_URL": f"amqp://{login}@" + ",".join(f"{each}:{used.amqp}" for each in addresses),
        "RABBITMQ_API_URL": f"http://{login}@" + ",".join(f"{each}:{used.management}" for each in addresses),
        "BROKER_AUTHORISATION": "http",
        "INGEST_QUEUE_TYPE": "quorum",
    }


def start(record: Record, host: str, environment: Mapping[str, str], notify: Callable[[str], None]) -> None:
    """Start one node and what stands beside it; returns when its management API answers."""
    started = begin(record, host, environment, notify)
    name = f"RabbitMQ on {host}"
    await_start(name, started, log_of(host), lambda: answers(record, host), seconds=_SECONDS)


def begin(
    record: Record, host: str, environment: Mapping[str, str], notify: Callable[[str], None]
) -> Started:
    """The same, without waiting: nodes that were all down wait for each other."""
    found, made = programs(notify), node(record.hosts, host)
    made.configure(record.passwords["rabbitmq"], None, [node(record.hosts, each).name for each in BROKERS])
    cookie = made.home / _COOKIE
    if not cookie.exists():
        cookie.touch(mode=0o600)
        cookie.write_text(record.passwords["cookie"])
        cookie.chmod(0o400)
    _ensure_mapper(record, host, found)
    _authorise(record, host, environment)
    command: list[str | Path] = [found.scripts / "rabbitmq-server", "-noinput"]
    environment = made.environment(found)
    return record.launch(host, "rabbitmq", command, directory=made.home, environment=environment)


def answers(record: Record, host: str) -> bool:
    """Whether a node's management API answers on its host."""
    url = f"http://{record.hosts.address(host)}:{ports_of(record.hosts).management}/api/overview"
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
    return output_of(
        f"rabbitmqctl {arguments[0]} on {host}",
        command,
        environment=made.environment(found),
        directory=made.home,
    )


def separated(record: Record) -> str:
    """The host of the node that is separated from most others, which is to be restarted; "" where all run
    together."""
    pairs = set[frozenset[str]]()
    for host in BROKERS:
        if answers(record, host):
            status = msgspec.json.decode(control(record, host, "cluster_status", "--formatter", "json"))
            pairs |= {frozenset((one, other)) for one, rest in status["partitions"].items() for other in rest}
    counts = Counter(node for pair in pairs for node in pair)
    return max(counts, key=counts.__getitem__, default="").partition("@")[0]


def _ensure_mapper(record: Record, host: str, found: Programs) -> None:
    """Erlang's port mapper: one on each host, or one for all where the hosts are addresses of loopback, which
    none of them takes along when it is killed."""
    place = host if record.separate else "loopback"
    if any(each.name == f"{place}/epmd" for each in record.processes if find(each)):
        return
    addresses = [record.hosts.address(each) for each in ([host] if record.separate else BROKERS)]
    command: list[str | Path] = [found.port_mapper(), "-address", ",".join(addresses), "-port", str(_MAPPER)]
    log = log_of(f"{place}-epmd")
    record.launch(place, "epmd", command, log, directory=HOME, environment=found.environment())


def _authorise(record: Record, host: str, environment: Mapping[str, str]) -> None:
    address = record.hosts.address(host)
    command = [sys.executable, "-m", "app.cli", "broker-authorisation"]
    command += ["--host", address, "--port", str(ports_of(record.hosts).authorisation)]
    log = log_of(f"{host}-authorisation")
    record.launch(host, "authorisation", command, log, environment={**os.environ, **environment})

"""`./scripts/cluster`: the whole service on several hosts of one machine, and faults between them; and how a
scenario runs on it, from the client's host."""

import argparse
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import NamedTuple

import msgspec

from scripts.lab import brokers, databases, faults, programs, record
from scripts.lab.hosts import ALL, BALANCER, BROKERS, CLIENT, DATABASES, FEED, INGEST, WEB, separable
from scripts.lab.record import DESCRIPTION, HOME, ROOT, Record
from scripts.local_services.output import print_line
from scripts.local_services.processes import ServiceError, find, output_of

_MIGRATE_SECONDS = 180.0
_ON_CLIENT = "MATCHFEED_ON_CLIENT"


def main() -> None:
    options = _options()
    try:
        if options.verb:
            _VERBS[options.verb].run(record.present(), options)
        else:
            options.run(options)
    except ServiceError as error:
        raise SystemExit(f"cluster: {error}") from error


class _Verb(NamedTuple):
    """What `./scripts/cluster VERB` does with a running cluster; `arguments` are positional."""

    about: str
    run: Callable[[Record, argparse.Namespace], object]
    arguments: tuple[str, ...] = ()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/cluster", description=__doc__)
    parser.set_defaults(run=_start, synchronous=False)
    parser.add_argument("--stop", dest="run", action="store_const", const=_stop, help="end everything")
    parser.add_argument("--synchronous", action="store_true", help="commits wait for the standby")
    parser.add_argument("--loopback", action="store_true", help="no namespaces, even if they are allowed")
    verbs = parser.add_subparsers(title="on a running cluster", dest="verb")
    for name, verb in _VERBS.items():
        added = verbs.add_parser(name, help=verb.about)
        for each in verb.arguments:
            added.add_argument(each)
        if name == "cut":
            added.add_argument("--one-way", action="store_true", help="what TARGET sends still arrives")
        if name == "exec":
            added.add_argument("command", nargs=argparse.REMAINDER)
    return parser.parse_args()


@contextmanager
def running(*, synchronous: bool = False, reuse: bool = False) -> Iterator[None]:
    """A new cluster within the block; with `reuse` the one that is there, which stays."""
    if reuse and record.load():
        yield
        return
    start(synchronous=synchronous)
    try:
        yield
    finally:
        _end(record.present())


def run_on_client(module: str, arguments: Sequence[str] = ()) -> int:
    """Run a module on the client's host, with the service's settings; its exit status."""
    found, command = record.present(), [sys.executable, "-m", module, *arguments]
    environment = {**os.environ, **programs.settings(found), _ON_CLIENT: "1"}
    inside = [str(part) for part in found.hosts.inside(CLIENT, command)]
    return subprocess.run(inside, cwd=ROOT, env=environment, check=False).returncode


def on_client() -> bool:
    """Whether `run_on_client` has started this process."""
    return _ON_CLIENT in os.environ


def _start(options: argparse.Namespace) -> None:
    start(synchronous=options.synchronous, loopback=options.loopback)


def start(*, synchronous: bool, loopback: bool = False) -> None:
    """Start a cluster, in namespaces where they are allowed; nothing of it is left where that fails."""
    if record.load():
        raise ServiceError("a cluster is there already; ./scripts/cluster --stop ends it")
    separate = separable() and not loopback
    if not separate:
        print_line("no namespaces here: the hosts are addresses of loopback, and nothing can be cut off")
    passwords = {name: secrets.token_urlsafe(24) for name in ("postgresql", "rabbitmq", "cookie", "secret")}
    made = Record(separate, passwords, synchronous=synchronous)
    made.hosts.require_unused()
    shutil.rmtree(HOME, ignore_errors=True)
    made.save()
    try:
        began = monotonic()
        made.hosts.make()
        _servers(made)
        _service(made)
        print_line(f"ready after {monotonic() - began:.0f} s; {DESCRIPTION} has keys and addresses")
    except BaseException:
        _end(made)
        raise


def _servers(made: Record) -> None:
    for host in DATABASES:
        print_line(f"starting PostgreSQL on {host}")
        databases.start(made, host, print_line)
    programs.start_redis(made)
    environment = programs.settings(made)
    for host in BROKERS:
        print_line(f"starting RabbitMQ on {host}")
        brokers.start(made, host, environment, print_line)


def _service(made: Record) -> None:
    print_line("migrating the database, creating tenants, keys and vhosts")
    _matchfeed(made, "migrate")
    description = msgspec.json.decode(_matchfeed(made, "demo-tenants"))
    for host in (*WEB, *INGEST, *FEED):
        programs.start(made, host)
    programs.start_balancer(made, description["operator_key"])
    base = programs.settings(made)["PUBLIC_URL"]
    description |= {
        "base_url": base,
        "ws_url": base.replace("http", "ws", 1),
        "operator_url": f"http://{made.hosts.address(BALANCER)}:{programs.OPERATOR_PORT}",
        "client": CLIENT,
    }
    programs.wait(made, "the web processes answer", lambda: _ready(made, base), 120, BALANCER)
    DESCRIPTION.touch(mode=0o600)
    DESCRIPTION.write_bytes(msgspec.json.format(msgspec.json.encode(description)))


def _matchfeed(made: Record, *arguments: str) -> str:
    """The output of `matchfeed` with these arguments, on the client's host."""
    return output_of(
        f"matchfeed {arguments[0]}",
        made.hosts.inside(CLIENT, [sys.executable, "-m", "app.cli", *arguments]),
        environment={**os.environ, **programs.settings(made), "LOG_LEVEL": "ERROR"},
        directory=ROOT,
        seconds=_MIGRATE_SECONDS,
    )


def _ready(made: Record, base: str) -> bool:
    command = made.hosts.inside(CLIENT, ["curl", "--silent", "--max-time", "2", "--output", os.devnull])
    command += ["--write-out", "%{http_code}", f"{base}/v1/whoami"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    return done.stdout == "401"


def _stop(_: argparse.Namespace) -> None:
    found = record.load()
    if found is None:
        print_line("no cluster is running")
        return
    _end(found)


def _end(made: Record) -> None:
    made.end(list(made.processes))
    made.hosts.remove()
    record.remove()


def _status(made: Record, _: argparse.Namespace) -> None:
    for each in made.processes:
        host = each.name.partition("/")[0]
        address = made.hosts.address(host) if host in ALL else ""  # one port mapper may serve all hosts
        state = "runs" if find(each) else "has ended"
        role = " (primary)" if each.name == f"{made.primary}/postgresql" else ""
        print_line(f"{each.name:24} {address:14} {state}{role}")


def _promote(made: Record, _: argparse.Namespace) -> None:
    made.kill(made.primary)
    promote(made)


def promote(made: Record) -> None:
    print_line(f"{databases.promote(made)} is the primary now")


def _cut(made: Record, options: argparse.Namespace) -> None:
    faults.cut(made, options.source, options.target, both=not options.one_way)


def _execute(made: Record, options: argparse.Namespace) -> None:
    command = [str(part) for part in made.hosts.inside(options.host, options.command)]
    os.execvpe(command[0], command, {**os.environ, **programs.settings(made)})


_VERBS = {
    "status": _Verb("what runs where", _status),
    "promote": _Verb("kill the primary, make the standby the primary", _promote),
    "rejoin": _Verb(
        "copy the primary's data to the other host, which follows it again",
        lambda made, _: databases.follow(made, print_line),
    ),
    "cut": _Verb("drop what SOURCE sends to TARGET", _cut, ("source", "target")),
    "isolate": _Verb(
        "cut HOST off from all others", lambda made, given: faults.isolate(made, given.host), ("host",)
    ),
    "slow": _Verb(
        "limit what HOST sends, such as to 1mbit",
        lambda made, given: faults.slow(given.rate, made, given.host),
        ("host", "rate"),
    ),
    "heal": _Verb("end every cut and every limit", lambda made, _: faults.heal(made)),
    "kill": _Verb("kill what runs on HOST", lambda made, given: made.kill(given.host), ("host",)),
    "start": _Verb(
        "start what belongs to HOST",
        lambda made, given: programs.start_again(made, given.host, print_line),
        ("host",),
    ),
    "exec": _Verb("run a command on HOST, with the service's settings", _execute, ("host",)),
}


if __name__ == "__main__":
    main()

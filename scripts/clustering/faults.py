"""Faults of the network between hosts of a cluster: cut off, one way or both, and slow."""

import subprocess

from scripts.local_services.processes import ServiceError

from .hosts import ALL, Hosts, namespace

_TABLE = "inet matchfeed"
_NAME = "arriving"


def cut(hosts: Hosts, source: str, target: str, *, both: bool = True, name: str = _NAME) -> None:
    """Drop everything that `source` sends to `target`; with `both`, and the other way. `name` is for
    `rejoin`."""
    _require_separate(hosts)
    _drop(target, hosts.address(source), name)
    if both:
        _drop(source, hosts.address(target), name)


def isolate(hosts: Hosts, host: str, *, name: str = _NAME) -> None:
    """Cut a host off from all others."""
    for other in ALL:
        if other != host:
            cut(hosts, host, other, name=name)


def rejoin(name: str) -> None:
    """End the cuts of this name; others stay."""
    for host in ALL:
        chain = f"chain {_TABLE} {name}"
        _nft(host, f"add table {_TABLE}; add {chain}; flush {chain}; delete {chain}")


def heal(hosts: Hosts) -> None:
    """End every cut and every slow link."""
    _require_separate(hosts)
    for host in ALL:
        _nft(host, f"add table {_TABLE}; delete table {_TABLE}")
        _tc(host, "del", check=False)


def speed_up(host: str) -> None:
    """End the slow link of a host."""
    _tc(host, "del", check=False)


def slow(hosts: Hosts, host: str, rate: str) -> None:
    """Limit what a host sends to `rate` (such as `1mbit`), with a queue of 400 ms."""
    _require_separate(hosts)
    _tc(host, "replace", "tbf", "rate", rate, "burst", "32kbit", "latency", "400ms")


def _drop(at: str, sender: str, name: str) -> None:
    chain = f"{_TABLE} {name}"
    hook = "{ type filter hook input priority 0; }"
    _nft(at, f"add table {_TABLE}; add chain {chain} {hook}; add rule {chain} ip saddr {sender} drop")


def _require_separate(hosts: Hosts) -> None:
    if not hosts.separate:
        raise ServiceError("the hosts are addresses of loopback, which cannot be cut off; run as root")


def _nft(host: str, commands: str) -> None:
    _run(["ip", "netns", "exec", namespace(host), "nft", commands])


def _tc(host: str, action: str, *what: str, check: bool = True) -> None:
    command = ["tc", "-n", namespace(host), "qdisc", action, "dev", "eth0", "root", *what]
    _run(command, check=check)


def _run(command: list[str], *, check: bool = True) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise ServiceError(f"{' '.join(command)}: {done.stderr.strip()}")

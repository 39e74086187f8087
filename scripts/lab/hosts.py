"""Hosts of a cluster: network namespaces with an address each on one bridge, or addresses of loopback.

Namespaces need root. Without it every host is an address of loopback: the same programs run there, but
nothing can be cut off or slowed down.
"""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec

from scripts.local_services.processes import ServiceError, output_of

BROKERS = ("mq1", "mq2", "mq3")
DATABASES = ("db1", "db2")
WEB, INGEST, FEED = ("web1", "web2"), ("ingest1", "ingest2"), ("feed1", "feed2")
BALANCER, COUNTERS, CLIENT = "lb", "redis", "client"
ALL = (*BROKERS, *DATABASES, COUNTERS, *WEB, *INGEST, *FEED, BALANCER, CLIENT)
_FIRST = 11
_BRIDGE = "lan"
_PREFIX = "matchfeed-"


class Hosts(msgspec.Struct, frozen=True):
    """All hosts. `separate`: each is a namespace of its own."""

    separate: bool

    def address(self, host: str) -> str:
        network = "10.83.0" if self.separate else "127.0.83"
        return f"{network}.{_FIRST + ALL.index(host)}"

    def inside(self, host: str, command: Sequence[str | Path]) -> list[str | Path]:
        """The command that runs `command` on a host."""
        return ["ip", "netns", "exec", namespace(host), *command] if self.separate else list(command)

    def require_unused(self) -> None:
        """Raise `ServiceError` where something runs on the hosts: the cluster of another checkout."""
        busy = [host for host in ALL if self.separate and _pids(namespace(host))]
        if busy:
            raise ServiceError(f"another checkout's cluster runs on {', '.join(busy)}; end it there first")

    def make(self) -> None:
        """Make every host and connect it; hosts that an earlier run left are removed first."""
        if not self.separate:
            return
        self.remove()
        _ip("netns", "add", namespace(_BRIDGE))
        _ip("-n", namespace(_BRIDGE), "link", "add", "bridge", "type", "bridge")
        _ip("-n", namespace(_BRIDGE), "link", "set", "bridge", "up")
        for host in ALL:
            self._connect(host)

    def _connect(self, host: str) -> None:
        there = namespace(host)
        _ip("netns", "add", there)
        peer = ("peer", "name", host, "netns", namespace(_BRIDGE))
        _ip("-n", there, "link", "add", "eth0", "type", "veth", *peer)
        _ip("-n", namespace(_BRIDGE), "link", "set", host, "master", "bridge", "up")
        _ip("-n", there, "address", "add", f"{self.address(host)}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            _ip("-n", there, "link", "set", device, "up")
        # A connection whose peer was cut off ends after some 13 s, instead of 15 minutes (docs/deploy.md).
        _ip("netns", "exec", there, "sysctl", "--quiet", "--write", "net.ipv4.tcp_retries2=5")

    def remove(self) -> None:
        """Remove the namespaces; what runs in them must have ended."""
        if not self.separate:
            return
        present = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
        names = {line.split()[0] for line in present.splitlines() if line}
        for name in (namespace(host) for host in (*ALL, _BRIDGE)):
            if name in names:
                _ip("netns", "delete", name)


def namespace(host: str) -> str:
    return f"{_PREFIX}{host}"


def _pids(name: str) -> list[str]:
    """The processes in a namespace; none where there is no such namespace."""
    return subprocess.run(
        ["ip", "netns", "pids", name], capture_output=True, text=True, check=False
    ).stdout.split()


def separable() -> bool:
    """Whether this user may make namespaces here."""
    if os.geteuid() != 0:
        return False
    try:
        done = subprocess.run(["ip", "netns", "add", namespace("probe")], capture_output=True, check=False)
    except FileNotFoundError:
        return False
    if done.returncode == 0:
        _ip("netns", "delete", namespace("probe"))
    return done.returncode == 0


def _ip(*arguments: str) -> None:
    output_of(f"ip {' '.join(arguments)}", ["ip", *arguments])

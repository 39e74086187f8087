"""HAProxy before the web processes of both versions: one address for game servers, operators and clients.

Operators' addresses have a listener of their own; where they lead is decided here, so that callers keep
theirs. A process that is to end receives nothing new first (`drain`).
"""

import csv
import shutil
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from scripts.local_services import ports
from scripts.local_services.processes import ServiceError, Started, launch, stop

#: Backends: what game servers send, what operators send, and all the rest.
SINK, OPERATORS, REST = "sink", "operators", "rest"
BACKENDS = (SINK, OPERATORS, REST)


class Listeners(NamedTuple):
    """The ports of a web process."""

    public: int
    operators: int


class Counts(NamedTuple):
    """Of one backend: responses by class, those of HAProxy itself included; requests that it had to repeat
    because a connection failed, and connections that it could not make."""

    answered: int
    refused: int
    failed: int
    repeated: int
    unreachable: int


def haproxy() -> str:
    """The program. Raises `ServiceError` where it is missing."""
    if found := shutil.which("haproxy"):
        return found
    raise ServiceError("haproxy is missing; install it (Debian: apt-get install haproxy)")


class Balancer:
    """Started with all processes that there will ever be (`servers`, by name), none of which is in use."""

    def __init__(self, directory: Path, servers: Mapping[str, Listeners]) -> None:
        program = haproxy()
        [self.port] = ports.free_ports([0])
        self._servers = servers
        self._socket = directory / "haproxy.sock"
        file = directory / "haproxy.cfg"
        file.write_text(_configuration(self.port, self._socket, servers))
        log = directory / "log" / "haproxy.log"
        self._process: Started = launch("haproxy", [program, "-db", "-f", file], log)
        if not ports.wait_until(
            lambda: ports.answers("127.0.0.1", self.port), alive=lambda: True, seconds=10
        ):
            raise ServiceError(f"haproxy does not answer; see {log}")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def use(self, name: str) -> None:
        """Send requests to this process, too."""
        self._set(name, "ready")

    def drain(self, name: str) -> None:
        """Send nothing new there; connections that are open stay."""
        self._set(name, "drain")

    def counts(self) -> dict[str, Counts]:
        """What was counted until now, by backend."""
        rows = csv.DictReader(self._command("show stat").lstrip("# ").splitlines())
        return {
            row["pxname"]: Counts(
                answered=sum(int(row[f"hrsp_{each}"] or 0) for each in ("1xx", "2xx", "3xx")),
                refused=int(row["hrsp_4xx"] or 0),
                failed=int(row["hrsp_5xx"] or 0),
                repeated=int(row["wretr"] or 0) + int(row["wredis"] or 0),
                unreachable=int(row["econ"] or 0),
            )
            for row in rows
            if row["svname"] == "BACKEND" and row["pxname"] in BACKENDS
        }

    def close(self) -> None:
        stop([self._process])

    def _set(self, name: str, state: str) -> None:
        assert name in self._servers
        for backend in BACKENDS:
            if answer := self._command(f"set server {backend}/{name} state {state}").strip():
                raise ServiceError(f"haproxy: {answer}")

    def _command(self, text: str) -> str:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self._socket))
            connection.sendall(f"{text}\n".encode())
            parts = []
            while part := connection.recv(65536):
                parts.append(part)
        return b"".join(parts).decode()


def _configuration(port: int, control: Path, servers: Mapping[str, Listeners]) -> str:
    lines = [
        "global",
        f"    stats socket {control} mode 600 level admin",
        "defaults",
        "    mode http",
        "    option forwardfor",
        "    option redispatch",
        *(
            f"    timeout {what} {time}"
            for what, time in (("connect", "2s"), ("client", "1h"), ("server", "1h"))
        ),
        "frontend public",
        f"    bind 127.0.0.1:{port}",
        "    acl operators path_beg /ops/v1",
        "    acl log path_end /log",
        f"    use_backend {SINK} if operators log",
        f"    use_backend {OPERATORS} if operators",
        f"    default_backend {REST}",
    ]
    for backend in BACKENDS:
        lines.append(f"backend {backend}")
        for name, listeners in servers.items():
            listener = listeners.operators if backend == OPERATORS else listeners.public
            lines.append(f"    server {name} 127.0.0.1:{listener} disabled")
    return "\n".join(lines) + "\n"

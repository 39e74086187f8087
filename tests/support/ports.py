"""Ports for servers of a test's own."""

import os
import random
import socket

from scripts.local_services import ports

_draw = random.SystemRandom()  # the seeded one draws the same in each worker
_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
#: Those of this worker: the kernel gives none of them to an outgoing connection.
_PORTS = range(20_000 + _WORKER, 32_000, _WORKERS)
_given = set[int]()  #: a process that was started with one may not listen yet


def spare(count: int) -> list[int]:
    """Free ports that no other test was given."""
    drawn = list[int]()
    while len(drawn) < count:
        port = _draw.choice(_PORTS)
        if port not in _given and ports.is_free(port):
            _given.add(port)
            drawn.append(port)
    return drawn


def listener(port: int = 0) -> socket.socket:
    """A listening socket for a web process of a test's own, on a free port if none is given. asyncio leaves
    Nagle's algorithm on for it, and a response could wait 40 ms; uvloop, which `serve` uses, does not."""
    found = socket.create_server(("127.0.0.1", port))
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return found

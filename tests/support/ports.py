"""Ports for servers of a test's own."""

import random
import socket

from scripts.local_services import ports

_draw = random.SystemRandom()  # the seeded one draws the same in each worker


def spare(count: int) -> list[int]:
    """Free ports, none of which the kernel gives to an outgoing connection meanwhile."""
    return _draw.sample([port for port in range(20_000, 32_000, 7) if ports.is_free(port)], count)


def listener(port: int = 0) -> socket.socket:
    """A listening socket for a web process of a test's own, on a free port if none is given. asyncio leaves
    Nagle's algorithm on for it, and a response could wait 40 ms; uvloop, which `serve` uses, does not."""
    found = socket.create_server(("127.0.0.1", port))
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return found

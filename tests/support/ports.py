"""Ports for servers of a test's own."""

import random

from scripts.local_services import ports

_draw = random.SystemRandom()  # the seeded one draws the same in each worker


def spare(count: int) -> list[int]:
    """Free ports, none of which the kernel gives to an outgoing connection meanwhile."""
    return _draw.sample([port for port in range(20_000, 32_000, 7) if ports.is_free(port)], count)

"""TCP ports on loopback: which are free, which are used, and waiting for one to answer."""

import socket
from collections.abc import Callable, Sequence
from time import monotonic, sleep

LOOPBACK = "127.0.0.1"
#: A killed server lets go of its port within so long.
LETTING_GO_SECONDS = 5.0
_RETRY_SECONDS = 0.05


def is_free(port: int) -> bool:
    """Whether a server could listen on this port of loopback now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
        return True


def free_ports(wanted: Sequence[int], *, patience: float = 0.0) -> list[int]:
    """One free port for each wanted one: the wanted port itself where it is free, else any (0 = any).

    With `patience` it is waited for so many seconds: a server that was killed holds its port until the last
    of its threads has gone, and its clients should find it at the same address.
    """
    deadline = monotonic() + patience
    probes: list[socket.socket] = []
    try:
        for port in wanted:
            probe = socket.socket()
            probes.append(probe)
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if not _bound(probe, port, deadline):
                probe.bind((LOOPBACK, 0))
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()


def _bound(probe: socket.socket, port: int, deadline: float) -> bool:
    while True:
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            if monotonic() > deadline:
                return False
            sleep(_RETRY_SECONDS)
        else:
            return True


def answers(host: str, port: int, timeout: float = 1.0) -> bool:
    """Whether something accepts connections there."""
    try:
        with socket.create_connection((host, port), timeout):
            return True
    except OSError:
        return False


def wait_until(ready: Callable[[], bool], *, alive: Callable[[], bool], seconds: float) -> bool:
    """Poll `ready` until it is true; false when the time is up or `alive` has become false."""
    deadline = monotonic() + seconds
    while monotonic() < deadline:
        if ready():
            return True
        if not alive():
            return False
        sleep(0.05)
    return False

"""What there is at the broker, in all vhosts, as its management API lists it."""

from collections.abc import Mapping
from typing import Any

import msgspec


class Queue(msgspec.Struct, frozen=True):
    """A queue; counts are missing for a second after it has been declared."""

    vhost: str
    name: str
    type: str = "classic"
    arguments: Mapping[str, Any] = {}
    messages_unacknowledged: int = 0
    message_bytes_unacknowledged: int = 0
    consumers: int = 0


class Exchange(msgspec.Struct, frozen=True):
    """An exchange; the default one has no name."""

    vhost: str
    name: str


class Binding(msgspec.Struct, frozen=True):
    """A binding of a queue (or an exchange) to the exchange `source`."""

    vhost: str
    source: str
    destination: str


class Connection(msgspec.Struct, frozen=True):
    """A connection, and how many bytes the broker has had from it."""

    name: str
    user: str = ""
    recv_oct: int = 0


class Survey(msgspec.Struct, frozen=True):
    """All of the broker, as of some seconds ago."""

    queues: tuple[Queue, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    bindings: tuple[Binding, ...] = ()
    connections: tuple[Connection, ...] = ()

"""The nodes, and the queues, exchanges, bindings and connections of all vhosts, as the management API lists
them."""

from collections.abc import Mapping
from typing import Any

import msgspec


class ListedQueue(msgspec.Struct, frozen=True):
    """A queue; its counts are missing for a second after it has been declared."""

    vhost: str
    name: str
    type: str = "classic"
    arguments: Mapping[str, Any] = {}
    messages_unacknowledged: int = 0
    message_bytes_unacknowledged: int = 0
    consumers: int = 0


class ListedExchange(msgspec.Struct, frozen=True):
    """An exchange; the default exchange's name is empty."""

    vhost: str
    name: str
    type: str = "topic"
    durable: bool = True
    auto_delete: bool = False
    internal: bool = False
    arguments: Mapping[str, Any] = {}


class ListedBinding(msgspec.Struct, frozen=True):
    """A binding of a queue (or an exchange) to the exchange `source`."""

    vhost: str
    source: str
    destination: str
    destination_type: str = "queue"


class ListedConnection(msgspec.Struct, frozen=True):
    """A connection, how many bytes the broker has received from it, and how many channels it has."""

    name: str
    user: str = ""
    vhost: str = ""
    recv_oct: int = 0
    channels: int = 0


class BrokerNode(msgspec.Struct, frozen=True):
    """A node of the broker: whether it runs, what it is short of, from which others it is separated, how many
    bytes of disk it has left, its plugins, and for how long (ms) it has run. A node of which the others list
    no `uptime` runs without the broker: it has paused in a minority, and may stay so."""

    name: str
    running: bool = False
    mem_alarm: bool = False
    disk_free_alarm: bool = False
    partitions: tuple[str, ...] = ()
    disk_free: int = 0
    plugins: tuple[str, ...] = msgspec.field(default=(), name="enabled_plugins")
    uptime: int | None = None

    @property
    def paused(self) -> bool:
        return self.running and self.uptime is None


class Inventory(msgspec.Struct, frozen=True):
    """Everything listed; up to some seconds old."""

    queues: tuple[ListedQueue, ...] = ()
    exchanges: tuple[ListedExchange, ...] = ()
    bindings: tuple[ListedBinding, ...] = ()
    connections: tuple[ListedConnection, ...] = ()

"""HTTP requests to RabbitMQ's management API, at one node of the broker or at several; and what it lists:
nodes, and the queues, exchanges, bindings and connections of all vhosts.
"""

import ssl
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from typing import Any
from urllib.parse import unquote, urlsplit

import httpx
import msgspec

from app.broker.address import Node
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.kit.servers import listed_servers

_SECONDS = 10.0
_CONNECTIONS = 32  #: to all nodes together
_PORTS = {"http": 15672, "https": 15671}
log = get_logger(__name__)


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

    def by_vhost(self) -> dict[str, "Inventory"]:
        """What each vhost has, in one pass: brokers have hundreds of vhosts."""
        listed: defaultdict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
        for name in self.__struct_fields__:
            for row in getattr(self, name):
                listed[row.vhost][name].append(row)
        return {
            vhost: Inventory(**{name: tuple(rows) for name, rows in lists.items()})
            for vhost, lists in listed.items()
        }


@cache
def _tls_context() -> ssl.SSLContext:
    """Loading the certificates takes some 30 ms: once a process."""
    return httpx.create_ssl_context(trust_env=False)


class ManagementApi:
    """The API at `http://user:password@host:port,host:port`. The node that answered last is called first.

    A request may reach the broker twice, when a node does not answer it: every request is idempotent.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        login, _, listed = parts.netloc.rpartition("@")
        user, _, password = login.partition(":")
        servers = listed_servers(listed, _PORTS[parts.scheme])
        self._nodes = [str(Node(*server)) for server in servers]
        self._scheme = parts.scheme
        self.user = unquote(user or "guest")
        self._http = httpx.AsyncClient(
            auth=(self.user, unquote(password or "guest")),
            # That a request waits for its turn is no failure of the node: a feed process that starts connects
            # to hundreds of tenants at once.
            timeout=httpx.Timeout(_SECONDS, connect=_SECONDS / len(servers), pool=None),
            limits=httpx.Limits(max_connections=_CONNECTIONS, max_keepalive_connections=_CONNECTIONS),
            verify=_tls_context(),
            trust_env=False,
        )

    async def call(
        self, method: str, path: str, body: Any = None, *, headers: Mapping[str, str] | None = None
    ) -> Any:
        """The response's JSON; None for an empty response and for 404, the only error that is expected."""
        return self.content(method, path, await self.send(method, path, body, headers=headers))

    async def listing(self, path: str) -> list[Any]:
        """The rows of a list that every broker has; a node that is starting may respond with 404, or with
        nothing."""
        rows = await self.call("GET", path)
        if not isinstance(rows, list):
            what = f"RabbitMQ's management API at {self._nodes[0]} has no list {path.partition('?')[0]} now."
            raise Unavailable(what, retry_after=5)
        return rows

    async def send(
        self, method: str, path: str, body: Any = None, *, headers: Mapping[str, str] | None = None
    ) -> httpx.Response:
        """The response, whatever its status."""
        for _ in self._nodes[1:]:
            try:
                return await self._request(method, path, body, headers)
            except httpx.TransportError as error:
                log.warning("a node of the broker does not answer", node=self._nodes[0], error=repr(error))
                self._nodes.append(self._nodes.pop(0))
        async with self._http_errors():
            return await self._request(method, path, body, headers)

    def content(self, method: str, path: str, response: httpx.Response) -> Any:
        """The JSON of the response to a request; None where it is empty, and for 404."""
        if response.status_code == 404 and path != "overview":
            return None
        if response.is_error:
            raise Unavailable(_error_detail(method, path, self._nodes[0], response), retry_after=5)
        return msgspec.json.decode(response.content) if response.content else None

    async def close(self) -> None:
        await self._http.aclose()

    async def _request(
        self, method: str, path: str, body: Any, headers: Mapping[str, str] | None
    ) -> httpx.Response:
        url = f"{self._scheme}://{self._nodes[0]}/api/{path}"
        try:
            return await self._http.request(method, url, json=body, headers=headers)
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
            # The node closed the connection instead of answering on it, which says nothing about the node:
            # a client may send the request again on another one (RFC 9112, 9.3.1).
            return await self._http.request(method, url, json=body, headers=headers)

    @asynccontextmanager
    async def _http_errors(self) -> AsyncIterator[None]:
        try:
            yield
        except httpx.HTTPError as error:
            raise Unavailable(
                f"RabbitMQ's management API does not answer at {self._nodes[0]} ({type(error).__name__}): "
                "start the broker, enable the plugin rabbitmq_management, or set RABBITMQ_API_URL.",
                retry_after=5,
            ) from error


def _error_detail(method: str, path: str, where: str, response: httpx.Response) -> str:
    if response.status_code == 401:
        return f"RabbitMQ's management API at {where} refuses our login: set RABBITMQ_API_URL."
    if path == "overview":
        return (
            f"What answers at {where} is not RabbitMQ's management API ({response.status_code}): "
            "enable the plugin rabbitmq_management or set RABBITMQ_API_URL."
        )
    body = response.text[:200].replace("\n", " ")
    return f"RabbitMQ's management API at {where} refused {method} {path}: {response.status_code} {body}"

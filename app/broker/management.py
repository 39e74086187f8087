"""A client of RabbitMQ's management API, as far as we need it."""

import asyncio
from collections.abc import Mapping
from typing import Any, Self
from urllib.parse import quote

import httpx
import msgspec

from app.broker.management_api import BrokerNode, Inventory, ListedExchange, ManagementApi
from app.broker.permissions import Permission, TopicPermission
from app.kit.errors import Unavailable
from app.kit.logging import get_logger

log = get_logger(__name__)

#: Retries of a close request that met a connection which was closing by itself.
_CLOSE_ATTEMPTS, _CLOSE_RETRY_SECONDS = 5, 0.1
#: Until when a user's connections must be gone, and the pause between close requests.
_DISCONNECT_SECONDS, _DISCONNECT_POLL_SECONDS = 10.0, 0.05
_INVENTORY = {
    "queues": "queues?columns=vhost,name,type,arguments,consumers"
    ",messages_unacknowledged,message_bytes_unacknowledged",
    "exchanges": "exchanges?columns=vhost,name,type,durable,auto_delete,internal,arguments",
    "bindings": "bindings?columns=vhost,source,destination,destination_type",
    "connections": "connections?columns=name,user,vhost,recv_oct,channels",
}
_QUEUE_COLUMNS = "vhost,name,messages_ready,messages_unacknowledged,consumers"


class ClientConnection(msgspec.Struct, frozen=True):
    """A client's connection. `id` names it in the management API, `name` is what the client calls it."""

    id: str
    name: str
    user: str
    state: str


class QueueCounts(msgspec.Struct, frozen=True):
    """A queue's counts: messages ready, messages delivered and not yet acknowledged, and consumers."""

    vhost: str
    name: str
    ready: int
    unacknowledged: int
    consumers: int


class Credentials(msgspec.Struct, frozen=True):
    """A user's password as the broker stores it, a salted hash and the name of its algorithm; and its
    tags."""

    password_hash: str
    hashing_algorithm: str
    tags: tuple[str, ...] = ()


class ExchangeBinding(msgspec.Struct, frozen=True):
    """A binding of the queue called `queue` to the exchange `source`, with its routing key."""

    queue: str
    key: str
    source: str = ""


class UserConnection(msgspec.Struct, frozen=True):
    """A connection: its user, the client's address, and the vhost."""

    user: str = ""
    peer_host: str = ""
    vhost: str = ""


class Management:
    """The management API of a broker: at one address (`http://user:password@host:port`), or at several nodes
    of a cluster (`http://user:password@host:port,host:port`), of which the next is used when one does not
    answer. Close it when done.

    Every call raises `Unavailable` when the API does not respond or responds with an error.
    """

    def __init__(self, api_url: str) -> None:
        self._api = ManagementApi(api_url)

    @property
    def user(self) -> str:
        """The broker user of this client."""
        return self._api.user

    async def check(self) -> None:
        """Raise `Unavailable`, with what to do, unless the management plugin responds and accepts us."""
        await self._api.call("GET", "overview")

    async def version(self) -> str:
        """RabbitMQ's version."""
        return str((await self._api.call("GET", "overview"))["rabbitmq_version"])

    async def nodes(self) -> list[BrokerNode]:
        """The broker's nodes."""
        return msgspec.convert(await self._api.listing("nodes"), list[BrokerNode])

    async def put_vhost(self, vhost: str) -> None:
        await self._api.call("PUT", f"vhosts/{_part(vhost)}", {})

    async def delete_vhost(self, vhost: str) -> None:
        """Delete a vhost and everything in it; no error when there is none."""
        await self._api.call("DELETE", f"vhosts/{_part(vhost)}")

    async def vhosts(self) -> list[str]:
        return [row["name"] for row in await self._api.listing("vhosts?columns=name")]

    async def put_user(self, user: str, password: str, tag: str = "") -> None:
        """Create a user without administrative tags, or set its password and its only tag."""
        await self._api.call("PUT", f"users/{_part(user)}", {"password": password, "tags": tag})

    async def credentials(self, user: str) -> Credentials | None:
        """The user's password, hashed, and its tags; None when there is no such user."""
        row = await self._api.call("GET", f"users/{_part(user)}")
        return msgspec.convert(row, Credentials) if row else None

    async def set_credentials(self, user: str, credentials: Credentials) -> None:
        """Set an earlier password of a user, and its tags."""
        values = msgspec.to_builtins(credentials) | {"tags": ",".join(credentials.tags)}
        await self._api.call("PUT", f"users/{_part(user)}", values)

    async def user_tags(self) -> dict[str, tuple[str, ...]]:
        """The tags of all users, by user."""
        rows = await self._api.listing("users?columns=name,tags")
        return {row["name"]: tuple(row["tags"]) for row in rows}

    async def delete_user(self, user: str) -> None:
        await self._api.call("DELETE", f"users/{_part(user)}")

    async def set_permissions(self, vhost: str, user: str, *, configure: str, write: str, read: str) -> None:
        """Set what `user` may do in `vhost`: three patterns of resource names."""
        patterns = {"configure": configure, "write": write, "read": read}
        await self._api.call("PUT", f"permissions/{_part(vhost)}/{_part(user)}", patterns)

    async def clear_permissions(self, vhost: str, user: str) -> None:
        """Delete all permissions of a user in `vhost`, and with them its access."""
        await self._api.call("DELETE", f"permissions/{_part(vhost)}/{_part(user)}")
        await self._api.call("DELETE", f"topic-permissions/{_part(vhost)}/{_part(user)}")

    async def set_topic_permission(self, vhost: str, user: str, permission: TopicPermission) -> None:
        """Set the keys with which `user` may publish to a topic exchange of `vhost`, and bind to it."""
        where = f"topic-permissions/{_part(vhost)}/{_part(user)}"
        await self._api.call("PUT", where, msgspec.to_builtins(permission))

    async def permissions(self) -> dict[tuple[str, str], Permission]:
        """All permissions, by vhost and user."""
        rows = await self._api.listing("permissions")
        return {(row["vhost"], row["user"]): msgspec.convert(row, Permission) for row in rows}

    async def topic_permissions(self) -> dict[tuple[str, str], frozenset[TopicPermission]]:
        """All topic permissions, by vhost and user."""
        found: dict[tuple[str, str], frozenset[TopicPermission]] = {}
        for row in await self._api.listing("topic-permissions"):
            where = row["vhost"], row["user"]
            found[where] = found.get(where, frozenset()) | {msgspec.convert(row, TopicPermission)}
        return found

    async def user_limits(self) -> dict[str, dict[str, int]]:
        """The limits of all users, by user."""
        return {row["user"]: row["value"] for row in await self._api.listing("user-limits")}

    async def limit_vhost(self, vhost: str, limits: Mapping[str, int]) -> None:
        """Set `max-connections`, `max-queues`."""
        for name, value in limits.items():
            await self._api.call("PUT", f"vhost-limits/{_part(vhost)}/{name}", {"value": value})

    async def vhost_limits(self) -> dict[str, dict[str, int]]:
        """The limits of all vhosts, by vhost."""
        return {row["vhost"]: row["value"] for row in await self._api.listing("vhost-limits")}

    async def limit_user(self, user: str, limits: Mapping[str, int]) -> None:
        """Set `max-connections`, `max-channels`."""
        for name, value in limits.items():
            await self._api.call("PUT", f"user-limits/{_part(user)}/{name}", {"value": value})

    async def put_policy(
        self, vhost: str, name: str, definition: Mapping[str, Any], pattern: str, *, for_users: bool = False
    ) -> None:
        """Set a policy on the queues of `vhost` whose names fit; one that is not `for_users` they cannot
        override."""
        kind = "policies" if for_users else "operator-policies"
        policy = {"pattern": pattern, "apply-to": "queues", "priority": 0, "definition": dict(definition)}
        await self._api.call("PUT", f"{kind}/{_part(vhost)}/{_part(name)}", policy)

    async def put_exchange(self, vhost: str, exchange: str, kind: str, *, internal: bool = False) -> None:
        """Declare a durable exchange; clients cannot publish to an internal one."""
        declared = {"type": kind, "durable": True, "auto_delete": False, "internal": internal}
        await self._api.call("PUT", f"exchanges/{_part(vhost)}/{_part(exchange)}", declared)

    async def put_queue(self, vhost: str, queue: str, arguments: Mapping[str, Any]) -> None:
        """Declare a durable queue."""
        declared = {"durable": True, "auto_delete": False, "arguments": dict(arguments)}
        await self._api.call("PUT", f"queues/{_part(vhost)}/{_part(queue)}", declared)

    async def bind(
        self, vhost: str, exchange: str, queue: str, key: str, arguments: Mapping[str, Any]
    ) -> None:
        """Bind a queue to an exchange; an equal binding stays as it is."""
        where = f"bindings/{_part(vhost)}/e/{_part(exchange)}/q/{_part(queue)}"
        await self._api.call("POST", where, {"routing_key": key, "arguments": dict(arguments)})

    async def bind_exchange(self, vhost: str, source: str, destination: str, key: str) -> None:
        """Bind an exchange to another; an equal binding stays as it is."""
        where = f"bindings/{_part(vhost)}/e/{_part(source)}/e/{_part(destination)}"
        await self._api.call("POST", where, {"routing_key": key})

    async def is_bound(self, vhost: str, source: str, destination: str) -> bool:
        """Whether an exchange is bound to another."""
        where = f"bindings/{_part(vhost)}/e/{_part(source)}/e/{_part(destination)}"
        return bool(await self._api.call("GET", f"{where}?columns=destination"))

    async def exchanges(self) -> list[ListedExchange]:
        """The exchanges of all vhosts."""
        return msgspec.convert(await self._api.listing(_INVENTORY["exchanges"]), list[ListedExchange])

    async def bindings(self, vhost: str, exchange: str) -> list[ExchangeBinding]:
        """The present bindings of queues to an exchange; none when there is no such exchange."""
        where = f"exchanges/{_part(vhost)}/{_part(exchange)}/bindings/source"
        rows = await self._api.call("GET", f"{where}?columns=destination,destination_type,routing_key")
        return [
            ExchangeBinding(row["destination"], row["routing_key"], exchange)
            for row in rows or ()
            if row["destination_type"] == "queue"
        ]

    async def queues(self, vhost: str = "") -> list[QueueCounts]:
        """The queues of one vhost, or of all, up to some seconds old; none when there is no such vhost."""
        where = f"queues/{_part(vhost)}" if vhost else "queues"
        rows = await self._api.call("GET", f"{where}?columns={_QUEUE_COLUMNS}")
        return [_queue_counts(row) for row in rows] if isinstance(rows, list) else []

    async def inventory(self) -> Inventory:
        """What all vhosts have, up to some seconds old."""
        rows = {name: await self._api.listing(path) for name, path in _INVENTORY.items()}
        try:
            return msgspec.convert(rows, Inventory)
        except msgspec.ValidationError as error:  # of a queue on a node that is down the name alone
            raise Unavailable(f"RabbitMQ's lists are not complete now ({error}).", retry_after=5) from error

    async def delete_queue(self, vhost: str, queue: str) -> None:
        """Delete a queue; no error when there is none."""
        await self._api.call("DELETE", f"queues/{_part(vhost)}/{_part(queue)}")

    async def delete_exchange(self, vhost: str, exchange: str) -> None:
        """Delete an exchange; no error when there is none."""
        await self._api.call("DELETE", f"exchanges/{_part(vhost)}/{_part(exchange)}")

    async def connections(self, vhost: str) -> list[ClientConnection]:
        """The connections to `vhost`, up to some seconds old; none when there is no such vhost."""
        rows = await self._api.call("GET", f"vhosts/{_part(vhost)}/connections")
        return [_client_connection(row) for row in rows if "name" in row] if isinstance(rows, list) else []

    async def user_connections(self) -> list[UserConnection]:
        """The connections of all users, up to some seconds old."""
        rows = await self._api.listing("connections?columns=user,peer_host,vhost")
        return msgspec.convert(rows, list[UserConnection])

    async def close_connection(self, connection: ClientConnection, reason: str) -> None:
        """Close one connection; no error when it has gone already."""
        await self._api.call("DELETE", f"connections/{_part(connection.id)}", headers={"X-Reason": reason})

    async def close_user_connections(self, user: str, reason: str) -> None:
        """Close every connection of one user.

        The broker responds with 500 when one of them closes by itself at that moment, and leaves the others
        open: the request is sent again.
        """
        path, headers = f"connections/username/{_part(user)}", {"X-Reason": reason}
        for _ in range(_CLOSE_ATTEMPTS):
            response = await self._api.send("DELETE", path, headers=headers)
            if response.status_code != httpx.codes.INTERNAL_SERVER_ERROR:
                break
            await asyncio.sleep(_CLOSE_RETRY_SECONDS)
        self._api.content("DELETE", path, response)

    async def ensure_disconnected(self, user: str, reason: str) -> None:
        """`close_user_connections` until none is left. Raises `Unavailable` when they do not close.

        The broker responds to a close request only when the connection's channel has stopped accepting
        messages; a second request ends a connection whose client does not confirm the close. RabbitMQ may go
        on listing a connection under its user that has ended, until the node stops: one of which it has no
        details after a request to close it, and which it lists before and after that.
        """
        ended: set[str] = set()
        try:
            async with asyncio.timeout(_DISCONNECT_SECONDS):
                await self.close_user_connections(user, reason)
                while (listed := await self._connections_of(user)) - ended:
                    await asyncio.sleep(_DISCONNECT_POLL_SECONDS)
                    await self.close_user_connections(user, reason)
                    ended = {name for name in listed if not await self._has_details(name)}
        except TimeoutError as error:
            what = f"The connections of {user} did not end within {_DISCONNECT_SECONDS:.0f} s."
            raise Unavailable(what, retry_after=1) from error
        if listed:
            log.warning("the broker lists connections that have ended", user=user, connections=len(listed))

    async def connection_count(self, user: str) -> int:
        """How many connections the broker counts for `user` now (`connections` may be some seconds old)."""
        return len(await self._connections_of(user))

    async def _connections_of(self, user: str) -> set[str]:
        rows = await self._api.call("GET", f"connections/username/{_part(user)}")
        return {row["name"] for row in rows} if isinstance(rows, list) else set()

    async def _has_details(self, connection: str) -> bool:
        return await self._api.call("GET", f"connections/{_part(connection)}") is not None

    async def close(self) -> None:
        await self._api.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _part(text: str) -> str:
    return quote(text, safe="")


def _queue_counts(row: Mapping[str, Any]) -> QueueCounts:
    """Counts are missing for a second after a queue has been declared."""
    return QueueCounts(
        vhost=row["vhost"],
        name=row["name"],
        ready=row.get("messages_ready", 0),
        unacknowledged=row.get("messages_unacknowledged", 0),
        consumers=row.get("consumers", 0),
    )


def _client_connection(row: Mapping[str, Any]) -> ClientConnection:
    named = row.get("client_properties") or {}
    return ClientConnection(
        id=row["name"],
        name=named.get("connection_name") or row.get("user_provided_name") or "",
        user=row.get("user", ""),
        state=row.get("state", ""),
    )

"""RabbitMQ's management API, as far as we need it."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Self
from urllib.parse import quote, unquote, urlsplit

import httpx
import msgspec

from app.broker.rights import Permission, TopicPermission
from app.broker.survey import Survey
from app.kit.errors import Unavailable

_SECONDS = 10.0
#: How often, and how far apart, connections are closed again that were ending just then.
_RACES, _RACE_SECONDS = 5, 0.1
#: Until when a user's connections must have ended, and how far apart they are told to.
_END_SECONDS, _AGAIN_SECONDS = 10.0, 0.05
_SURVEY = {
    "queues": "queues?columns=vhost,name,type,arguments,consumers"
    ",messages_unacknowledged,message_bytes_unacknowledged",
    "exchanges": "exchanges?columns=vhost,name",
    "bindings": "bindings?columns=vhost,source,destination",
    "connections": "connections?columns=name,user,recv_oct",
}
_QUEUE_COLUMNS = "vhost,name,messages_ready,messages_unacknowledged,consumers"


class Opened(msgspec.Struct, frozen=True):
    """A client's connection as the broker sees it. `id` names it for closing, `name` is the client's own."""

    id: str
    name: str
    user: str
    state: str


class Queue(msgspec.Struct, frozen=True):
    """A queue as the broker sees it: messages that wait, messages that its consumers have not acknowledged
    yet, and how many consumers there are."""

    vhost: str
    name: str
    ready: int
    unacknowledged: int
    consumers: int


class Credentials(msgspec.Struct, frozen=True):
    """A user's password as the broker keeps it: a salted hash, and the name of its algorithm."""

    password_hash: str
    hashing_algorithm: str


class Binding(msgspec.Struct, frozen=True):
    """What routes messages of an exchange to a queue (or to another exchange) called `queue`."""

    queue: str
    key: str


class Management:
    """The management API at one URL (`http://user:password@host:port`). Close it when done.

    Every call raises `Unavailable` when the API does not answer or answers with an error.
    """

    def __init__(self, api_url: str) -> None:
        parts = urlsplit(api_url)
        self._where = f"{parts.hostname}:{parts.port}"
        self._user = unquote(parts.username or "guest")
        self._http = httpx.AsyncClient(
            base_url=f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/api/",
            auth=(self._user, unquote(parts.password or "guest")),
            timeout=_SECONDS,
            trust_env=False,
        )

    @property
    def user(self) -> str:
        """The user that we are on the broker."""
        return self._user

    async def check(self) -> None:
        """Raise `Unavailable`, saying what to do, unless the management plugin answers and lets us in."""
        await self._call("GET", "overview")

    async def put_vhost(self, vhost: str) -> None:
        await self._call("PUT", f"vhosts/{_part(vhost)}", {})

    async def delete_vhost(self, vhost: str) -> None:
        """Remove a vhost and everything in it; nothing happens when it is not there."""
        await self._call("DELETE", f"vhosts/{_part(vhost)}")

    async def vhosts(self) -> list[str]:
        return [row["name"] for row in await self._call("GET", "vhosts?columns=name")]

    async def put_user(self, user: str, password: str) -> None:
        """Make a user without any administrative tag, or give it a new password."""
        await self._call("PUT", f"users/{_part(user)}", {"password": password, "tags": ""})

    async def credentials(self, user: str) -> Credentials | None:
        """The user's password, hashed; None when there is no such user."""
        row = await self._call("GET", f"users/{_part(user)}")
        return Credentials(row["password_hash"], row["hashing_algorithm"]) if row else None

    async def restore_credentials(self, user: str, credentials: Credentials) -> None:
        """Give a user without any administrative tag a password that it has had."""
        await self._call("PUT", f"users/{_part(user)}", msgspec.to_builtins(credentials) | {"tags": ""})

    async def delete_user(self, user: str) -> None:
        await self._call("DELETE", f"users/{_part(user)}")

    async def permit(self, vhost: str, user: str, *, configure: str, write: str, read: str) -> None:
        """What `user` may do in `vhost`: three patterns of resource names."""
        rights = {"configure": configure, "write": write, "read": read}
        await self._call("PUT", f"permissions/{_part(vhost)}/{_part(user)}", rights)

    async def forbid(self, vhost: str, user: str) -> None:
        """Take all of a user's rights in `vhost` away, and with them the way in."""
        await self._call("DELETE", f"permissions/{_part(vhost)}/{_part(user)}")
        await self._call("DELETE", f"topic-permissions/{_part(vhost)}/{_part(user)}")

    async def permit_topics(self, vhost: str, user: str, permission: TopicPermission) -> None:
        """With which keys `user` may publish to a topic exchange of `vhost`, and bind to it."""
        where = f"topic-permissions/{_part(vhost)}/{_part(user)}"
        await self._call("PUT", where, msgspec.to_builtins(permission))

    async def permissions(self) -> dict[tuple[str, str], Permission]:
        """What users may do, by vhost and user."""
        rows = await self._call("GET", "permissions")
        return {(row["vhost"], row["user"]): msgspec.convert(row, Permission) for row in rows}

    async def topic_permissions(self) -> dict[tuple[str, str], TopicPermission]:
        """With which keys users may publish and bind, by vhost and user."""
        rows = await self._call("GET", "topic-permissions")
        return {(row["vhost"], row["user"]): msgspec.convert(row, TopicPermission) for row in rows}

    async def user_limits(self) -> dict[str, dict[str, int]]:
        """What `limit_user` has set, by user."""
        return {row["user"]: row["value"] for row in await self._call("GET", "user-limits")}

    async def limit_vhost(self, vhost: str, limits: Mapping[str, int]) -> None:
        """`max-connections`, `max-queues`."""
        for name, value in limits.items():
            await self._call("PUT", f"vhost-limits/{_part(vhost)}/{name}", {"value": value})

    async def limit_user(self, user: str, limits: Mapping[str, int]) -> None:
        """`max-connections`, `max-channels`."""
        for name, value in limits.items():
            await self._call("PUT", f"user-limits/{_part(user)}/{name}", {"value": value})

    async def put_operator_policy(
        self, vhost: str, name: str, definition: Mapping[str, Any], pattern: str = ".*"
    ) -> None:
        """A policy on the queues of `vhost` that its user can neither see around nor loosen."""
        await self._put_policy("operator-policies", vhost, name, definition, pattern)

    async def put_policy(
        self, vhost: str, name: str, definition: Mapping[str, Any], pattern: str = ".*"
    ) -> None:
        """An ordinary policy on the queues of `vhost`."""
        await self._put_policy("policies", vhost, name, definition, pattern)

    async def _put_policy(
        self, kind: str, vhost: str, name: str, definition: Mapping[str, Any], pattern: str
    ) -> None:
        policy = {"pattern": pattern, "apply-to": "queues", "priority": 0, "definition": dict(definition)}
        await self._call("PUT", f"{kind}/{_part(vhost)}/{_part(name)}", policy)

    async def put_exchange(self, vhost: str, exchange: str, kind: str, *, internal: bool = False) -> None:
        """A durable exchange; an internal one takes only what the broker itself puts there."""
        made = {"type": kind, "durable": True, "auto_delete": False, "internal": internal}
        await self._call("PUT", f"exchanges/{_part(vhost)}/{_part(exchange)}", made)

    async def put_queue(self, vhost: str, queue: str, arguments: Mapping[str, Any]) -> None:
        """A durable queue."""
        made = {"durable": True, "auto_delete": False, "arguments": dict(arguments)}
        await self._call("PUT", f"queues/{_part(vhost)}/{_part(queue)}", made)

    async def bind(
        self, vhost: str, exchange: str, queue: str, key: str, arguments: Mapping[str, Any]
    ) -> None:
        """Bind a queue to an exchange; nothing changes when it is bound so already."""
        where = f"bindings/{_part(vhost)}/e/{_part(exchange)}/q/{_part(queue)}"
        await self._call("POST", where, {"routing_key": key, "arguments": dict(arguments)})

    async def bindings(self, vhost: str, exchange: str) -> list[Binding]:
        """Where an exchange leads at this moment; none when it is not there."""
        where = f"exchanges/{_part(vhost)}/{_part(exchange)}/bindings/source"
        rows = await self._call("GET", f"{where}?columns=destination,routing_key")
        return [Binding(row["destination"], row["routing_key"]) for row in rows or ()]

    async def queues(self, vhost: str = "") -> list[Queue]:
        """The queues of one vhost, or of all, as of some seconds ago; none when the vhost is not there."""
        where = f"queues/{_part(vhost)}" if vhost else "queues"
        rows = await self._call("GET", f"{where}?columns={_QUEUE_COLUMNS}")
        return [_queue(row) for row in rows] if isinstance(rows, list) else []

    async def survey(self) -> Survey:
        """What all vhosts have, as of some seconds ago."""
        rows = {name: await self._call("GET", path) for name, path in _SURVEY.items()}
        return msgspec.convert(rows, Survey)

    async def delete_queue(self, vhost: str, queue: str) -> None:
        """Nothing happens when it is not there."""
        await self._call("DELETE", f"queues/{_part(vhost)}/{_part(queue)}")

    async def delete_exchange(self, vhost: str, exchange: str) -> None:
        """Nothing happens when it is not there."""
        await self._call("DELETE", f"exchanges/{_part(vhost)}/{_part(exchange)}")

    async def connections(self, vhost: str) -> list[Opened]:
        """Who is connected to `vhost`, as of some seconds ago; empty when it is not there."""
        rows = await self._call("GET", f"vhosts/{_part(vhost)}/connections")
        return [_opened(row) for row in rows if "name" in row] if isinstance(rows, list) else []

    async def close_connection(self, connection: Opened, reason: str) -> None:
        """End one connection; nothing happens when it has gone already."""
        await self._call("DELETE", f"connections/{_part(connection.id)}", headers={"X-Reason": reason})

    async def close_user(self, user: str, reason: str) -> None:
        """End every connection of one user: what a revocation needs.

        The broker answers 500 when one of them ends by itself at that moment, and leaves the others open:
        asked again, it finds it gone.
        """
        path, headers = f"connections/username/{_part(user)}", {"X-Reason": reason}
        for _ in range(_RACES):
            answer = await self._send("DELETE", path, headers=headers)
            if answer.status_code != httpx.codes.INTERNAL_SERVER_ERROR:
                break
            await asyncio.sleep(_RACE_SECONDS)
        self._content("DELETE", path, answer)

    async def end_connections(self, user: str, reason: str) -> None:
        """`close_user`; when this returns, none of its connections is left. Raises `Unavailable` when they do
        not end.

        The broker answers the closing call only when the connection's channel has stopped taking messages;
        a second call ends a connection whose client never says goodbye.
        """
        try:
            async with asyncio.timeout(_END_SECONDS):
                await self.close_user(user, reason)
                while await self.connected(user):
                    await asyncio.sleep(_AGAIN_SECONDS)
                    await self.close_user(user, reason)
        except TimeoutError as error:
            what = f"The connections of {user} did not end within {_END_SECONDS:.0f} s."
            raise Unavailable(what, retry_after=1) from error

    async def connected(self, user: str) -> int:
        """How many connections `user` has at this moment (`connections` may be some seconds behind)."""
        rows = await self._call("GET", f"connections/username/{_part(user)}")
        return len(rows) if isinstance(rows, list) else 0

    async def _call(
        self, method: str, path: str, body: Any = None, *, headers: Mapping[str, str] | None = None
    ) -> Any:
        """The answer's JSON; None for an empty answer and for 404, the only error that can be meant."""
        return self._content(method, path, await self._send(method, path, body, headers=headers))

    async def _send(
        self, method: str, path: str, body: Any = None, *, headers: Mapping[str, str] | None = None
    ) -> httpx.Response:
        async with self._translated():
            return await self._http.request(method, path, json=body, headers=headers)

    def _content(self, method: str, path: str, answer: httpx.Response) -> Any:
        if answer.status_code == 404 and path != "overview":
            return None
        if answer.is_error:
            raise Unavailable(_complaint(method, path, self._where, answer), retry_after=5)
        return answer.json() if answer.content else None

    @asynccontextmanager
    async def _translated(self) -> AsyncIterator[None]:
        try:
            yield
        except httpx.HTTPError as error:
            raise Unavailable(
                f"RabbitMQ's management API does not answer at {self._where} ({type(error).__name__}): "
                "start the broker, enable the plugin rabbitmq_management, or set RABBITMQ_API_URL.",
                retry_after=5,
            ) from error

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _part(text: str) -> str:
    return quote(text, safe="")


def _queue(row: Mapping[str, Any]) -> Queue:
    """Counts are missing for a second after a queue has been declared."""
    return Queue(
        vhost=row["vhost"],
        name=row["name"],
        ready=row.get("messages_ready", 0),
        unacknowledged=row.get("messages_unacknowledged", 0),
        consumers=row.get("consumers", 0),
    )


def _opened(row: Mapping[str, Any]) -> Opened:
    named = row.get("client_properties") or {}
    return Opened(
        id=row["name"],
        name=named.get("connection_name") or row.get("user_provided_name") or "",
        user=row.get("user", ""),
        state=row.get("state", ""),
    )


def _complaint(method: str, path: str, where: str, answer: httpx.Response) -> str:
    if answer.status_code == 401:
        return f"RabbitMQ's management API at {where} refuses our login: set RABBITMQ_API_URL."
    if path == "overview":
        return (
            f"What answers at {where} is not RabbitMQ's management API ({answer.status_code}): "
            "enable the plugin rabbitmq_management or set RABBITMQ_API_URL."
        )
    said = answer.text[:200].replace("\n", " ")
    return f"RabbitMQ's management API at {where} refused {method} {path}: {answer.status_code} {said}"

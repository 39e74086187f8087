"""What a tenant's user may do on the broker. This list is the only one; docs/security.md shows it.

A tenant declares, binds, reads, purges and deletes queues of its own in the vhost of its name, and reads the
feed's exchange. It publishes nothing, declares and binds no exchange, and reaches nothing else, the queue of
its losses included.

The broker applies the list in one of two ways. With `http` it asks us about each resource (see
`broker.authorisation`), by kind and name. With `patterns` it matches names against permission patterns, which
do not tell a queue from an exchange: a tenant that may name its queues may declare exchanges of such names,
and publish to them. So there a tenant has queues named by the server only: nobody can declare an exchange
called `amq.gen…`.
"""

import re
from typing import Literal

import msgspec

Mode = Literal["patterns", "http"]

_PREFIX = "op-"
_SERVER_NAMED = r"amq\.gen.*"
#: A `#` may stand for any number of words: each one multiplies what the broker tries for each message.
_BINDING_KEY = re.compile(r"[^#]*(#[^#]*){0,2}")


class Permission(msgspec.Struct, frozen=True):
    """Patterns of the names of resources that a user may configure, write to and read from."""

    configure: str
    write: str
    read: str


class TopicPermission(msgspec.Struct, frozen=True):
    """Patterns of the keys with which a user may publish to a topic exchange, and bind to it."""

    exchange: str
    write: str
    read: str


class Access(msgspec.Struct, frozen=True):
    """One question of the broker about a resource. `resource` is `queue`, `exchange` or `topic` (an exchange,
    asked about with a routing key), `permission` is `configure`, `write` or `read`."""

    user: str
    vhost: str
    resource: str
    name: str
    permission: str
    routing_key: str = ""


def user_of(slug: str) -> str:
    """The tenant's user."""
    return f"{_PREFIX}{slug}"


def is_tenant(user: str) -> bool:
    """Whether the user is a tenant's. All others are the broker's own affair."""
    return user.startswith(_PREFIX)


def may_enter(user: str, vhost: str) -> bool:
    """Whether the user is the tenant of that vhost."""
    return user == user_of(vhost)


def allows(access: Access, exchange: str) -> bool:
    """Whether the tenant may do it, where the feed is published to `exchange`."""
    if not may_enter(access.user, access.vhost):
        return False
    match access.resource, access.permission:
        case "queue", "configure" | "write" | "read":
            return bool(re.fullmatch(_queues(access.vhost), access.name, re.DOTALL))
        case "exchange", "read":
            return access.name == exchange
        case "topic", "read":
            return access.name == exchange and bool(_BINDING_KEY.fullmatch(access.routing_key))
        case _:
            return False


def permission(slug: str, exchange: str, mode: Mode) -> Permission | None:
    """The permission that the broker itself keeps of the tenant; None where it asks us."""
    if mode == "http":
        return None
    read = rf"^({_SERVER_NAMED}|{re.escape(exchange)})$"
    return Permission(configure=f"^{_SERVER_NAMED}$", write=f"^{_SERVER_NAMED}$", read=read)


def topic_permission(exchange: str, mode: Mode) -> TopicPermission | None:
    """The same, of the keys of the feed's exchange."""
    if mode == "http":
        return None
    return TopicPermission(exchange, write="^$", read=f"^{_BINDING_KEY.pattern}$")


def _queues(slug: str) -> str:
    """Names of the tenant's queues: given by the server, by a client library that must find its queue again
    after a reconnect (`amq_…`, as aio-pika does), or by the tenant (`<slug>.…`)."""
    return rf"{_SERVER_NAMED}|amq_.*|{re.escape(slug)}\..*"

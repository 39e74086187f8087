"""What a tenant's user may do on the broker. This list is the only one; docs/security.md shows it.

A tenant declares, binds, reads, purges and deletes its own queues in the vhost of its name, and reads the
feed's exchange and that of replays. It publishes nothing, declares and binds no exchange, and has no access
to anything else, the queue of its losses included.

Clients of established odds feeds log in with an API key as user name (`access.key_logins`) and bind to the
exchange `oddinfeed`, which receives everything that the feed's exchange does. Some of them declare it when
they start, so a key may; a client that deletes it or declares it differently loses its own messages until
it is restored. The exchange `oddinreplay`, to which only replays are published, is such an exchange, too.

The broker applies the list in one of two modes. With `http` it requests a decision for each resource, by kind
and name (see `broker.authorisation`). With `patterns` it matches names against permission patterns, which do
not distinguish a queue from an exchange: a tenant that may name its queues could declare exchanges of such
names, and publish to them. So in this mode a tenant has server-named queues only: nobody can declare an
exchange called `amq.gen…`.
"""

import re
from typing import Literal

import msgspec

AuthorisationMode = Literal["patterns", "http"]

#: The exchange to which clients of established odds feeds bind.
SDK_EXCHANGE = "oddinfeed"
#: The exchange to which replays are published, by the name that these clients know.
REPLAY_EXCHANGE = "oddinreplay"
#: Exchanges that some of these clients declare when they start.
CLIENT_EXCHANGES = (SDK_EXCHANGE, REPLAY_EXCHANGE)
#: The tag of tenants' users. The broker reports it only for a user whose password it has checked itself.
TENANT_TAG = "tenant"
_PREFIX = "op-"
_SERVER_NAMED = r"amq\.gen.*"
#: A `#` matches any number of words: each one multiplies what the broker tries for each message.
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


class ResourceCheck(msgspec.Struct, frozen=True):
    """One authorisation request of the broker about a resource. `resource` is `queue`, `exchange` or `topic`
    (an exchange, with a routing key), `permission` is `configure`, `write` or `read`; `by_key`: the user
    logged in with an API key."""

    vhost: str
    resource: str
    name: str
    permission: str
    routing_key: str = ""
    by_key: bool = False


def tenant_user(vhost: str) -> str:
    """The name of the tenant's user."""
    return f"{_PREFIX}{vhost}"


def is_tenant_user(user: str) -> bool:
    """Whether the user is a tenant's. The broker decides about all others by its own permissions."""
    return user.startswith(_PREFIX)


def is_own_vhost(user: str, vhost: str) -> bool:
    """Whether the vhost is that of the tenant's user."""
    return user == tenant_user(vhost)


def is_allowed(access: ResourceCheck, exchange: str) -> bool:
    """Whether a tenant may do it in its own vhost, where the feed is published to `exchange`."""
    match access.resource, access.permission:
        case "queue", "configure" | "write" | "read":
            return bool(re.fullmatch(_queues(access.vhost), access.name, re.DOTALL))
        case "exchange", "read":
            return access.name in (exchange, *CLIENT_EXCHANGES)
        case "exchange", "configure":
            return access.by_key and access.name in CLIENT_EXCHANGES and access.name != exchange
        case "topic", "read":
            known = access.name in (exchange, *CLIENT_EXCHANGES)
            return known and bool(_BINDING_KEY.fullmatch(access.routing_key))
        case _:
            return False


def permission(exchange: str, mode: AuthorisationMode, *, replays: bool = True) -> Permission | None:
    """The tenant's permission as the broker stores it; None in mode `http`. Without `replays`: as version
    0.2.0 sets it."""
    if mode == "http":
        return None
    read = "|".join((_SERVER_NAMED, re.escape(exchange), *_replays(replays)))
    read = f"^({read})$"
    return Permission(configure=f"^{_SERVER_NAMED}$", write=f"^{_SERVER_NAMED}$", read=read)


def topic_permissions(
    exchange: str, mode: AuthorisationMode, *, replays: bool = True
) -> frozenset[TopicPermission]:
    """The tenant's topic permissions, on each exchange that it may read; none in mode `http`. To an
    exchange that has none the broker allows every key. `replays` as in `permission`."""
    if mode == "http":
        return frozenset()
    read = f"^{_BINDING_KEY.pattern}$"
    exchanges = (exchange, *_replays(replays))
    return frozenset(TopicPermission(name, write="^$", read=read) for name in exchanges)


def _replays(replays: bool) -> tuple[str, ...]:
    return (REPLAY_EXCHANGE,) if replays else ()


def _queues(vhost: str) -> str:
    """A pattern of the names of a tenant's queues: set by the server, by a client library that must find its
    queue again after a reconnect (`amq_…`, as aio-pika does), or by the tenant (`<vhost>.…`)."""
    return rf"{_SERVER_NAMED}|amq_.*|{re.escape(vhost)}\..*"

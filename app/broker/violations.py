"""What tenants have at the broker and may not have.

Permissions say which resources a tenant may declare, and the broker limits queues and connections. Nothing in
the broker limits the bindings of a vhost, the messages that its consumers have not acknowledged, or a message
that is sent in endless pieces. These are checked here, and so is what earlier permissions allowed.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import msgspec

from app.broker.broker_users import is_publisher_user
from app.broker.management_api import Inventory, ListedConnection, ListedQueue
from app.broker.permissions import CLIENT_EXCHANGES, SDK_EXCHANGE, tenant_user
from app.broker.provisioning import LOST, QUEUE_LIMITS, RUNNING, USER_LIMITS

_MAX_PRIORITIES = 10  #: each is a queue of its own within the broker
_NAMES, _NAME_LENGTH = 3, 60  #: shown: a name may have 255 bytes, and a queue any number of arguments
_ALLOWED_ARGUMENTS = frozenset(
    {
        "x-expires",
        "x-max-length",
        "x-max-length-bytes",
        "x-message-ttl",
        "x-queue-master-locator",
        "x-queue-mode",
        "x-queue-version",
        "x-single-active-consumer",
    }
)


class TenantLimits(msgspec.Struct, frozen=True):
    """What one tenant may have. `received` is bytes received on one connection between two inventories: a
    client sends acknowledgements only, of some twenty bytes each. `key_connections` and `channels` (of one
    connection) concern clients that log in with a key: the broker does not limit users that it does not
    know."""

    bindings: int = 1000
    consumers: int = 1000
    unacknowledged: int = QUEUE_LIMITS["max-length"]
    unacknowledged_bytes: int = QUEUE_LIMITS["max-length-bytes"]
    received: int = 16 * 1024 * 1024
    key_connections: int = USER_LIMITS["max-connections"]
    channels: int = USER_LIMITS["max-channels"]


class Violation(msgspec.Struct, frozen=True):
    """What a tenant has in its `vhost` and may not have: `rule` names the rule, `queue` or `exchange` what to
    delete. `detail` is printable ASCII of some hundred characters, whatever the tenant has named its own: it
    is logged, stored, and sent in a header."""

    vhost: str
    rule: str
    detail: str
    queue: str = ""
    exchange: str = ""


def _shown(*names: str) -> str:
    """The first of the names, escaped, each with no more than its beginning."""
    first = [name.encode("unicode_escape").decode("ascii")[:_NAME_LENGTH] for name in names[:_NAMES]]
    return ", ".join(first) + (f" and {len(names) - _NAMES} more" if len(names) > _NAMES else "")


def client_connections(inventory: Inventory, vhost: str, own_user: str) -> list[ListedConnection]:
    """The connections of a tenant's clients: neither those of feed processes nor those of `own_user`, as whom
    we administer the broker."""
    return [
        each
        for each in inventory.connections
        if each.vhost == vhost and each.user not in ("", own_user) and not is_publisher_user(each.user)
    ]


def find_violations(
    now: Inventory,
    before: Inventory,
    vhosts: Collection[str],
    exchange: str,
    own_user: str,
    limits: TenantLimits,
) -> list[Violation]:
    """What the tenants of these vhosts have and may not have, where the feed is published to `exchange`;
    `before` is the previous inventory, `own_user` as in `client_connections`."""
    found: list[Violation] = []
    received = {each.name: each.recv_oct for each in before.connections}
    present = now.by_vhost()
    for vhost in sorted(present.keys() & set(vhosts)):
        has = present[vhost]
        found += _resources(vhost, has, exchange, limits)
        found += _connections(vhost, client_connections(has, vhost, own_user), received, limits)
    return found


def _resources(vhost: str, has: Inventory, exchange: str, limits: TenantLimits) -> Iterator[Violation]:
    queues = [queue for queue in has.queues if queue.name != LOST]
    yield from (violation for queue in queues for violation in _queue(queue, limits))
    yield from _exchanges(vhost, has, exchange)
    yield from _bindings(vhost, has, limits)
    if (consumers := sum(queue.consumers for queue in queues)) > limits.consumers:
        yield Violation(vhost, "consumers", f"{consumers} consumers; {limits.consumers} at most")


def _queue(queue: ListedQueue, limits: TenantLimits) -> Iterator[Violation]:
    if queue.type != "classic":
        what = f"{_shown(queue.name)} is a {queue.type} queue; only classic queues are limited"
        yield Violation(queue.vhost, "queue_type", what, queue=queue.name)
    if wrong := [name for name, value in queue.arguments.items() if not _allowed(name, value)]:
        what = f"{_shown(queue.name)} was declared with {_shown(*sorted(wrong))}"
        yield Violation(queue.vhost, "queue_arguments", what, queue=queue.name)
    held, size = queue.messages_unacknowledged, queue.message_bytes_unacknowledged
    if held > limits.unacknowledged or size > limits.unacknowledged_bytes:
        what = f"{held} messages ({size} bytes) of {_shown(queue.name)} are not acknowledged"
        yield Violation(queue.vhost, "unacknowledged", what)


def _allowed(name: str, value: Any) -> bool:
    match name:
        case "x-queue-type":
            return True  # the rule `queue_type` checks the resulting type
        case "x-overflow":
            return bool(value == "drop-head")
        case "x-max-priority":
            return isinstance(value, int) and value <= _MAX_PRIORITIES
        case _:
            return name in _ALLOWED_ARGUMENTS


def _exchanges(vhost: str, has: Inventory, exchange: str) -> Iterator[Violation]:
    for each in has.exchanges:
        ours = each.name in ("", exchange, *CLIENT_EXCHANGES, LOST, RUNNING) or each.name.startswith("amq.")
        if not ours:
            yield Violation(
                vhost, "exchange", f"there is an exchange {_shown(each.name)}", exchange=each.name
            )


def _bindings(vhost: str, has: Inventory, limits: TenantLimits) -> Iterator[Violation]:
    """Names the queue with most bindings: deleting it costs the broker less than many unbinds."""
    bound = Counter(
        each.destination
        for each in has.bindings
        if each.source and each.destination not in (LOST, SDK_EXCHANGE)
    )
    if bound.total() > limits.bindings:
        [(queue, count)] = bound.most_common(1)
        what = f"{bound.total()} bindings, {count} of them of {_shown(queue)}; {limits.bindings} at most"
        yield Violation(vhost, "bindings", what, queue=queue)


def _connections(
    vhost: str, clients: Collection[ListedConnection], received: Mapping[str, int], limits: TenantLimits
) -> Iterator[Violation]:
    by_key = 0
    for each in clients:
        sent = each.recv_oct - received.get(each.name, 0)
        if sent > limits.received:
            yield Violation(vhost, "sends", f"{sent} bytes came from {each.name} in a few seconds")
        if each.channels > limits.channels:
            yield Violation(
                vhost, "channels", f"{each.channels} channels of {each.name}; {limits.channels} at most"
            )
        by_key += each.user != tenant_user(vhost)
    if by_key > limits.key_connections:
        what = f"{by_key} connections by key; {limits.key_connections} at most"
        yield Violation(vhost, "connections", what)

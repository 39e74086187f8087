"""What tenants have at the broker, against what they may have.

Rights say which resources a tenant may make, and the broker has limits of queues and connections. Nothing of
the broker bounds the bindings of a vhost, what its consumers have not acknowledged, or a message that is sent
piece by piece and never ends. So these are looked at, with what earlier rights have let tenants make.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any

import msgspec

from app.broker.provisioning import LOST, QUEUE_LIMITS
from app.broker.rights import user_of
from app.broker.survey import Queue, Survey

_MOST_PRIORITIES = 10  #: each is a queue of its own within the broker
_HARMLESS = frozenset(
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


class Limits(msgspec.Struct, frozen=True):
    """What one tenant may have. `received` is bytes of one connection from one look to the next: a client
    sends acknowledgements, which are some twenty bytes each."""

    bindings: int = 1000
    consumers: int = 1000
    unacknowledged: int = QUEUE_LIMITS["max-length"]
    unacknowledged_bytes: int = QUEUE_LIMITS["max-length-bytes"]
    received: int = 16 * 1024 * 1024


class Offence(msgspec.Struct, frozen=True):
    """What a tenant has and may not have: `rule` names the rule, `queue` or `exchange` what must go."""

    tenant: str
    rule: str
    detail: str
    queue: str = ""
    exchange: str = ""


def offences(
    now: Survey, before: Survey, tenants: Collection[str], exchange: str, limits: Limits
) -> list[Offence]:
    """What these tenants have that they may not have, where the feed is published to `exchange`; `before` is
    the survey of the look before."""
    return [offence for slug in sorted(tenants) for offence in _of(slug, now, before, exchange, limits)]


def _of(slug: str, now: Survey, before: Survey, exchange: str, limits: Limits) -> Iterator[Offence]:
    queues = [queue for queue in now.queues if queue.vhost == slug and queue.name != LOST]
    yield from (offence for queue in queues for offence in _queue(queue, limits))
    yield from _exchanges(slug, now, exchange)
    yield from _bindings(slug, now, limits)
    if (consumers := sum(queue.consumers for queue in queues)) > limits.consumers:
        yield Offence(slug, "consumers", f"{consumers} consumers; {limits.consumers} at most")
    yield from _connections(slug, now, before, limits)


def _queue(queue: Queue, limits: Limits) -> Iterator[Offence]:
    if queue.type != "classic":
        what = f"{queue.name} is a {queue.type} queue; only classic queues are limited"
        yield Offence(queue.vhost, "queue_type", what, queue=queue.name)
    if wrong := [name for name, value in queue.arguments.items() if not _harmless(name, value)]:
        what = f"{queue.name} was declared with {', '.join(sorted(wrong))}"
        yield Offence(queue.vhost, "queue_arguments", what, queue=queue.name)
    held, size = queue.messages_unacknowledged, queue.message_bytes_unacknowledged
    if held > limits.unacknowledged or size > limits.unacknowledged_bytes:
        what = f"{held} messages ({size} bytes) of {queue.name} are not acknowledged"
        yield Offence(queue.vhost, "unacknowledged", what)


def _harmless(name: str, value: Any) -> bool:
    match name:
        case "x-queue-type":
            return True  # `type` says what became of it
        case "x-overflow":
            return bool(value == "drop-head")
        case "x-max-priority":
            return isinstance(value, int) and value <= _MOST_PRIORITIES
        case _:
            return name in _HARMLESS


def _exchanges(slug: str, now: Survey, exchange: str) -> Iterator[Offence]:
    for each in now.exchanges:
        ours = each.name in ("", exchange, LOST) or each.name.startswith("amq.")
        if each.vhost == slug and not ours:
            yield Offence(slug, "exchange", f"there is an exchange {each.name}", exchange=each.name)


def _bindings(slug: str, now: Survey, limits: Limits) -> Iterator[Offence]:
    """The queue with most bindings goes: that is cheaper for the broker than to take them off one by one."""
    bound = Counter(
        each.destination
        for each in now.bindings
        if each.vhost == slug and each.source and each.destination != LOST
    )
    if bound.total() > limits.bindings:
        [(queue, count)] = bound.most_common(1)
        what = f"{bound.total()} bindings, {count} of them of {queue}; {limits.bindings} at most"
        yield Offence(slug, "bindings", what, queue=queue)


def _connections(slug: str, now: Survey, before: Survey, limits: Limits) -> Iterator[Offence]:
    known = {each.name: each.recv_oct for each in before.connections}
    for each in now.connections:
        sent = each.recv_oct - known.get(each.name, 0)
        if each.user == user_of(slug) and sent > limits.received:
            yield Offence(slug, "sends", f"{sent} bytes came from {each.name} in a few seconds")

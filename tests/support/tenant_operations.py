"""What a tenant's client may try at the broker: the list that docs/security.md shows, each as an operation.

An operation gets a channel of the tenant's connection and the tenant's slug, and raises when it is refused.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import aio_pika
from aio_pika.abc import AbstractChannel, AbstractIncomingMessage, AbstractQueue

Operation = Callable[[AbstractChannel, str], Awaitable[object]]
EXCHANGE = "oddsfeed"


async def _queue(channel: AbstractChannel, name: str) -> AbstractQueue:
    """The queue of that name, whether or not it is there; without a name, a new one of the tenant's."""
    if name:
        return await channel.get_queue(name, ensure=False)
    return await channel.declare_queue(exclusive=True)


def _declare(name: str, **options: Any) -> Operation:
    """Declare a queue, and delete it; `{slug}` in its name is the tenant's."""

    async def operation(channel: AbstractChannel, slug: str) -> object:
        queue = await channel.declare_queue(name.format(slug=slug) or None, **options)
        return await queue.delete()

    return operation


def _inspect(name: str) -> Operation:
    return lambda channel, slug: channel.declare_queue(name, passive=True)


def _with_queue(name: str, do: Callable[[AbstractQueue], Awaitable[object]]) -> Operation:
    async def operation(channel: AbstractChannel, slug: str) -> object:
        return await do(await _queue(channel, name))

    return operation


def _bind(key: str, exchange: str = EXCHANGE, queue: str = "") -> Operation:
    return _with_queue(queue, lambda found: found.bind(exchange, key))


async def _unbind(channel: AbstractChannel, slug: str) -> object:
    queue = await _queue(channel, "")
    await queue.bind(EXCHANGE, "#")
    return await queue.unbind(EXCHANGE, "#")


def _consume(name: str = "") -> Operation:
    async def ignore(message: AbstractIncomingMessage) -> None: ...

    return _with_queue(name, lambda queue: queue.consume(ignore))


def _get(name: str = "") -> Operation:
    return _with_queue(name, lambda queue: queue.get(fail=False))


def _purge(name: str = "") -> Operation:
    return _with_queue(name, lambda queue: queue.purge())


def _publish(exchange: str, key: str = "a.b") -> Operation:
    async def operation(channel: AbstractChannel, slug: str) -> object:
        to = await channel.get_exchange(exchange, ensure=False) if exchange else channel.default_exchange
        return await to.publish(aio_pika.Message(b"<forged/>"), key)

    return operation


async def _publish_to_its_queue(channel: AbstractChannel, slug: str) -> object:
    queue = await _queue(channel, "")
    return await channel.default_exchange.publish(aio_pika.Message(b"<forged/>"), queue.name)


def _declare_exchange(name: str, **options: Any) -> Operation:
    async def operation(channel: AbstractChannel, slug: str) -> object:
        return await channel.declare_exchange(name.format(slug=slug), **options)

    return operation


def _bind_exchange(destination: str, source: str) -> Operation:
    async def operation(channel: AbstractChannel, slug: str) -> object:
        to = await channel.get_exchange(destination, ensure=False)
        return await to.bind(await channel.get_exchange(source, ensure=False), "#")

    return operation


def _with(name: str, value: object) -> Operation:
    return _declare("{slug}.new", durable=True, arguments={name: value})


#: Whatever the broker's mode.
ALLOWED: dict[str, Operation] = {
    "declare a queue that the server names": _declare("", exclusive=True),
    "bind a queue of its own to the feed's exchange, by a key with at most two `#`": _bind("#.odds_change.#"),
    "unbind it": _unbind,
    "delete a queue of its own": _declare("", durable=True),
    "consume from a queue of its own": _consume(),
    "get from a queue of its own": _get(),
    "purge a queue of its own": _purge(),
    "inspect a queue of its vhost (passive declare)": _inspect("lost"),
    "bind a queue of its own to `oddinreplay`, to which replays are published": _bind("#", "oddinreplay"),
    "inspect an exchange of its vhost (passive declare)": lambda channel, _: channel.get_exchange(EXCHANGE),
}
#: With `BROKER_AUTHORISATION=http`.
ALLOWED_BY_KIND: dict[str, Operation] = {
    "declare a durable queue `SLUG.…`": _declare("{slug}.feed", durable=True),
    "declare a queue `amq_…`, as some libraries name theirs": _declare("amq_0123", durable=True),
}
REFUSED: dict[str, Operation] = {
    "publish to the feed's exchange": _publish(EXCHANGE),
    "publish to a queue of its own (default exchange)": _publish_to_its_queue,
    "publish to the queue of its losses (default exchange)": _publish("", "lost"),
    "publish to another exchange": _publish("amq.topic"),
    "declare an exchange `SLUG.…`": _declare_exchange("{slug}.mine"),
    "declare an exchange `amq_…`": _declare_exchange("amq_mine"),
    "declare an exchange of another name": _declare_exchange("mine"),
    "declare the feed's exchange, even as it is": _declare_exchange(EXCHANGE, type="topic", durable=True),
    "delete the feed's exchange": lambda channel, _: channel.exchange_delete(EXCHANGE),
    "bind the feed's exchange to another": _bind_exchange("amq.fanout", EXCHANGE),
    "bind another exchange to the feed's": _bind_exchange(EXCHANGE, "amq.topic"),
    "bind a queue to another exchange": _bind("#", "amq.topic"),
    "bind a queue to the exchange of its losses": _bind("#", "lost"),
    "bind by a key with more than two `#`": _bind("#.a.#.b.#"),
    "bind to `oddinreplay` by a key with more than two `#`": _bind("#.a.#.b.#", "oddinreplay"),
    "declare a queue of another name": _declare("foreign"),
    "declare a queue that is called like the feed's exchange": _declare(EXCHANGE),
    "declare a queue that dead-letters to the feed's exchange": _with("x-dead-letter-exchange", EXCHANGE),
    "declare a queue that dead-letters to queues": _with("x-dead-letter-exchange", ""),
    "declare a queue that dead-letters to `lost`": _with("x-dead-letter-exchange", "lost"),
    "consume from the queue of its losses": _consume("lost"),
    "get from the queue of its losses": _get("lost"),
    "purge the queue of its losses": _purge("lost"),
    "bind the queue of its losses": _bind("#", queue="lost"),
    "delete the queue of its losses": lambda channel, _: channel.queue_delete("lost"),
}
#: With `BROKER_AUTHORISATION=patterns`, besides.
REFUSED_BY_NAME = ALLOWED_BY_KIND
#: With an API key as user name, besides: some clients declare their exchange when they start.
ALLOWED_BY_LOGIN: dict[str, Operation] = {
    "declare the exchange `oddinfeed` as it is": _declare_exchange("oddinfeed", type="topic", durable=True),
    "declare the exchange `oddinreplay` as it is": _declare_exchange(
        "oddinreplay", type="topic", durable=True
    ),
    "bind a queue of its own to `oddinfeed`": _bind("*.*.live.*.*.*.*.#", "oddinfeed"),
}
REFUSED_BY_LOGIN: dict[str, Operation] = {
    "publish to `oddinfeed`": _publish("oddinfeed"),
    "publish to `oddinreplay`": _publish("oddinreplay"),
    "bind another exchange to `oddinfeed`": _bind_exchange("oddinfeed", "amq.topic"),
    "bind `oddinfeed` to another exchange": _bind_exchange("amq.fanout", "oddinfeed"),
    "bind to `oddinfeed` by a key with more than two `#`": _bind("#.a.#.b.#", "oddinfeed"),
}

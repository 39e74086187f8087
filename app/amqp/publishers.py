"""What is published to tenants, declared as FastStream publishers: each with its key, schema and description.

The AsyncAPI document comes from these declarations, and every message is published by one of them. How its
bytes reach tenants is the transport under them: a middleware that passes each message to its destination
instead of to FastStream's own producer. A live envelope is published once, whatever the number of tenants:
that `live` returns means that it is passed on, and each tenant's publisher writes it within its window.
The others are for one tenant, and return once the broker has confirmed.
"""

from bisect import bisect_right
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any

from faststream import BaseMiddleware
from faststream.rabbit import ExchangeType, RabbitBroker, RabbitExchange
from faststream.rabbit.publisher import RabbitPublisher
from faststream.rabbit.response import RabbitPublishCommand
from pydantic import WithJsonSchema

from app.amqp.envelope import (
    ALIVE_KEY,
    LIVE_MESSAGES,
    MATCH_MESSAGES,
    TRANSIENT_MESSAGES,
    Envelope,
    live_key,
    replayed_key,
    snapshot_complete_key,
)
from app.amqp.frames import CONTENT_TYPE, AmqpMessage
from app.amqp.tenant_channels import ConfirmedChannel
from app.broker.permissions import REPLAY_EXCHANGE
from app.wire.json_schema import feed_json_schema

_MAX_COUNT = 4096
_MAX_BYTES = 64 * 1024 * 1024
Json = dict[str, Any]
MATCH, NODE = "{match_num}", "{node_id}"  #: parameters of a key
_REFERENCE = "x-reference"  #: in the place of `$ref`, as pydantic knows none to other documents
_ALIVE, _COMPLETE = "alive", "snapshot_complete"
_TRANSIENT = {_ALIVE, *(f"live.{name}" for name in TRANSIENT_MESSAGES)}
_LIVE = "Published as it happens."
_REPLAYED = "Replayed by a recovery."
_OF_REPLAY = "A live message of a match that is over, replayed as it was published then."
#: What differs between a live message and a replayed one, beside its routing key and headers.
_ODDS = "The markets that changed; what is not listed is as it was."
_ALL_ODDS = (
    "The full list: every market that is active or suspended, and if the recovery was requested with "
    "`after`, of a match that is over also how every market ended. What it leaves out is not on offer."
)


class RecentEnvelopes:
    """The newest envelopes, cached in memory so that tenants which keep up share them.

    A range of the change log: every envelope after `floor` and up to `head`, in order; those that take
    `max_bytes` of memory at most, and one at least."""

    def __init__(self, start: int, *, max_bytes: int = _MAX_BYTES) -> None:
        self.floor = start
        self.head = start
        self._seqs: list[int] = []
        self._envelopes: list[Envelope] = []
        self._bytes, self._max_bytes = 0, max_bytes

    def extend(self, envelopes: Iterable[Envelope], head: int) -> None:
        """Add what was read, up to and including the log's `head`; evict the older half when full."""
        for envelope in envelopes:
            self._seqs.append(envelope.seq)
            self._envelopes.append(envelope)
            self._bytes += envelope.memory
        self.head = head
        while len(self._seqs) > 1 and (len(self._seqs) > _MAX_COUNT or self._bytes > self._max_bytes):
            self._evict(len(self._seqs) // 2)

    def covers(self, after: int) -> bool:
        """Whether every envelope after the log's number `after` is here."""
        return after >= self.floor

    def next(self, after: int) -> Envelope | None:
        """The first envelope after `after`, None when there is none up to `head`."""
        index = bisect_right(self._seqs, after)
        return self._envelopes[index] if index < len(self._seqs) else None

    def _evict(self, count: int) -> None:
        self.floor = self._seqs[count - 1]
        self._bytes -= sum(envelope.memory for envelope in self._envelopes[:count])
        del self._seqs[:count], self._envelopes[:count]


@dataclass(frozen=True, slots=True)
class ToTenants:
    """A live envelope, for every tenant that keeps up: each publisher takes it from `recent`."""

    envelope: Envelope
    recent: RecentEnvelopes

    async def pass_on(self) -> None:
        self.recent.extend((self.envelope,), self.envelope.seq)


@dataclass(frozen=True, slots=True)
class ToTenant:
    """A message for the tenant that has this channel."""

    message: AmqpMessage
    channel: ConfirmedChannel

    async def pass_on(self) -> None:
        """Raises what the channel raises."""
        await self.channel.publish(self.message)


class Transport(BaseMiddleware[RabbitPublishCommand, Any]):
    """The last middleware of a publish: passes the message on instead of calling FastStream's producer."""

    async def publish_scope(
        self, call_next: Callable[[RabbitPublishCommand], Awaitable[Any]], cmd: RabbitPublishCommand
    ) -> None:
        published: Any = cmd.body
        await published.pass_on()


class FeedPublishers:
    """The publishers of one exchange. Nothing here connects: `host` is the broker in the document, as tenants
    connect to it, `host[:port]`. `titles` are the message's names by the publishers' titles."""

    def __init__(self, exchange: str, host: str = "localhost") -> None:
        url = f"amqp://op-slug@{host}/slug"
        self.broker = RabbitBroker(url, specification_url=url, logger=None, middlewares=(Transport,))
        self.titles: dict[str, str] = {}
        self._exchange = exchange
        self._schemas = feed_json_schema()
        self._live = {
            name: self._declare(f"live.{name}", name, live_key(name, MATCH), _LIVE)
            for name in sorted(LIVE_MESSAGES)
        }
        self._replayed = {
            name: self._declare(f"recovery.{name}", name, replayed_key(name, MATCH, NODE), _REPLAYED)
            for name in sorted(MATCH_MESSAGES)
        }
        self._of_replay = {
            name: self._declare(
                f"replay.{name}", name, live_key(name, MATCH, NODE), _OF_REPLAY, REPLAY_EXCHANGE
            )
            for name in sorted(LIVE_MESSAGES)
        }
        key = snapshot_complete_key(NODE)
        self._complete = self._declare(_COMPLETE, _COMPLETE, key, "The end of a recovery.")
        when = "Every ten seconds, as long as what happens reaches the tenant."
        self._alive = self._declare(_ALIVE, _ALIVE, ALIVE_KEY, when)

    async def live(self, envelope: Envelope, recent: RecentEnvelopes) -> None:
        """Publish a live envelope to all tenants."""
        await _publish(self._live[envelope.name], envelope.message, ToTenants(envelope, recent))

    async def replayed(self, name: str, message: AmqpMessage, channel: ConfirmedChannel) -> None:
        """Publish what a recovery replays; raises what the channel raises."""
        await _publish(self._replayed[name], message, ToTenant(message, channel))

    async def of_replay(self, message: AmqpMessage, channel: ConfirmedChannel) -> None:
        """Publish a message of a replay; raises what the channel raises."""
        name = message.routing_key.split(".")[3]
        await _publish(self._of_replay[name], message, ToTenant(message, channel))

    async def snapshot_complete(self, message: AmqpMessage, channel: ConfirmedChannel) -> None:
        """Publish the end of a recovery; raises what the channel raises."""
        await _publish(self._complete, message, ToTenant(message, channel))

    async def alive(self, message: AmqpMessage, channel: ConfirmedChannel) -> None:
        """Publish `alive`; raises what the channel raises."""
        await _publish(self._alive, message, ToTenant(message, channel))

    def _declare(
        self, title: str, name: str, key: str, description: str, exchange: str = ""
    ) -> RabbitPublisher:
        self.titles[title] = name
        if name == "odds_change":
            description = f"{description} {_ALL_ODDS if title.startswith('recovery') else _ODDS}"
        schema = _replaced(self._schemas.message(name), "$ref", _REFERENCE)
        return self.broker.publisher(
            exchange=RabbitExchange(exchange or self._exchange, ExchangeType.TOPIC, durable=True),
            routing_key=key,
            persist=title not in _TRANSIENT and not title.startswith("replay."),
            mandatory=name == _COMPLETE,
            content_type=CONTENT_TYPE,
            title=title,
            description=description,
            schema=Annotated[bytes, WithJsonSchema(schema)],
        )

    def payload(self, title: str, document: Json) -> Json:
        """The payload of the publisher with that title, in the document that FastStream wrote."""
        shape: Json = _replaced(
            document["components"]["schemas"][f"{title}:Message:Payload"], _REFERENCE, "$ref"
        )
        return shape | {"title": self.titles[title]}


async def _publish(publisher: RabbitPublisher, message: AmqpMessage, what: ToTenants | ToTenant) -> None:
    # With an id of our own, as FastStream would generate a random one.
    await publisher.publish(
        what, routing_key=message.routing_key, correlation_id=message.message_id or message.routing_key
    )


def _replaced(shape: Any, key: str, by: str) -> Any:
    """A JSON value with a key of its objects replaced, however deep."""
    if isinstance(shape, dict):
        return {by if name == key else name: _replaced(value, key, by) for name, value in shape.items()}
    return [_replaced(each, key, by) for each in shape] if isinstance(shape, list) else shape

"""What is published to tenants, declared as FastStream publishers: each with its key, schema and description.

The AsyncAPI document comes from these declarations, and every message is published by one of them. How its
bytes reach tenants is the transport under them: a middleware that passes each message to its destination
instead of to FastStream's own producer. A live envelope is published once, whatever the number of tenants:
that `live` returns means that it is passed on, and each tenant's publisher writes it within its window.
The others are for one tenant, and return once the broker has confirmed.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any

from faststream import BaseMiddleware
from faststream.rabbit import ExchangeType, RabbitBroker, RabbitExchange
from faststream.rabbit.publisher import RabbitPublisher
from faststream.rabbit.response import RabbitPublishCommand
from pydantic import WithJsonSchema

from app.amqp import routing
from app.amqp.confirmed_channel import ConfirmedChannel
from app.amqp.envelope import Envelope
from app.amqp.frames import CONTENT_TYPE, AmqpMessage
from app.amqp.recent_envelopes import RecentEnvelopes
from app.wire.json_schema import feed_json_schema

Json = dict[str, Any]
MATCH, NODE = "{match_num}", "{node_id}"  #: parameters of a key
_REFERENCE = "x-reference"  #: stands for `$ref`, as pydantic knows none to other documents
_ALIVE, _COMPLETE = "alive", "snapshot_complete"
_TRANSIENT = {_ALIVE, *(f"live.{name}" for name in routing.TRANSIENT)}
_LIVE = "Published as it happens."
_REPLAYED = "Replayed by a recovery."
#: What differs between a live message and a replayed one, beside its routing key and headers.
_ODDS = "The markets that changed; what is not listed is as it was."
_ALL_ODDS = (
    "The full list: every market that is active or suspended, and if the recovery was requested with "
    "`after`, of a match that is over also how every market ended. What it leaves out is not on offer."
)


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
        self._exchange = RabbitExchange(exchange, ExchangeType.TOPIC, durable=True)
        self._schemas = feed_json_schema()
        self._live = {
            name: self._declare(f"live.{name}", name, routing.live(name, MATCH), _LIVE)
            for name in sorted(routing.MATCH_MESSAGES)
        }
        self._replayed = {
            name: self._declare(f"recovery.{name}", name, routing.replayed(name, MATCH, NODE), _REPLAYED)
            for name in sorted(routing.MATCH_MESSAGES)
        }
        key = routing.snapshot_complete(NODE)
        self._complete = self._declare(_COMPLETE, _COMPLETE, key, "The end of a recovery.")
        when = "Every ten seconds, as long as what happens reaches the tenant."
        self._alive = self._declare(_ALIVE, _ALIVE, routing.ALIVE, when)

    async def live(self, envelope: Envelope, recent: RecentEnvelopes) -> None:
        """Publish a live envelope to all tenants."""
        await _publish(self._live[envelope.name], envelope.message, ToTenants(envelope, recent))

    async def replayed(self, name: str, message: AmqpMessage, channel: ConfirmedChannel) -> None:
        """Publish what a recovery replays; raises what the channel raises."""
        await _publish(self._replayed[name], message, ToTenant(message, channel))

    async def snapshot_complete(self, message: AmqpMessage, channel: ConfirmedChannel) -> None:
        """Publish the end of a recovery; raises what the channel raises."""
        await _publish(self._complete, message, ToTenant(message, channel))

    async def alive(self, message: AmqpMessage, channel: ConfirmedChannel) -> None:
        """Publish `alive`; raises what the channel raises."""
        await _publish(self._alive, message, ToTenant(message, channel))

    def _declare(self, title: str, name: str, key: str, description: str) -> RabbitPublisher:
        self.titles[title] = name
        if name == "odds_change":
            description = f"{description} {_ODDS if title.startswith('live') else _ALL_ODDS}"
        schema = _replaced(self._schemas.message(name), "$ref", _REFERENCE)
        return self.broker.publisher(
            exchange=self._exchange,
            routing_key=key,
            persist=title not in _TRANSIENT,
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

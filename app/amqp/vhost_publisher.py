"""Publishes single messages to one vhost through FastStream: `alive`, and what recoveries replay."""

from faststream.rabbit import Channel, ExchangeType, RabbitBroker, RabbitExchange

from app.amqp import broker_lifecycle
from app.amqp.frames import CONTENT_TYPE, AmqpMessage
from app.amqp.publisher_login import PublisherLogin


class VhostPublisher:
    """A connection to a tenant's vhost. `timeout` (s) is that of connecting, `publish_timeout` that of a
    message (None: no limit). Every method raises one of `broker_lifecycle.FAILURES`."""

    def __init__(
        self, login: PublisherLogin, vhost: str, timeout: float, publish_timeout: float | None = None
    ) -> None:
        self._url = login.address.url(vhost)
        self._exchange = RabbitExchange(login.exchange, ExchangeType.TOPIC, durable=True, declare=False)
        self._publish_timeout = publish_timeout
        self.broker = RabbitBroker(
            self._url,
            default_channel=Channel(on_return_raises=True),
            timeout=timeout,
            graceful_timeout=1,
            logger=None,
        )

    async def connect(self) -> None:
        await broker_lifecycle.connect(self.broker, self._url)

    async def publish(self, message: AmqpMessage) -> None:
        """Publish and wait for the broker's confirm; a mandatory message that no queue receives raises
        `aio_pika.exceptions.PublishError`."""
        await self.broker.publish(
            message.body,
            exchange=self._exchange,
            routing_key=message.routing_key,
            mandatory=message.mandatory,
            timeout=self._publish_timeout,
            persist=message.persistent,
            headers={**message.headers},
            content_type=CONTENT_TYPE,
            message_id=message.message_id,
            timestamp=message.timestamp,
        )

    async def close(self) -> None:
        await broker_lifecycle.close(self.broker)

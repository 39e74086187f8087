"""What the broker's processor takes for a copy, as brokers are configured and as clients acknowledge.

    python -m scripts.bench.broker [--tenants 50] [--rate 70] [--seconds 12] [--repetitions 3]

Private brokers are started one after the other in one run, with different numbers of Erlang's schedulers. At
each, envelopes of some 5.5 KB are published to every tenant at a steady rate, as a service in play does,
while the tenants' consumers acknowledge in one way after another. An envelope's delay counts from the moment
when it was due. The reference is a broker with Erlang's defaults whose consumers do not acknowledge.
"""

import asyncio
import os
import statistics
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import msgspec
from pamqp import commands

from app.amqp.connection import PublisherConnection, connect
from app.amqp.envelope import Envelope
from app.amqp.frames import AmqpMessage, marshal
from app.broker.address import Address, parse
from app.broker.management import Management
from scripts import services
from scripts.bench.feed import EXCHANGE, KEY, MATCH, ours
from scripts.bench.feed_rig import Consumer
from scripts.bench.histogram import quantile
from scripts.bench.processors import Processors
from scripts.lab.own_data import vhost
from scripts.local_services import rabbitmq, state
from scripts.local_services.certificates import ensure_certificate

_BODY = b'<odds_change product="2">' + b'<market id="13" status="1"/>' * 195 + b"</odds_change>"
_WARM = 50  #: envelopes before the measured ones
SCHEDULERS = {"Erlang's default": 0, "one scheduler": 1}
#: After how many deliveries a consumer acknowledges all of them; 0: its queue needs none.
ACKNOWLEDGING = {"none": 0, "each delivery": 1, "every 50": 50}


class Acknowledging(Consumer):
    """A consumer that acknowledges all deliveries so far once there are `every` more; 0: it need not."""

    def __init__(self, every: int) -> None:
        super().__init__()
        self._every = every
        self._acknowledged = 0

    async def listen(self, connection: PublisherConnection, exchange: str, *, no_ack: bool = True) -> None:
        self._own = connection
        await super().listen(connection, exchange, no_ack=not self._every)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._every and len(self.delays) >= self._acknowledged + self._every:
            self._acknowledged = len(self.delays)
            self._own.send(commands.Basic.Ack(self._acknowledged, multiple=True))


class Figure(msgspec.Struct, frozen=True):
    """Microseconds of the broker's processor a copy; milliseconds until a copy has arrived."""

    broker: float
    p50: float
    p99: float


def due_envelope(seq: int, due: float) -> Envelope:
    """An envelope that was to be published at `due` (Unix s)."""
    headers: dict[str, int | str] = {"x-seq": seq, "x-prev-seq": seq - 1, "x-arrived-at": int(due * 1000)}
    message = AmqpMessage(EXCHANGE, KEY, _BODY, f"mf-{seq}", time.time_ns() // 1_000_000, headers)
    return Envelope(seq, seq - 1, MATCH, 0, "odds_change", message, marshal(message))


@contextmanager
def broker_with(schedulers: int) -> Iterator[rabbitmq.BrokerUrls]:
    """A private broker, ended and removed afterwards."""
    with TemporaryDirectory() as place:
        directory = Path(place)
        directory.chmod(0o755)  # the broker may run as another user
        options = rabbitmq.Options(ensure_certificate(directory / "tls"), schedulers=schedulers)
        try:
            with state.locked(directory):
                urls = rabbitmq.start(directory, state.load(directory), options, lambda _: None)
            yield urls
        finally:
            services.stop(directory, lambda _: None)


@asynccontextmanager
async def consuming(broker: Address, vhosts: list[str], every: int) -> AsyncIterator[list[Acknowledging]]:
    async with AsyncExitStack() as stack:
        consumers = []
        for each in vhosts:
            consumer = Acknowledging(every)
            connection = await connect(broker, each, "bench", EXCHANGE, consumer)
            stack.callback(connection.abort, "done")
            await consumer.listen(connection, EXCHANGE)
            consumers.append(consumer)
        yield consumers


async def measure(urls: rabbitmq.BrokerUrls, tenants: int, every: int, rate: float, seconds: float) -> Figure:
    broker = parse(urls.url)
    async with Management(urls.api_url) as management, AsyncExitStack() as stack:
        vhosts = [await stack.enter_async_context(vhost(management)) for _ in range(tenants)]
        for each in vhosts:
            await management.put_exchange(each, EXCHANGE, "topic")
        due = [time.time()]
        consumers = await stack.enter_async_context(consuming(broker, vhosts, every))
        publish = await stack.enter_async_context(ours(broker, vhosts, lambda seq: due_envelope(seq, due[0])))
        await publish(_WARM)
        for consumer in consumers:
            consumer.delays.clear()
            consumer._acknowledged -= _WARM
        busy, began, count = Processors({"ours": os.getpid()}, {"broker": urls.url}), time.time(), 0
        while (now := time.time()) < began + seconds:
            due[0] = began + count / rate
            await asyncio.sleep(max(0.0, due[0] - now))
            await publish(1)
            count += 1
        lasted, cores = time.time() - began, busy.cores()
        delays = [delay for consumer in consumers for delay in consumer.delays]
    spent = cores["broker"] * lasted / (count * tenants) * 1e6
    return Figure(spent, quantile(delays, 0.5), quantile(delays, 0.99))


@click.command()
@click.option("--tenants", default=50, show_default=True)
@click.option("--rate", default=70.0, show_default=True, help="Envelopes a second.")
@click.option("--seconds", default=12.0, show_default=True, help="How long each is measured at a time.")
@click.option("--repetitions", default=3, show_default=True)
def main(tenants: int, rate: float, seconds: float, repetitions: int) -> None:
    seen: dict[tuple[str, str], list[Figure]] = {}
    for _ in range(repetitions):
        for configured, schedulers in SCHEDULERS.items():
            with broker_with(schedulers) as urls:
                for way, every in ACKNOWLEDGING.items():
                    found = asyncio.run(measure(urls, tenants, every, rate, seconds))
                    seen.setdefault((configured, way), []).append(found)
    reference = statistics.median(each.broker for each in next(iter(seen.values())))
    print(f"| broker | acknowledged | µs a copy | of the reference | p50 ms | p99 ms |\n|{' --- |' * 6}")
    for (configured, way), figures in seen.items():
        spent, p50, p99 = (
            statistics.median(getattr(each, name) for each in figures) for name in ("broker", "p50", "p99")
        )
        print(f"| {configured} | {way} | {spent:.0f} | {spent / reference:.2f} | {p50:.0f} | {p99:.0f} |")


if __name__ == "__main__":
    main()

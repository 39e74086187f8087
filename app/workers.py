"""The background processes: `feed` publishes to tenants, `ingest` applies log batches, `broker-authorisation`
answers the broker's requests.

Each runs until SIGTERM or SIGINT and then shuts down in order; after any other end the next start (or another
process) continues where it stopped.
"""

import asyncio
import signal
from contextlib import AsyncExitStack
from functools import partial

import msgspec

from app.access import broker_sync
from app.access.grants import Grants
from app.access.key_logins import KeyLogins
from app.amqp.delivery_samples import DeliverySamples
from app.amqp.lease import LeaseLost
from app.broker.address import parse
from app.broker.management import Management
from app.channels.feed.process_watch import IngestWatchdog, RestWatch
from app.channels.feed.retention import RetentionConfig, prune_regularly
from app.channels.feed.session import FeedConfig, FeedSession
from app.ingest import worker
from app.ingest.log_update import IngestConfig
from app.ingest.match_checks import suspend_everything
from app.ingest.queues import IngestQueues, QueueConfig
from app.kit import garbage_collection, logging, metrics
from app.kit.background import retry_while_unavailable, run_forever
from app.kit.clock import system_clock
from app.kit.errors import Unavailable
from app.ledger.writer import LedgerWriter
from app.operations.restoration.failover import DatabaseFailover
from app.settings import Settings
from app.status import days
from app.store.connections import AUTHORISATION_SESSION_NAME, Store, open_store
from app.store.server_state import end_stalled_regularly
from app.trading.pricing import PricingConfig

#: The matches that ingest need not read again: some 0.6 MB each at the end of a map.
_CACHED_MATCHES = 256
_KEY_CONNECTIONS = 2  #: to the database, for keys that log in at the broker; what is known needs none
log = logging.get_logger(__name__)


async def run_feed(settings: Settings) -> None:
    """The feed process: publishes the change log to the tenants that it has leased, until it is stopped."""
    logging.configure("feed", level=settings.log_level)
    garbage_collection.spare_long_lived_objects()
    stopping = stop_on_signals()
    async with AsyncExitStack() as stack:
        stack.enter_context(metrics.serve("feed", settings.metrics_host, settings.metrics_port))
        store = await retry_while_unavailable(
            "opening the database",
            lambda: open_store(
                settings.database_url, settings.database_pool_size, failover=DatabaseFailover()
            ),
        )
        await stack.enter_async_context(store)
        management = await stack.enter_async_context(Management(settings.rabbitmq_api_url))
        await retry_while_unavailable("reaching the broker", management.check)
        await _run_sessions(settings, store, management, stopping)


async def run_ingest(settings: Settings) -> None:
    """The ingest process: applies log batches and suspends matches whose source is silent, until it is
    stopped."""
    logging.configure("ingest", level=settings.log_level)
    garbage_collection.spare_long_lived_objects()
    stopping = stop_on_signals()
    config = IngestConfig(
        pricing=msgspec.convert(settings, PricingConfig, from_attributes=True),
        fresh_millis=settings.fresh_millis,
        silence_millis=settings.source_silence_seconds * 1000,
        takeover_millis=settings.source_takeover_seconds * 1000,
        silence_live_millis=settings.silence_live_seconds * 1000,
        silence_clutch_millis=settings.silence_clutch_seconds * 1000,
        silence_freeze_millis=settings.silence_freeze_seconds * 1000,
        reference_directory=settings.reference_directory,
    )
    queues = IngestQueues(msgspec.convert(settings, QueueConfig, from_attributes=True))
    store = await retry_while_unavailable(
        "opening the database",
        lambda: open_store(
            settings.database_url,
            settings.database_pool_size,
            _CACHED_MATCHES,
            failover=DatabaseFailover(),
        ),
    )
    async with store:
        with metrics.serve("ingest", settings.metrics_host, settings.metrics_port):
            await worker.run(store, queues, config, stopping)


class BrokerKeys:
    """Logins at the broker with API keys, as soon as the database has answered; see `access.key_logins`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._logins: KeyLogins | None = None

    def logins(self) -> KeyLogins:
        """Raises `Unavailable` until the database has answered."""
        if self._logins is None:
            raise Unavailable("The database has not answered yet.", retry_after=1)
        return self._logins

    async def run(self) -> None:
        """Follow changes of keys, and disconnect those that may not be connected, until cancelled."""
        settings = self._settings
        store = await retry_while_unavailable(
            "opening the database",
            lambda: open_store(
                settings.database_url, _KEY_CONNECTIONS, session_name=AUTHORISATION_SESSION_NAME
            ),
        )
        async with store, Management(settings.rabbitmq_api_url) as management:
            grants = Grants(store, settings.secret_key)
            self._logins = KeyLogins(grants, management)
            async with asyncio.TaskGroup() as group:
                group.create_task(grants.run())
                group.create_task(self._logins.run())


def stop_on_signals() -> asyncio.Event:
    """An event that SIGTERM and SIGINT set."""
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    return stopping


async def _run_sessions(
    settings: Settings, store: Store, management: Management, stopping: asyncio.Event
) -> None:
    """One session after another; beside them the watch over ingest and over REST, the broker synchronisation,
    retention, samples of the delivery and the end of stalled sessions."""
    config = FeedConfig(
        exchange=settings.exchange,
        product=settings.producer_id,
        window=settings.feed_window,
        lease_millis=settings.feed_lease_millis,
        alive_seconds=settings.alive_seconds,
        lag_millis=settings.feed_lag_minutes * 60_000,
        event_vhost=settings.rabbitmq_event_vhost,
    )
    retention = RetentionConfig(
        changes_millis=max(settings.feed_lag_minutes, settings.change_log_minutes) * 60_000,
        recovery_window_millis=settings.recovery_window_minutes * 60_000,
        kept_millis=settings.kept_changes_days * 86_400_000,
    )
    broker = parse(settings.rabbitmq_url)
    access_config = broker_sync.BrokerAccessConfig(settings.exchange, settings.broker_authorisation)
    watchdog = IngestWatchdog(
        store,
        suspend=lambda: suspend_everything(store, system_clock()),
        dead_seconds=settings.ingest_dead_seconds,
    )
    rest, samples = RestWatch(store), DeliverySamples()
    ledger = LedgerWriter(store, settings.secret_key)
    await retry_while_unavailable("looking for web processes", rest.check)
    async with asyncio.TaskGroup() as group:
        background = [
            group.create_task(watchdog.run()),
            group.create_task(rest.run()),
            group.create_task(broker_sync.run(store, management, access_config)),
            group.create_task(prune_regularly(store, retention)),
            group.create_task(samples.write_regularly(store)),
            group.create_task(days.record_regularly(store, system_clock)),
            group.create_task(run_forever("writing the signed ledger", ledger.run)),
            group.create_task(run_forever("ending stalled sessions", partial(end_stalled_regularly, store))),
        ]
        while not stopping.is_set():
            try:
                await FeedSession(store, management, broker, config, watchdog, rest, samples=samples).run(
                    stopping
                )
            except LeaseLost as end:
                log.warning("starting a new session under another name", why=str(end))
        for task in background:
            task.cancel()
        await samples.write_last(store)

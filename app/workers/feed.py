"""The feed process: publishes changes to tenants."""

import asyncio
from contextlib import AsyncExitStack
from functools import partial

from app.access import broker_sync
from app.amqp.delivery_samples import DeliverySamples
from app.amqp.lease import LeaseLost
from app.broker.address import parse
from app.broker.management import Management
from app.channels.feed.process_watch import IngestWatchdog, RestWatch
from app.channels.feed.retention import RetentionConfig, prune_regularly
from app.channels.feed.session import FeedConfig, FeedSession
from app.ingest.match_checks import suspend_everything
from app.kit import garbage_collection, logging, metrics
from app.kit.background import retry_while_unavailable, run_forever
from app.kit.clock import system_clock
from app.ledger.writer import LedgerWriter
from app.settings import Settings
from app.status import days
from app.store.connections import Store
from app.store.server_state import end_stalled_regularly
from app.workers.process import open_worker_store, stop_on_signals

log = logging.get_logger(__name__)


async def run_feed(settings: Settings) -> None:
    """The feed process: publishes the change log to the tenants that it has leased, until it is stopped."""
    logging.configure("feed", level=settings.log_level)
    garbage_collection.spare_long_lived_objects()
    stopping = stop_on_signals()
    async with AsyncExitStack() as stack:
        stack.enter_context(metrics.serve("feed", settings.metrics_host, settings.metrics_port))
        store = await stack.enter_async_context(await open_worker_store(settings))
        management = await stack.enter_async_context(Management(settings.rabbitmq_api_url))
        await retry_while_unavailable("reaching the broker", management.check)
        await _run_sessions(settings, store, management, stopping)


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

"""The ingest process: applies log batches, and suspends matches whose source is silent."""

import msgspec

from app.ingest import worker
from app.ingest.log_update import IngestConfig
from app.ingest.queues import IngestQueues, QueueConfig
from app.kit import garbage_collection, logging, metrics
from app.settings import Settings
from app.trading.pricing import PricingConfig
from app.workers.process import open_worker_store, stop_on_signals

#: The matches that ingest need not read again: some 0.6 MB each at the end of a map.
_CACHED_MATCHES = 256


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
    async with await open_worker_store(settings, _CACHED_MATCHES) as store:
        with metrics.serve("ingest", settings.metrics_host, settings.metrics_port):
            await worker.run(store, queues, config, stopping)

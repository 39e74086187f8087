"""Every setting of every process, from the environment, read once at the top and handed down.

The variable's name is the field's name in capitals: `DATABASE_URL`, `FEED_LEASE_SECONDS`. A value that
does not fit stops the process with a line that names the variable.
"""

import os
from typing import Annotated

import msgspec
from msgspec import Meta

Positive = Annotated[int, Meta(ge=1)]


class Settings(msgspec.Struct, frozen=True, rename=str.upper):
    """Defaults fit a developer's machine; production sets the URLs and `SECRET_KEY`."""

    #: PostgreSQL, the truth.
    database_url: str = "postgresql://postgres@127.0.0.1:5432/matchfeed"
    #: Connections a process keeps open to PostgreSQL.
    database_pool_size: Positive = 10
    #: Redis or Valkey: rate counters only, which may be lost.
    redis_url: str = "redis://127.0.0.1:6379/0"
    #: RabbitMQ as our own services reach it, without a vhost.
    rabbitmq_url: str = "amqp://guest:guest@127.0.0.1:5672"
    #: RabbitMQ's management API: vhosts, users, limits, closing connections.
    rabbitmq_api_url: str = "http://guest:guest@127.0.0.1:15672"
    #: Host and port that tenants are told to connect to.
    rabbitmq_public_host: str = "127.0.0.1:5672"
    #: The vhost of our internal queues.
    rabbitmq_internal_vhost: str = "matchfeed"
    #: Signs log-source tokens and keys the hashes of API keys; at least 32 characters.
    secret_key: Annotated[str, Meta(min_length=32)] = "development-only-secret-key-change-me"  # noqa: S105
    #: The public address of the REST service, for links and icons.
    public_url: str = "http://127.0.0.1:8000"
    #: Overrides the category icon's address.
    cs2_category_icon_url: str = ""
    #: The producer (product) that the feed publishes as.
    producer_id: Positive = 2
    #: The topic exchange in every tenant's vhost.
    exchange: str = "oddsfeed"
    #: How far back an incremental recovery may reach, in minutes.
    recovery_window_minutes: Positive = 4320
    #: Seconds between two `alive`.
    alive_seconds: Positive = 10
    #: A tenant's lease lives this long without renewal, in milliseconds; a stand-by takes over within 5 s.
    feed_lease_millis: Positive = 3000
    #: Envelopes that may be repeated to a tenant after a crash.
    feed_window: Annotated[int, Meta(ge=1, le=64)] = 64
    #: A match whose source says nothing for so long (seconds) is suspended.
    source_silence_seconds: Positive = 30
    #: Facts applied later than this after their arrival (milliseconds) open and reprice nothing.
    fresh_millis: Positive = 10_000
    #: With no ingest worker's beat for so long (seconds), the feed process suspends every open market.
    ingest_dead_seconds: Positive = 15
    #: Margin of every book, as a fraction.
    margin: Annotated[float, Meta(ge=0, le=0.5)] = 0.06
    #: Largest log batch accepted, in bytes.
    log_batch_bytes: Positive = 1_048_576
    #: Log level of our own lines.
    log_level: str = "INFO"


def load(environ: dict[str, str] | None = None) -> Settings:
    """Settings of this process; raises `SystemExit` with one clear line when a variable does not fit."""
    try:
        return msgspec.convert(dict(os.environ if environ is None else environ), Settings, strict=False)
    except msgspec.ValidationError as error:
        raise SystemExit(f"matchfeed: a setting in the environment does not fit: {error}") from error

"""Every setting of every process, from the environment, read once at the top and passed down.

The variable's name is the field's name in capitals: `DATABASE_URL`, `FEED_LEASE_MILLIS`. An invalid value
stops the process with a line that names the variable.
"""

import os
from collections.abc import Callable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Annotated, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

Positive = Annotated[int, Meta(ge=1)]
_MOST_LIQUIDITY = 1e12
#: Public, so that anybody could sign log-source tokens with it: only for services that others cannot reach.
DEVELOPMENT_SECRET = "development-only-secret-key-change-me"  # noqa: S105


class Settings(msgspec.Struct, frozen=True, rename=str.upper):
    """Defaults fit a developer's machine; production sets `DEPLOYMENT`, the URLs and `SECRET_KEY`."""

    #: Where this runs. Production refuses the default `SECRET_KEY`; so does any `PUBLIC_URL` that is not this
    #: machine.
    deployment: Literal["development", "production"] = "development"
    #: Whether matches here are only for trying out, so that operators may have finished ones removed by
    #: number (`POST /ops/v1/trim`). A demonstration sets it; nothing that is real does.
    sandbox: bool = False
    #: PostgreSQL, the truth. A primary and its standbys: `postgresql://user@host:port,host:port/database`;
    #: whichever is the primary is connected to.
    database_url: str = "postgresql://postgres@127.0.0.1:5432/matchfeed"
    #: Size of a process's connection pool to PostgreSQL.
    database_pool_size: Positive = 10
    #: Redis or Valkey: rate counters only, which may be lost.
    redis_url: str = "redis://127.0.0.1:6379/0"
    #: RabbitMQ as our own services reach it, without a vhost. The nodes of a cluster:
    #: `amqp://user:password@host:port,host:port`; a connection that is lost moves to another node.
    rabbitmq_url: str = "amqp://guest:guest@127.0.0.1:5672"
    #: RabbitMQ's management API: vhosts, users, limits, closing connections. The nodes of a cluster:
    #: `http://user:password@host:port,host:port`.
    rabbitmq_api_url: str = "http://guest:guest@127.0.0.1:15672"
    #: Host and port in the AMQP URLs of tenants; with port 5671 they are `amqps://`.
    rabbitmq_public_host: str = "127.0.0.1:5672"
    #: How the broker decides what a tenant may do (docs/security.md): `http` if it sends requests to
    #: `matchfeed broker-authorisation`, `patterns` if it is not configured for that; tenants cannot name
    #: queues then.
    broker_authorisation: Literal["patterns", "http"] = "patterns"
    #: The vhost of our internal queues.
    rabbitmq_internal_vhost: str = "matchfeed"
    #: The type of those queues: `quorum` in a cluster. To change it, name another vhost for them, and let an
    #: ingest process with the former settings empty the former ones.
    ingest_queue_type: Literal["classic", "quorum"] = "classic"
    #: The vhost of the broker's event exchange (plugin `rabbitmq_event_exchange`), which reports the queues
    #: that tenants bind.
    rabbitmq_event_vhost: str = "/"
    #: Signs log-source tokens, keys the hashes of API keys, links and sessions, and encrypts the secrets of
    #: second factors and the key of the signed ledger; at least 32 characters.
    secret_key: Annotated[str, Meta(min_length=32)] = DEVELOPMENT_SECRET
    #: The public address of the REST service, for links and icons.
    public_url: str = "http://127.0.0.1:8000"
    #: Where tenants write to, as the AsyncAPI document says; the default is nobody's address.
    contact_email: Annotated[str, Meta(pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$")] = "support@matchfeed.invalid"
    #: The port of the operators' own listener: everything under `/ops/v1` but the log sink, and the trading
    #: console under `/console`, nothing else. 0: all is served on one port, which production refuses.
    operator_port: Annotated[int, Meta(ge=0, le=65535)] = 0
    #: The public address of the operators' listener, for links to the console. Empty: on this machine.
    operator_public_url: str = ""
    #: The port of the SDK address, for unmodified SDKs of the established feed (docs/compatibility.md): what
    #: stands under `/v1/`, as they need it. 0: none.
    sdk_port: Annotated[int, Meta(ge=0, le=65535)] = 0
    #: The public address of that listener, without `/v1`.
    sdk_public_url: str = "https://127.0.0.1:8443"
    #: Its certificate, as the path of a PEM file, the issuing ones behind it; the broker may use the same.
    #: Empty: plain HTTP, for a proxy that adds TLS.
    sdk_certificate_file: str = ""
    #: The private key of that certificate, a PEM file.
    sdk_private_key_file: str = ""
    #: Proxies (addresses or networks, separated by commas) whose `X-Forwarded-For` and `X-Forwarded-Proto`
    #: are trusted. Empty: none.
    trusted_proxies: str = ""
    #: Seconds within which the head of a request must arrive; a late one is noticed within twice that time.
    head_seconds: Annotated[float, Meta(ge=0.1)] = 10.0
    #: Seconds within which its body must arrive after that.
    body_seconds: Annotated[float, Meta(ge=0.1)] = 60.0
    #: Connections that an address may have to one web process, streams not counted; trusted proxies may have
    #: any number.
    connections_per_address: Positive = 512
    #: Overrides the category icon's address.
    cs2_category_icon_url: str = ""
    #: What the URNs of soccer's competitors and tournaments begin with.
    soccer_urn_prefix: Annotated[str, Meta(pattern="^[a-z][a-z0-9_-]{0,19}$")] = "sr"
    #: The producer (product) that the feed publishes as.
    producer_id: Positive = 2
    #: The topic exchange in every tenant's vhost.
    exchange: str = "oddsfeed"
    #: How far back an incremental recovery may reach, in minutes.
    recovery_window_minutes: Positive = 4320
    #: Seconds between two `alive`.
    alive_seconds: Positive = 10
    #: A tenant's lease lives this long without renewal, in milliseconds; a stand-by acquires it within 5 s.
    feed_lease_millis: Positive = 3000
    #: Envelopes published to a tenant whose cursor is not stored yet: so many may be repeated to it after a
    #: crash.
    feed_window: Annotated[int, Meta(ge=1, le=64)] = 64
    #: A tenant that could not be published to for so long is moved to the present, with a loss notice.
    feed_lag_minutes: Positive = 10
    #: The change log is retained for so long at least: for streams that resume and tenants that lag.
    change_log_minutes: Positive = 120
    #: The changes of matches that are pruned from the change log are stored, compressed, until they are so
    #: many days old: replays and the prices of daily files are made from them. 0: they are not stored.
    kept_changes_days: Annotated[int, Meta(ge=0)] = 30
    #: How often the stream polls the change log for subscribers of all matches, in milliseconds.
    stream_poll_all_millis: Annotated[int, Meta(ge=100)] = 5000
    #: How often it polls for subscribers of one match, in milliseconds.
    stream_poll_match_millis: Annotated[int, Meta(ge=100)] = 2000
    #: Streams that a tenant may have to one web process, event streams and requests that wait for changes
    #: included.
    stream_connections: Positive = 2000
    #: Frames that may wait for a slow client of the stream before it is closed.
    stream_backlog: Positive = 1000
    #: Origins of web pages that may connect, separated by commas, beside our own; "*" for any.
    stream_origins: str = ""
    #: A match whose source is silent for so long (seconds) in a pause, at half-time, between maps or before a
    #: map's first round is suspended.
    source_silence_seconds: Positive = 30
    #: The same while a round is played and both teams have two players or more left.
    silence_live_seconds: Positive = 8
    #: The same while a round is played and a team has at most one player left.
    silence_clutch_seconds: Positive = 20
    #: The same in freeze time and in the seconds after a round.
    silence_freeze_seconds: Positive = 12
    #: A match's log source that is silent for so long (seconds) is replaced by another; until then others are
    #: refused.
    source_takeover_seconds: Positive = 120
    #: For so long after its arrival (milliseconds) a log batch may set prices. One applied later suspends
    #: every market of its match, until a newer one is applied in time.
    fresh_millis: Positive = 2000
    #: Without a heartbeat of any ingest worker for so long (seconds), the feed process suspends every active
    #: market.
    ingest_dead_seconds: Positive = 15
    #: A folder whose files of reference data and fixtures ingest processes import (docs/reference-data.md).
    #: Empty: none.
    reference_directory: str = ""
    #: A command that changes a result which was published longer ago than this (seconds) waits for the
    #: consent of a second operator (docs/operators.md). 0: none does.
    consent_seconds: Annotated[int, Meta(ge=0)] = 0
    #: Within so many minutes a claim that a result is wrong should be answered or corrected (docs/claims.md).
    claim_deadline_minutes: Positive = 30
    #: So many undecided claims a tenant may have. One that is withdrawn counts until its deadline.
    claims_per_tenant: Positive = 20
    #: Margin of every book, as a fraction.
    margin: Annotated[float, Meta(ge=0, le=0.5)] = 0.06
    #: The delay in seconds after which bookmakers accept a bet, if its price still stands unchanged: our
    #: prices assume it, and a market whose result would be certain within it is closed before.
    bet_delay_seconds: Annotated[int, Meta(ge=0, le=60)] = 5
    #: From a round's freeze time to its result, prices are published only when the odds of one are too long
    #: by this fraction or more, or too short by three times as much. Keep it below the margin, or a stale
    #: price has value.
    price_step: Annotated[float, Meta(ge=0.001, le=0.5)] = 0.055
    #: What the public stakes on a group of markets of a match (both teams, over and under), by the tier of
    #: its tournament (`other`: one without a tier), in a unit of your choice: advice on stakes
    #: (docs/pricing.md) is in that unit, and never above it.
    liquidity_by_tier: str = "S:1000,A:500,B:250,C:100,D:50,other:50"
    #: Whether prices before play follow reference prices (docs/operators.md) on matches of which no operator
    #: has said otherwise.
    references_followed: bool = True
    #: Reference prices that were set longer ago than this (seconds) do not count; until then they count the
    #: less the older they are.
    reference_stale_seconds: Positive = 21_600
    #: By so much (logits of winning the match) our own price and reference prices may differ before an alert
    #: opens.
    reference_alert_logits: Annotated[float, Meta(ge=0.1, le=10)] = 1.2
    #: By so much they may differ before the match is suspended until an operator decides.
    reference_suspend_logits: Annotated[float, Meta(ge=0.1, le=10)] = 2.0
    #: Largest log batch accepted, in bytes.
    log_batch_bytes: Positive = 1_048_576
    #: The directory of daily files (docs/files.md), which web processes make and send. Empty: there are none.
    files_directory: str = ""
    #: The files of so many days are there.
    files_days: Annotated[int, Meta(ge=1, le=366)] = 30
    #: What the status of the service promises of a day (docs/status.md): 95 in a hundred results are
    #: published within so many seconds of the arrival of the log lines that decide them.
    promised_result_seconds: Annotated[float, Meta(gt=0)] = 3.0
    #: 99 in a hundred messages are published within so many seconds of the arrival of the log lines behind
    #: them.
    promised_message_seconds: Annotated[float, Meta(gt=0)] = 2.0
    #: 99 in a hundred recoveries are complete within so many seconds of their request.
    promised_recovery_seconds: Annotated[float, Meta(gt=0)] = 30.0
    #: The share of a day in which each part is available at least.
    promised_availability: Annotated[float, Meta(ge=0, le=1)] = 0.999
    #: The port on which a process serves its metrics, at `/metrics`; every process of a machine needs one of
    #: its own. 0: none.
    metrics_port: Annotated[int, Meta(ge=0, le=65535)] = 0
    #: The address on which it listens there. Metrics need no key: only Prometheus should reach it.
    metrics_host: str = "127.0.0.1"
    #: The file to which a demonstration's client reports; the page at / shows it. Empty: none.
    board_report: str = ""
    #: The size of a web process's response cache, in bytes of rendered bodies; 0: no cache.
    response_cache_bytes: Annotated[int, Meta(ge=0)] = 64 * 1024 * 1024
    #: Log level of our own loggers.
    log_level: str = "INFO"

    @property
    def operator_url(self) -> str:
        """The operators' listener as seen from this machine; empty if there is none of its own."""
        return f"http://127.0.0.1:{self.operator_port}" if self.operator_port else ""

    @property
    def console_url(self) -> str:
        """The console's address, as browsers reach it."""
        base = self.operator_public_url or self.operator_url or self.public_url
        return f"{base.rstrip('/')}/console"


def load(environ: dict[str, str] | None = None) -> Settings:
    """Settings of this process; raises `SystemExit` with one clear line when a variable does not fit."""
    variables = dict(os.environ if environ is None else environ)
    try:
        settings = msgspec.convert(variables, Settings, strict=False)
    except msgspec.ValidationError as error:
        raise SystemExit(f"matchfeed: a setting in the environment does not fit: {error}") from error
    _check_list(networks, settings.trusted_proxies, "TRUSTED_PROXIES lists addresses and networks")
    form = "an amount for each tier, like S:1000,A:500,B:250,C:100,D:50,other:50"
    _check_list(liquidity, settings.liquidity_by_tier, f"LIQUIDITY_BY_TIER lists {form}")
    _check_sdk(settings)
    if settings.secret_key == DEVELOPMENT_SECRET and (
        settings.deployment == "production" or _is_public(settings)
    ):
        raise SystemExit(
            "matchfeed: SECRET_KEY is the one that everybody knows; set one of your own, the same for every "
            "process: python -c 'import secrets; print(secrets.token_urlsafe(32))'"
        )
    return settings


def networks(listed: str) -> list[IPv4Network | IPv6Network]:
    """The networks of a setting that lists them; an address alone is a network of its own. Raises
    `ValueError`."""
    return [ip_network(each.strip()) for each in listed.split(",") if each.strip()]


TIERS = ("S", "A", "B", "C", "D", "other")


def liquidity(listed: str) -> dict[str, float]:
    """The liquidity of each of `TIERS` in a setting that lists them. Raises `ValueError`."""
    pairs = [each.strip().partition(":") for each in listed.split(",")]
    found = {tier.strip(): float(amount) for tier, _, amount in pairs}
    if len(pairs) != len(TIERS) or set(found) != set(TIERS):
        raise ValueError(f"it names each of {', '.join(TIERS)} once")
    if not all(0 <= amount <= _MOST_LIQUIDITY for amount in found.values()):
        raise ValueError("an amount is 0 to 1e12")
    return found


def _check_list(read: Callable[[str], object], listed: str, rule: str) -> None:
    try:
        read(listed)
    except ValueError as error:
        raise SystemExit(f"matchfeed: {rule}: {error}") from error


def _check_sdk(settings: Settings) -> None:
    if bool(settings.sdk_certificate_file) is not bool(settings.sdk_private_key_file):
        raise SystemExit("matchfeed: SDK_CERTIFICATE_FILE and SDK_PRIVATE_KEY_FILE belong together: set both")
    if settings.sdk_port and settings.sdk_port == settings.operator_port:
        raise SystemExit("matchfeed: SDK_PORT and OPERATOR_PORT are two listeners: set different ports")


def _is_public(settings: Settings) -> bool:
    """Whether clients on other machines shall reach us."""
    addresses = [settings.public_url, *([settings.sdk_public_url] if settings.sdk_port else [])]
    return not all(is_local(urlsplit(each).hostname or "") for each in addresses)


def is_local(host: str) -> bool:
    """Whether `host` can only be this machine."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False

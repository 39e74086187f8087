"""The metrics of a process, by name and meaning. Every process serves its own on a port of its own (`serve`),
the web process also at `GET /ops/v1/metrics`.

Names start with `matchfeed_`. Labels have few values: never an id of a match, a key or a person; the tenant
is the only one whose values are not known beforehand.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from prometheus_client import Counter, Gauge, Histogram, start_http_server

from app.kit.logging import get_logger
from app.kit.version import VERSION

log = get_logger(__name__)

process = Gauge("matchfeed_process", "1; the kind of this process and its version", ["process", "version"])
log_lines = Counter(
    "matchfeed_log_lines", "Log lines read, by result: unread ones look like play", ["result"]
)
log_batches = Counter("matchfeed_log_batches", "Log batches handled, by outcome", ["outcome"])
log_batch_wait = Histogram(
    "matchfeed_log_batch_wait_seconds",
    "Time from the arrival of a log batch until it was applied or rejected",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
unexplained_moves = Counter(
    "matchfeed_unexplained_moves", "Times that a match was suspended because a price moved without a cause"
)
message_delay = Histogram(
    "matchfeed_message_delay_seconds",
    "Time from the arrival of the log lines behind a message until the broker confirmed it, for each tenant",
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300),
)
publish_delay = Histogram(
    "matchfeed_publish_delay_seconds",
    "Time from a message's timestamp, set by its transaction, until the broker confirmed it, for each tenant",
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300),
)
feed_published = Counter("matchfeed_feed_published", "Envelopes confirmed by the broker", ["message"])
feed_repeated = Counter(
    "matchfeed_feed_repeated", "Envelopes published again after a nack or a lost connection"
)
feed_behind = Gauge(
    "matchfeed_feed_behind",
    "Envelopes in the change log that are not yet published to the tenant",
    ["tenant"],
)
feed_behind_seconds = Gauge(
    "matchfeed_feed_behind_seconds",
    "Age of the oldest envelope that is not yet published to the tenant",
    ["tenant"],
)
feed_connected = Gauge("matchfeed_feed_connected", "1 while the tenant's vhost accepts messages", ["tenant"])
feed_queued = Gauge("matchfeed_feed_queued", "Messages in a tenant's queues", ["tenant"])
feed_consumers = Gauge("matchfeed_feed_consumers", "Consumers of a tenant's queues", ["tenant"])
feed_dropped = Counter(
    "matchfeed_feed_dropped", "Messages that a tenant's queues dropped at their limits", ["tenant"]
)
feed_violations = Counter(  # exported under an older name, which dashboards use
    "matchfeed_feed_offences", "Violations of the broker's rules by a tenant, by rule", ["tenant", "rule"]
)
recoveries = Counter(
    "matchfeed_recoveries", "Recovery runs, by the state of the job after the run", ["state"]
)
recovery_seconds = Histogram(
    "matchfeed_recovery_seconds",
    "Time from the acceptance of a recovery until its snapshot_complete was confirmed, by kind of request",
    ["kind"],
    buckets=(0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600),
)
recovery_unrendered = Counter(
    "matchfeed_recovery_unrendered", "Messages that no recovery could render, and left out"
)
replays = Counter("matchfeed_replays", "Replays that ended, by their state", ["state"])
replay_messages = Counter(
    "matchfeed_replay_messages", "Messages of replays that were confirmed by the broker"
)
recovery_envelopes = Counter("matchfeed_recovery_envelopes", "Replayed envelopes confirmed by the broker")
ledger_leaves_behind = Gauge(
    "matchfeed_ledger_leaves_behind",
    "Entries of the settlement ledger without a leaf yet; the same in every feed process",
)
ledger_head_age = Gauge(
    "matchfeed_ledger_head_age_seconds",
    "Age of the newest signed head of the ledger; the same in every feed process",
)
feed_tenants = Gauge("matchfeed_feed_tenants", "Tenants whose lease this process holds")
xml_dropped_characters = Counter(
    "matchfeed_xml_dropped_characters", "Characters removed because XML forbids them"
)
rate_limit_unchecked = Counter(
    "matchfeed_rate_limit_unchecked", "Requests accepted without a rate limit because Redis was unavailable"
)
unauthenticated = Counter(
    "matchfeed_unauthenticated",
    "Requests refused without a valid key: for the key, an unknown path, a log token, or turned_away because"
    " the address sent too many",
    ["why"],
)
http_responses = Counter(
    "matchfeed_http_responses",
    "Responses by what was requested (rest: what tenants may request; log_sink, operators, pages, monitoring:"
    " health, alive and status) and the class of their status",
    ["api", "status"],
)
broker_decisions = Counter(
    "matchfeed_broker_decisions",
    "Requests of the broker, by what it asks about and the answer",
    ["about", "answer"],
)
component_healthy = Gauge(
    "matchfeed_component_healthy", "1 while a component of /v1/health is healthy, else 0", ["component"]
)
live_matches = Gauge(
    "matchfeed_live_matches",
    "Matches in play, by their log source: sending, or silent for too long; the same in every web process",
    ["source"],
)
heartbeat_missing = Gauge(
    "matchfeed_heartbeat_missing",
    "1 while no such process has sent a heartbeat for INGEST_DEAD_SECONDS; the same in every web process",
    ["process"],
)
stream_connections = Gauge(
    "matchfeed_stream_connections", "Clients of this process, by WebSocket and by server-sent events"
)
stream_waiting = Gauge("matchfeed_stream_waiting", "Requests for changes that wait until there is one")
stream_ticks = Counter("matchfeed_stream_ticks", "Polls of the change log by the stream")
alerts_open = Gauge("matchfeed_alerts_open", "Open alerts; the same in every web process", ["kind"])
stream_closed = Counter("matchfeed_stream_closed", "Streams that the service closed, by close code", ["code"])


def set_tenants(gauge: Gauge, values: Mapping[str, float]) -> None:
    """Set a gauge of these tenants and remove all others. A tenant that stays is never missing: Prometheus
    may read at any moment, in another thread."""
    for tenant, value in values.items():
        gauge.labels(tenant).set(value)
    known = {sample.labels["tenant"] for family in gauge.collect() for sample in family.samples}
    for tenant in known - values.keys():
        gauge.remove(tenant)


@contextmanager
def serve(kind: str, host: str, port: int) -> Iterator[None]:
    """Serve the metrics of this process, of that kind, at http://`host`:`port`/metrics; 0: not at all.

    When the port is in use, the process logs that and runs without serving metrics.
    """
    process.labels(kind, VERSION).set(1)
    if not port:
        yield
        return
    try:
        server, _ = start_http_server(port, host)
    except OSError as error:
        log.warning("metrics are not served", host=host, port=port, error=str(error))
        yield
        return
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()

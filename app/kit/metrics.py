"""The metrics of a process, by name and meaning. The web process serves its own at `GET /ops/v1/metrics`, the
others on a port of their own (`serve`).

Names start with `matchfeed_`. Labels have few values: never an id of a match, a key or a person.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import Counter, Gauge, Histogram, start_http_server

from app.kit.logging import get_logger

log = get_logger(__name__)

log_lines = Counter("matchfeed_log_lines", "Log lines read, by result", ["result"])
log_batches = Counter("matchfeed_log_batches", "Log batches handled, by outcome", ["outcome"])
log_batch_wait = Histogram(
    "matchfeed_log_batch_wait_seconds",
    "Time from the arrival of a log batch until it was applied or rejected",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
unexplained_moves = Counter(
    "matchfeed_unexplained_moves", "Times that a match was suspended because a price moved without a cause"
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
recovery_unrendered = Counter(
    "matchfeed_recovery_unrendered", "Messages that no recovery could render, and left out"
)
recovery_envelopes = Counter("matchfeed_recovery_envelopes", "Replayed envelopes confirmed by the broker")
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
stream_connections = Gauge("matchfeed_stream_connections", "WebSocket clients connected to this process")
stream_ticks = Counter("matchfeed_stream_ticks", "Polls of the change log by the stream")
alerts_open = Gauge("matchfeed_alerts_open", "Open alerts; the same in every web process", ["kind"])
stream_closed = Counter("matchfeed_stream_closed", "Streams that the service closed, by close code", ["code"])


@contextmanager
def serve(port: int) -> Iterator[None]:
    """Serve this process's metrics at http://127.0.0.1:`port`/metrics; 0: not at all.

    When the port is in use, the process logs that and runs without serving metrics.
    """
    if not port:
        yield
        return
    try:
        server, _ = start_http_server(port, "127.0.0.1")
    except OSError as error:
        log.warning("metrics are not served", port=port, error=str(error))
        yield
        return
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()

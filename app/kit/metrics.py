"""What this process counts and measures, by name and meaning; the web process shows its own at
`GET /ops/v1/metrics`, the others on a port of their own (`served`).

Names start with `matchfeed_`. Labels have few values: never an id of a match, a key or a person.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import Counter, Gauge, Histogram, start_http_server

from app.kit.logging import get_logger

log = get_logger(__name__)

log_lines = Counter("matchfeed_log_lines", "Log lines read, by what became of them", ["result"])
log_batches = Counter("matchfeed_log_batches", "Log batches applied, by outcome", ["outcome"])
log_batch_wait = Histogram(
    "matchfeed_log_batch_wait_seconds",
    "How long after its arrival a log batch was done with",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
feed_published = Counter("matchfeed_feed_published", "Envelopes confirmed by the broker", ["message"])
feed_repeated = Counter(
    "matchfeed_feed_repeated", "Envelopes published again after a nack or a lost connection"
)
feed_behind = Gauge("matchfeed_feed_behind", "Envelopes that a tenant has not been told", ["tenant"])
feed_behind_seconds = Gauge(
    "matchfeed_feed_behind_seconds", "How long the oldest of them has been waiting", ["tenant"]
)
feed_connected = Gauge("matchfeed_feed_connected", "1 while the tenant's vhost takes messages", ["tenant"])
feed_queued = Gauge("matchfeed_feed_queued", "Messages in a tenant's queues", ["tenant"])
feed_consumers = Gauge("matchfeed_feed_consumers", "Consumers of a tenant's queues", ["tenant"])
feed_dropped = Counter(
    "matchfeed_feed_dropped", "Messages that a tenant's queues have lost to their limits", ["tenant"]
)
feed_offences = Counter(
    "matchfeed_feed_offences", "What a tenant had at the broker and may not have, by rule", ["tenant", "rule"]
)
recoveries = Counter("matchfeed_recoveries", "Runs of recoveries, by how the run left the job", ["state"])
recovery_envelopes = Counter("matchfeed_recovery_envelopes", "Replayed envelopes confirmed by the broker")
feed_tenants = Gauge("matchfeed_feed_tenants", "Tenants that this process publishes to")
xml_dropped_characters = Counter("matchfeed_xml_dropped_characters", "Characters that XML forbids, left out")
rate_limit_unchecked = Counter(
    "matchfeed_rate_limit_unchecked", "Requests let through because Redis was away"
)
unauthenticated = Counter(
    "matchfeed_unauthenticated",
    "Requests without a valid key that were refused: for the key, a path that there is not, a log token, or"
    " turned away because too many came from the address",
    ["why"],
)
stream_connections = Gauge("matchfeed_stream_connections", "WebSocket clients connected to this process")
stream_ticks = Counter("matchfeed_stream_ticks", "Looks of the stream for what has changed")
alerts_open = Gauge("matchfeed_alerts_open", "Alerts that are open, as every web process sees them", ["kind"])
stream_closed = Counter("matchfeed_stream_closed", "Streams that we ended, by close code", ["code"])


@contextmanager
def served(port: int) -> Iterator[None]:
    """Show this process's figures at http://127.0.0.1:`port`/metrics meanwhile; 0 shows them nowhere.

    A port that is taken is not worth a process: it says so and goes on.
    """
    if not port:
        yield
        return
    try:
        server, _ = start_http_server(port, "127.0.0.1")
    except OSError as error:
        log.warning("metrics are shown nowhere", port=port, error=str(error))
        yield
        return
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()

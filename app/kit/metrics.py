"""Counters and gauges of this process, by name and meaning; `GET /ops/v1/metrics` shows them.

Names start with `matchfeed_`. Labels have few values: never an id of a match, a key or a person.
"""

from prometheus_client import Counter, Gauge

log_lines = Counter("matchfeed_log_lines", "Log lines read, by what became of them", ["result"])
log_batches = Counter("matchfeed_log_batches", "Log batches applied, by outcome", ["outcome"])
feed_published = Counter("matchfeed_feed_published", "Envelopes confirmed by the broker", ["message"])
feed_repeated = Counter(
    "matchfeed_feed_repeated", "Envelopes published again after a nack, return or restart"
)
recoveries = Counter("matchfeed_recoveries", "Runs of recoveries, by how the run left the job", ["state"])
recovery_envelopes = Counter("matchfeed_recovery_envelopes", "Replayed envelopes confirmed by the broker")
feed_tenants = Gauge("matchfeed_feed_tenants", "Tenants that this process publishes to")
xml_dropped_characters = Counter("matchfeed_xml_dropped_characters", "Characters that XML forbids, left out")
rate_limit_unchecked = Counter(
    "matchfeed_rate_limit_unchecked", "Requests let through because Redis was away"
)

"""The alerts about symptoms: what is wrong now, and what to do; `service_levels` has those about budgets."""

from typing import Literal

import msgspec

Severity = Literal["page", "ticket"]
#: The component of `/v1/health` that is unhealthy while the web process does not reach the broker.
_BROKER = 'matchfeed_component_healthy{component="ingest_queues"}'
#: Whether the broker did not answer at some time lately; what follows from that has no alert of its own.
_BROKER_WAS_DOWN = f"min(min_over_time({_BROKER}[5m])) == 0"


class Alert(msgspec.Struct, frozen=True):
    """An alert: it fires once `expr` has had a result for `lasting`. `page`: somebody must act now; `ticket`:
    within a working day. `summary` says what is wrong, `action` what to do."""

    name: str
    expr: str
    lasting: str
    severity: Severity
    summary: str
    action: str
    labels: tuple[tuple[str, str], ...] = ()


PROCESSES = (
    Alert(
        "MatchfeedProcessDown",
        'up{job="matchfeed"} == 0',
        "1m",
        "ticket",
        "The process at {{ $labels.instance }} does not serve its metrics.",
        "Read its log; start it again. If others of its kind run, clients notice nothing.",
    ),
    Alert(
        "MatchfeedWebDown",
        'absent(matchfeed_process{process="web"})',
        "1m",
        "page",
        "No web process answers: no REST, no stream, and game servers' logs are refused.",
        "Start `matchfeed serve`; read its log. Game servers repeat what was refused.",
    ),
    Alert(
        "MatchfeedIngestDown",
        'max(matchfeed_heartbeat_missing{process="ingest"}) == 1',
        "0s",
        "page",
        "No ingest process is alive: every market is suspended, logs wait in their queues.",
        "Start `matchfeed ingest`; read its log. Nothing is lost.",
    ),
    Alert(
        "MatchfeedFeedDown",
        'max(matchfeed_heartbeat_missing{process="feed"}) == 1',
        "0s",
        "page",
        "No feed process is alive: no tenant receives messages.",
        "Start `matchfeed feed`; read its log. Within FEED_LAG_MINUTES nothing is lost.",
    ),
)
SERVERS = (
    Alert(
        "MatchfeedDatabaseDown",
        'min(matchfeed_component_healthy{component="database"}) == 0',
        "1m",
        "page",
        "A web process does not reach PostgreSQL.",
        "Run `matchfeed doctor`; see whether PostgreSQL runs, and its connections and disk.",
    ),
    Alert(
        "MatchfeedBrokerDown",
        f"min({_BROKER}) == 0",
        "1m",
        "page",
        "A web process does not reach RabbitMQ: logs are refused, nothing is published.",
        "Run `matchfeed doctor`; see whether RabbitMQ runs, and its memory and disk alarms.",
    ),
    Alert(
        "MatchfeedRateLimitsOff",
        'min(matchfeed_component_healthy{component="rate_limits"}) == 0',
        "5m",
        "ticket",
        "Redis does not answer: requests are served without rate limits.",
        "See whether Redis runs and REDIS_URL leads to it.",
    ),
)
DELIVERY = (
    Alert(
        "MatchfeedTenantDisconnected",
        f"max by (tenant) (matchfeed_feed_connected) == 0 unless on () ({_BROKER_WAS_DOWN})",
        "1m",
        "page",
        "The vhost of {{ $labels.tenant }} accepts no messages, though the broker answers.",
        "`matchfeed feed status` says why; `matchfeed doctor` whether vhost and users are in order.",
    ),
    Alert(
        "MatchfeedTenantBehind",
        "max by (tenant) (matchfeed_feed_behind_seconds) > 60",
        "2m",
        "page",
        "{{ $labels.tenant }} receives messages more than a minute late.",
        "If it is one tenant, see its connection and queues; if all, add a feed process, or cores.",
    ),
    Alert(
        "MatchfeedAliveWithheld",
        'min(matchfeed_component_healthy{component="feed"}) == 0'
        f' unless on () (max(matchfeed_heartbeat_missing{{process="feed"}}) == 1 or {_BROKER_WAS_DOWN})',
        "5m",
        "page",
        "A feed process lives and some tenant receives no alive: its clients count the producer as down.",
        "`matchfeed feed status` names the tenants; read the feed process's log.",
    ),
    Alert(
        "MatchfeedRecoveriesFail",
        'sum(increase(matchfeed_recoveries_total{state="failed"}[15m])) > 3',
        "0s",
        "ticket",
        "Recoveries fail: {{ $value | humanize }} within 15 minutes.",
        "The feed process's log says why, for each; the client reads it in the recovery's `error`.",
    ),
)
FACTS = (
    Alert(
        "MatchfeedSourcesSilent",
        'max(matchfeed_live_matches{source="silent"}) > 0.5 * sum(max by (source) (matchfeed_live_matches))',
        "2m",
        "page",
        "The game servers of most matches in play are silent; those matches are suspended.",
        "See whether game servers reach the log sink; `matchfeed alerts --kind silent_source`.",
    ),
    Alert(
        "MatchfeedIngestSlow",
        "histogram_quantile(0.99, sum by (le) (rate(matchfeed_log_batch_wait_seconds_bucket[5m]))) > 2",
        "10m",
        "ticket",
        "One log batch in a hundred waits for more than two seconds, after which it sets no prices.",
        "Add an ingest process, or see what PostgreSQL waits for.",
    ),
    Alert(
        "MatchfeedOperatorsAlert",
        'max by (kind) (matchfeed_alerts_open{kind!="dead_process"}) > 0',
        "15m",
        "ticket",
        "Alerts of the kind {{ $labels.kind }} have been open for 15 minutes.",
        "`matchfeed alerts` lists them; docs/operators.md says what ends each.",
    ),
)

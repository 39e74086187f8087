"""What clients are promised, as shares of what went wrong, and the alerts about the budget of each promise.

A promise allows a share of failures, its budget. How fast a budget burns is the share of failures in a
window divided by the budget: at 1 the budget of 30 days lasts 30 days. An alert looks at a long window, so
that a short disturbance raises nothing, and at a short one, so that it ends soon after the disturbance.
"""

import msgspec

from scripts.monitoring.alerts import Alert, Severity


class ServiceLevel(msgspec.Struct, frozen=True):
    """A promise: `objective` is the share that goes well, over 30 days. `failures` is a query for the share
    of failures within the window that replaces `WINDOW`; `events` one for how many there were at all, of
    which an alert needs `least` ("" where time counts, which always passes)."""

    name: str
    title: str
    objective: float
    promise: str
    failures: str
    events: str
    least: int
    action: str

    def recorded(self, window: str) -> str:
        """The name under which the share of failures within a window is recorded."""
        return f"matchfeed:{self.name}:ratio_rate{window}"


class BurnRate(msgspec.Struct, frozen=True):
    """When a budget burns too fast: at `factor` times the rate that would last 30 days, in both windows."""

    factor: float
    long: str
    short: str
    severity: Severity


#: What is spent of the budget of 30 days once each fires: 2 % within an hour, 5 % within six, 10 % within a
#: day or three.
BURN_RATES = (
    BurnRate(14.4, "1h", "5m", "page"),
    BurnRate(6, "6h", "30m", "page"),
    BurnRate(3, "1d", "2h", "ticket"),
    BurnRate(1, "3d", "6h", "ticket"),
)
WINDOWS = ("5m", "30m", "1h", "2h", "6h", "1d", "3d")

LEVELS = (
    ServiceLevel(
        "messages_late",
        "Log line to queue",
        0.999,
        "the broker has confirmed a message 2 s after the log lines behind it arrived",
        '1 - sum(rate(matchfeed_message_delay_seconds_bucket{le="2.0"}[WINDOW]))'
        " / sum(rate(matchfeed_message_delay_seconds_count[WINDOW]))",
        "sum(increase(matchfeed_message_delay_seconds_count[WINDOW]))",
        100,
        "See which part is late on the dashboard: ingest (log batches wait) or the feed (publishing).",
    ),
    ServiceLevel(
        "recoveries_slow",
        "Recovery time",
        0.99,
        "the broker has confirmed a recovery's snapshot_complete 30 s after the request was accepted",
        '1 - sum(rate(matchfeed_recovery_seconds_bucket{le="30.0"}[WINDOW]))'
        " / sum(rate(matchfeed_recovery_seconds_count[WINDOW]))",
        "sum(increase(matchfeed_recovery_seconds_count[WINDOW]))",
        10,
        "See whether feed processes live, and how many recoveries of which tenant run (portal, audit log).",
    ),
    ServiceLevel(
        "sources_silent",
        "Freshness of sources",
        0.995,
        "the log source of a match in play is not silent for longer than is usual at that moment of play",
        'sum(sum_over_time(matchfeed_live_matches{source="silent"}[WINDOW]))'
        " / sum(sum_over_time(matchfeed_live_matches[WINDOW]))",
        "",
        0,
        "`matchfeed alerts --kind silent_source` names the matches; see whether servers reach the log sink.",
    ),
    ServiceLevel(
        "rest_errors",
        "Availability of REST",
        0.999,
        "a request is not answered with a status of 500 or above",
        'sum(rate(matchfeed_http_responses_total{api="rest",status="5xx"}[WINDOW]))'
        ' / sum(rate(matchfeed_http_responses_total{api="rest"}[WINDOW]))',
        'sum(increase(matchfeed_http_responses_total{api="rest"}[WINDOW]))',
        100,
        "The log of the web process has each error with its request id; run `matchfeed doctor`.",
    ),
)


def burn_alerts(level: ServiceLevel) -> list[Alert]:
    """The alerts about the budget of one promise, the fastest burning first."""
    return [_burn_alert(level, rate) for rate in BURN_RATES]


def _burn_alert(level: ServiceLevel, rate: BurnRate) -> Alert:
    threshold = f"{rate.factor * (1 - level.objective):.6g}"
    expr = " and ".join(f"{level.recorded(window)} > {threshold}" for window in (rate.long, rate.short))
    if level.events:
        expr += f" and {level.events.replace('WINDOW', rate.long)} >= {level.least}"
    return Alert(
        f"Matchfeed{level.name.title().replace('_', '')}Burn",
        expr,
        "0s",
        rate.severity,
        f"{level.title}: {{{{ $value | humanizePercentage }}}} failed within {rate.long}"
        f" ({1 - level.objective:.1%} are allowed over 30 days).",
        level.action,
        (("window", rate.long),),
    )

"""The dashboard as Grafana (10 or later) imports it; the data source is a variable, chosen in Grafana."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from scripts.monitoring.service_levels import LEVELS

_WIDTH, _HEIGHT, _COLUMNS = 8, 8, 3
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}


class Panel(msgspec.Struct, frozen=True):
    """A plot: its queries with their legends, and Grafana's unit of its values."""

    title: str
    queries: Mapping[str, str]
    unit: str = "short"
    note: str = ""


def _quantiles(histogram: str) -> dict[str, str]:
    rate = f"sum by (le) (rate({histogram}_bucket[$__rate_interval]))"
    return {f"p{share:.0%}".rstrip("%"): f"histogram_quantile({share}, {rate})" for share in (0.5, 0.9, 0.99)}


def _rate(counter: str, *labels: str) -> dict[str, str]:
    legend = " ".join(f"{{{{{label}}}}}" for label in labels) or "a second"
    return {legend: f"sum by ({', '.join(labels)}) (rate({counter}[$__rate_interval]))"}


def _by(gauge: str, label: str, matching: str = "") -> dict[str, str]:
    return {f"{{{{{label}}}}}": f"max by ({label}) ({gauge}{matching})"}


ROWS: dict[str, tuple[Panel, ...]] = {
    "Service levels": (
        Panel(
            "Budgets: how fast they burn (1: lasts 30 days)",
            {each.title: f"{each.recorded('1h')} / {1 - each.objective:.6g}" for each in LEVELS},
        ),
        Panel(
            "Failures within three days",
            {each.title: each.recorded("3d") for each in LEVELS},
            "percentunit",
            "Allowed over 30 days: " + ", ".join(f"{each.title} {1 - each.objective:.1%}" for each in LEVELS),
        ),
        Panel("Log line to queue", _quantiles("matchfeed_message_delay_seconds"), "s"),
    ),
    "Processes": (
        Panel("Answers Prometheus", {"{{instance}}": 'up{job="matchfeed"}'}),
        Panel("Components of /v1/health", _by("matchfeed_component_healthy", "component")),
        Panel("No process of a kind is alive", _by("matchfeed_heartbeat_missing", "process")),
        Panel(
            "Resident memory",
            {
                "{{process}} {{instance}}": "process_resident_memory_bytes"
                " * on (instance) group_left (process) matchfeed_process"
            },
            "bytes",
        ),
        Panel(
            "Processor",
            {
                "{{process}} {{instance}}": "rate(process_cpu_seconds_total[$__rate_interval])"
                " * on (instance) group_left (process) matchfeed_process"
            },
            "percentunit",
        ),
        Panel("Open alerts", _by("matchfeed_alerts_open", "kind")),
    ),
    "Delivery": (
        Panel("Behind", _by("matchfeed_feed_behind_seconds", "tenant"), "s"),
        Panel("Envelopes behind", _by("matchfeed_feed_behind", "tenant")),
        Panel("Connected", _by("matchfeed_feed_connected", "tenant")),
        Panel("Confirmed envelopes", _rate("matchfeed_feed_published_total", "message"), "cps"),
        Panel("Commit to confirm", _quantiles("matchfeed_publish_delay_seconds"), "s"),
        Panel("Published again", _rate("matchfeed_feed_repeated_total"), "cps"),
        Panel("Messages in tenants' queues", _by("matchfeed_feed_queued", "tenant")),
        Panel("Consumers", _by("matchfeed_feed_consumers", "tenant")),
        Panel("Dropped by tenants' queues", _rate("matchfeed_feed_dropped_total", "tenant"), "cps"),
        Panel("Violations of the broker's rules", _rate("matchfeed_feed_offences_total", "tenant", "rule")),
        Panel("Tenants of each feed process", {"{{instance}}": "matchfeed_feed_tenants"}),
        Panel("The broker's requests", _rate("matchfeed_broker_decisions_total", "about", "answer"), "cps"),
    ),
    "Recoveries": (
        Panel("Runs", _rate("matchfeed_recoveries_total", "state"), "cps"),
        Panel("Accepted to snapshot_complete", _quantiles("matchfeed_recovery_seconds"), "s"),
        Panel("Replayed envelopes", _rate("matchfeed_recovery_envelopes_total"), "cps"),
        Panel("Messages left out", _rate("matchfeed_recovery_unrendered_total"), "cps"),
    ),
    "Facts": (
        Panel("Matches in play", _by("matchfeed_live_matches", "source")),
        Panel("Log lines", _rate("matchfeed_log_lines_total", "result"), "cps"),
        Panel("Log batches", _rate("matchfeed_log_batches_total", "outcome"), "cps"),
        Panel("Arrival to applied", _quantiles("matchfeed_log_batch_wait_seconds"), "s"),
        Panel("Prices that moved without a cause", _rate("matchfeed_unexplained_moves_total"), "cps"),
        Panel("Characters that XML forbids", _rate("matchfeed_xml_dropped_characters_total"), "cps"),
    ),
    "HTTP": (
        Panel("Responses", _rate("matchfeed_http_responses_total", "api", "status"), "reqps"),
        Panel("Refused without a valid key", _rate("matchfeed_unauthenticated_total", "why"), "reqps"),
        Panel("Without a rate limit", _rate("matchfeed_rate_limit_unchecked_total"), "reqps"),
        Panel("Stream connections", {"{{instance}}": "matchfeed_stream_connections"}),
        Panel("Streams closed by the service", _rate("matchfeed_stream_closed_total", "code"), "cps"),
        Panel("Polls of the change log", _rate("matchfeed_stream_ticks_total"), "cps"),
    ),
}


def queries() -> list[str]:
    """Every query of the dashboard."""
    return [query for panels in ROWS.values() for panel in panels for query in panel.queries.values()]


def text() -> str:
    """The file."""
    board = {
        "uid": "matchfeed",
        "title": "matchfeed",
        "description": "Made by `nox -s pages` from scripts/monitoring/dashboard.py; change it there.",
        "tags": ["matchfeed"],
        "timezone": "utc",
        "schemaVersion": 38,
        "version": 1,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [{"name": "datasource", "type": "datasource", "query": "prometheus"}]},
        "annotations": {"list": [_alerts_shown()]},
        "panels": list(_panels()),
    }
    return json.dumps(board, indent=1) + "\n"


def _alerts_shown() -> dict[str, Any]:
    return {
        "name": "Alerts that page",
        "datasource": _SOURCE,
        "enable": True,
        "iconColor": "red",
        "expr": 'ALERTS{alertstate="firing",severity="page"}',
        "titleFormat": "{{alertname}}",
    }


def _panels() -> Iterator[dict[str, Any]]:
    number, y = 0, 0
    for row, panels in ROWS.items():
        number += 1
        place = {"x": 0, "y": y, "w": _WIDTH * _COLUMNS, "h": 1}
        yield {"id": number, "type": "row", "title": row, "collapsed": False, "panels": [], "gridPos": place}
        y += 1
        for index, panel in enumerate(panels):
            number += 1
            x, line = index % _COLUMNS * _WIDTH, index // _COLUMNS
            yield _plot(number, panel, {"x": x, "y": y + line * _HEIGHT, "w": _WIDTH, "h": _HEIGHT})
        y += -(-len(panels) // _COLUMNS) * _HEIGHT


def _plot(number: int, panel: Panel, place: Mapping[str, int]) -> dict[str, Any]:
    return {
        "id": number,
        "type": "timeseries",
        "title": panel.title,
        "description": panel.note,
        "datasource": _SOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}},
        "targets": [
            {"refId": chr(ord("A") + index), "datasource": _SOURCE, "expr": query, "legendFormat": legend}
            for index, (legend, query) in enumerate(panel.queries.items())
        ],
    }

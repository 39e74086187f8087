"""The rules as Prometheus reads them. Every text is written as JSON, which is YAML."""

import json
import re
from collections.abc import Iterable, Iterator

from scripts.monitoring import alerts
from scripts.monitoring.alerts import Alert
from scripts.monitoring.service_levels import LEVELS, WINDOWS, burn_alerts

_HEAD = """\
# Recording and alert rules of matchfeed for Prometheus. Made by `nox -s pages` from scripts/monitoring, where
# each is defined. The job that scrapes the processes is called matchfeed (docs/monitoring.md).
groups:
"""
_DURATION = re.compile(r"(?<=\[)(\d+)([smhd])(?=\])|(?<=for: )(\d+)([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
GROUPS = {
    "matchfeed-processes": alerts.PROCESSES,
    "matchfeed-servers": alerts.SERVERS,
    "matchfeed-delivery": alerts.DELIVERY,
    "matchfeed-facts": alerts.FACTS,
}


def text() -> str:
    """The file."""
    return _HEAD + "\n".join([*_levels(), *_groups()]) + "\n"


def all_alerts() -> list[Alert]:
    """Every alert of the file."""
    burning = [alert for level in LEVELS for alert in burn_alerts(level)]
    return burning + [alert for group in GROUPS.values() for alert in group]


def scaled(rules: str, factor: float) -> str:
    """The rules with every window and every `for` so many times as short, for tests that cannot wait for
    hours. Thresholds, and seconds within expressions, stay as they are."""

    def shorter(found: re.Match[str]) -> str:
        count, unit = (found[1], found[2]) if found[1] else (found[3], found[4])
        return f"{round(int(count) * _SECONDS[unit] * 1000 / factor)}ms"

    return _DURATION.sub(shorter, rules)


def _levels() -> Iterator[str]:
    for level in LEVELS:
        yield f"  - name: matchfeed-{level.name.replace('_', '-')}"
        yield f"    # {level.title}: {level.objective:.1%}: {level.promise}."
        yield "    rules:"
        for window in WINDOWS:
            yield f"      - record: {level.recorded(window)}"
            yield f"        expr: {json.dumps(level.failures.replace('WINDOW', window))}"
        yield from _alerts(burn_alerts(level))


def _groups() -> Iterator[str]:
    for name, group in GROUPS.items():
        yield f"  - name: {name}"
        yield "    rules:"
        yield from _alerts(group)


def _alerts(group: Iterable[Alert]) -> Iterator[str]:
    for alert in group:
        yield f"      - alert: {alert.name}"
        yield f"        expr: {json.dumps(alert.expr)}"
        yield f"        for: {alert.lasting}"
        labels = (("severity", alert.severity), *alert.labels)
        yield f"        labels: {{ {', '.join(f'{name}: {json.dumps(value)}' for name, value in labels)} }}"
        yield "        annotations:"
        yield f"          summary: {json.dumps(alert.summary)}"
        yield f"          action: {json.dumps(alert.action)}"

"""The alerts, the service levels and what faults raise, from `scripts.monitoring`."""

import re
from collections.abc import Iterable

from scripts.monitoring import fault_alerts
from scripts.monitoring.rules_file import GROUPS, all_alerts
from scripts.monitoring.service_levels import BURN_RATES, LEVELS, burn_alerts

_LABEL = re.compile(r"\{\{ \$labels\.(\w+) \}\}")
_VALUE = re.compile(r"\{\{ \$value[^}]*\}\}")
_HEAD = """# Alerts

What Prometheus raises with the rules in `scripts/deploy/matchfeed-alerts.yml`
([monitoring](monitoring.md) says how to run them). `page`: somebody must act now; `ticket`: within a working
day. `.venv/bin/nox -s pages` writes this page and the rules from `scripts/monitoring`; tests check that both
are current, that every query names a metric and labels that processes expose, and that each alert fires and
ends.

"""
_LEVELS = """
## Service levels

Promises over 30 days. A budget is the share that may fail. It is an assumption about what bookmakers need:
change it in `scripts/monitoring/service_levels.py`.

"""
_BURN = """
Each promise has four alerts, which fire while its budget burns faster than the factor in both windows:

"""
_FAULTS = """
## What the faults of the demo raise

`matchfeed fault --help` lists the faults. `nox -s alerts` injects each into a demo that a real Prometheus
watches, with these rules in which every window and every `for` is FACTOR times as short, so that an outage of
25 s stands for one of some eight minutes; budgets by their window of an hour alone. It compares what fires,
which operators' alerts open, and that all of it ends. `nox -s status` compares the incidents of the [status
of the service](status.md) without Prometheus. "May": raised or not, for the reason given.
Each was seen so in November 2026, half of them on a busy machine.

"""


def page() -> str:
    """The page as Markdown. Raises `ValueError` for a fault that lists an alert which does not exist."""
    known = {each.name for each in all_alerts()}
    if unknown := {name for each in fault_alerts.FAULTS.values() for name in each.raises | each.may} - known:
        raise ValueError(f"scripts/monitoring/fault_alerts.py lists unknown alerts: {sorted(unknown)}")
    found = [each for group in GROUPS.values() for each in group]
    rows = [
        (f"`{each.name}`", each.severity, each.lasting, _plain(each.summary), each.action) for each in found
    ]
    parts = [_HEAD, _table(("alert", "severity", "for", "says", "what to do"), rows)]
    levels = [
        (each.title, f"{each.objective:.1%}", each.promise, f"`{burn_alerts(each)[0].name}`", each.action)
        for each in LEVELS
    ]
    parts += [_LEVELS, _table(("level", "objective", "goes well if", "alert", "what to do"), levels)]
    rates = [(each.severity, f"{each.factor:g}", each.long, each.short) for each in BURN_RATES]
    parts += [_BURN, _table(("severity", "factor", "long window", "short window"), rates)]
    faults = [
        (
            f"`{name}`",
            _names(each.raises),
            _names(each.may | each.may_operators),
            _names(each.operators),
            _names(each.incidents),
            _names(each.may_incidents),
            each.why,
        )
        for name, each in fault_alerts.FAULTS.items()
    ]
    heads = ("fault", "Prometheus", "may", "operators' alerts", "incidents", "may begin", "why")
    parts += [_FAULTS.replace("FACTOR", f"{fault_alerts.FACTOR:g}"), _table(heads, faults)]
    return "".join(parts)


def _plain(summary: str) -> str:
    """A summary with the name of a label in place of its value."""
    return _VALUE.sub("…", _LABEL.sub(r"(\1)", summary))


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{each}`" for each in sorted(names)) or "none"


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = tuple(heads)
    lines = [heads, ("---",) * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)

"""Every process exposes its metrics, and every query of rules and dashboard names what processes expose."""

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx
import msgspec
import pytest
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.parser import text_string_to_metric_families

from app.kit import metrics
from app.settings import Settings
from scripts.monitoring import dashboard
from scripts.monitoring.rules_file import all_alerts
from scripts.monitoring.service_levels import LEVELS, WINDOWS
from tests.support.ports import spare
from tests.support.processes import started
from tests.support.promql import grouped_by, selectors

ROOT = Path(__file__).resolve().parents[3]
#: What starts each process, by the name that it gives itself; two of a kind run beside each other.
COMMANDS = (
    ("web", "serve", ("--port", "{}")),
    ("ingest", "ingest", ()),
    ("ingest", "ingest", ()),
    ("feed", "feed", ()),
    ("broker-authorisation", "broker-authorisation", ("--port", "{}")),
)
#: Labels that Prometheus itself adds, and its own metrics.
ADDED = {"job", "instance"}
OF_PROMETHEUS = {"up": {"job", "instance"}, "ALERTS": {"alertname", "alertstate", "severity"}}
Exposed = dict[str, set[str]]


@asynccontextmanager
async def exposing(settings: Settings, directory: Path) -> AsyncIterator[dict[int, str]]:
    """The processes, running; the kind of each by the port of its metrics."""
    async with AsyncExitStack() as stack:
        kinds = {}
        for kind, command, arguments in COMMANDS:
            port, own = spare(2)
            with_port = msgspec.structs.replace(settings, metrics_port=port)
            filled = [each.format(own) for each in arguments]
            await stack.enter_async_context(started(command, with_port, directory, *filled))
            kinds[port] = kind
        yield kinds


async def exposition(client: httpx.AsyncClient, port: int) -> str:
    async with asyncio.timeout(60):
        while True:
            try:
                return (await client.get(f"http://127.0.0.1:{port}/metrics")).text
            except httpx.TransportError:
                await asyncio.sleep(0.05)


def labels_of(text: str) -> Exposed:
    """The names that an exposition has, and the labels of each that has series."""
    found: Exposed = defaultdict(set)
    for family in text_string_to_metric_families(text):
        if family.type == "counter":
            found[f"{family.name}_total"]
        elif family.type == "histogram":
            for part in ("bucket", "count", "sum"):
                found[f"{family.name}_{part}"]
        else:
            found[family.name]
        for sample in family.samples:
            found[sample.name] |= set(sample.labels)
    return found


def declared() -> Exposed:
    """The labels of our own registry, which every process shares, for what has no series yet."""
    found: Exposed = {}
    for each in vars(metrics).values():
        if isinstance(each, MetricWrapperBase):
            for family in each.describe():
                labels = set(each._labelnames)
                names = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum")}
                for suffix in names.get(family.type, ("",)):
                    found[family.name + suffix] = labels | ({"le"} if suffix == "_bucket" else set())
    return found


def wrong(query: str, known: Mapping[str, set[str]]) -> list[str]:
    """What a query names that nothing exposes."""
    found, labels = [], set(ADDED)
    for name, matched in selectors(query):
        if name not in known:
            found.append(f"{name}: no such metric")
            continue
        labels |= known[name]
        found += [f"{name}: no label {label}" for label in sorted(matched - known[name] - ADDED)]
    return found + [f"no label {label}" for label in sorted(grouped_by(query) - labels)]


def queries() -> list[str]:
    """Every query of the committed rules and of the committed dashboard."""
    board = json.loads((ROOT / "scripts/deploy/matchfeed-dashboard.json").read_text())
    shown = [target["expr"] for panel in board["panels"] for target in panel.get("targets", ())]
    shown += [each["expr"] for each in board["annotations"]["list"]]
    assert sorted(shown[:-1]) == sorted(dashboard.queries())
    recorded = [level.failures.replace("WINDOW", window) for level in LEVELS for window in WINDOWS]
    return shown + recorded + [alert.expr for alert in all_alerts()]


async def test_queries_name_what_processes_expose(settings: Settings, tmp_path: Path) -> None:
    known: Exposed = {name: set(labels) for name, labels in OF_PROMETHEUS.items()}
    known |= {level.recorded(window): set() for level in LEVELS for window in WINDOWS}
    async with exposing(settings, tmp_path) as kinds, httpx.AsyncClient(trust_env=False) as client:
        for port, kind in kinds.items():
            text = await exposition(client, port)
            assert f'matchfeed_process{{process="{kind}"' in text
            for name, labels in labels_of(text).items():
                known.setdefault(name, set()).update(labels)
    for name, labels in declared().items():
        if name in known:
            known[name] |= labels
    assert {query: found for query in queries() if (found := wrong(query, known))} == {}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ('rate(up{job="x"}[5m])', []),
        ("sum by (tenant) (gone)", ["gone: no such metric", "no label tenant"]),
        ('max by (le) (up{kind="x"}) > 1', ["up: no label kind", "no label le"]),
        ("histogram_quantile(0.5, sum by (job) (rate(up[5m]))) unless on () (up == 0)", []),
    ],
)
def test_what_does_not_exist_is_found(query: str, found: list[str]) -> None:
    assert wrong(query, OF_PROMETHEUS) == found

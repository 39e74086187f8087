"""The metrics, from the registry that Prometheus reads them from."""

import ast
from pathlib import Path

from prometheus_client import REGISTRY

from app.kit import metrics

ROOT = Path(__file__).resolve().parents[2]
HEAD = """# Metrics

Every process (web, ingest, feed, broker-authorisation) serves its own metrics in Prometheus' text format at
`http://$METRICS_HOST:$METRICS_PORT/metrics` where `METRICS_PORT` is set: each process of a machine needs a
port of its own, one whose port is taken logs that and serves none. The web process serves them at
`GET /ops/v1/metrics` too (with an operator's key). `matchfeed_process` says what a process is. A metric that
a process never sets stays at zero, or has no series there. Exposed names of counters end in `_total`.
The metrics of Python and of the process (`python_…`, `process_…`) are served too. [Monitoring](monitoring.md)
describes the alerts, the service levels and the dashboard that are made of these metrics.
`.venv/bin/nox -s pages` writes this page from `app/kit/metrics.py`; a test checks that it is current.

| metric | kind | labels | meaning | set in |
|---|---|---|---|---|
"""


def page() -> str:
    """The reference as Markdown."""
    return HEAD + "".join(f"| {' | '.join(row)} |\n" for row in rows())


def registered() -> dict[str, tuple[str, str]]:
    """Kind and meaning of every metric of ours that is registered, by its name as it is exposed."""
    return {
        family.name + ("_total" if family.type == "counter" else ""): (family.type, family.documentation)
        for family in REGISTRY.collect()
        if family.name.startswith("matchfeed_")
    }


def rows() -> list[tuple[str, str, str, str, str]]:
    """Name, kind, labels, meaning, and the files that set it, of each metric."""
    declared = _declared()
    users = _users()
    return [
        (
            f"`{name}`",
            kind,
            ", ".join(f"`{label}`" for label in declared[name][1]) or "none",
            help_text,
            ", ".join(f"`{path}`" for path in users.get(declared[name][0], [])),
        )
        for name, (kind, help_text) in sorted(registered().items())
    ]


def _declared() -> dict[str, tuple[str, tuple[str, ...]]]:
    """The variable and the labels of each metric, by its name as it is exposed."""
    found = {}
    for node in ast.parse(Path(metrics.__file__).read_text()).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            call, variable = node.value, ast.unparse(node.targets[0])
            if ast.unparse(call.func) in ("Counter", "Gauge", "Histogram"):
                name = ast.literal_eval(call.args[0])
                name += "_total" if ast.unparse(call.func) == "Counter" else ""
                found[name] = (variable, tuple(ast.literal_eval(call.args[2])) if call.args[2:] else ())
    return found


def _users() -> dict[str, list[str]]:
    """Files of `app` that name a variable of `metrics`, by variable."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "app").rglob("*.py")):
        text = path.read_text()
        if "metrics" in text:
            tree = ast.parse(text)
            for variable in _own(tree) if path.samefile(metrics.__file__) else _named(tree):
                found.setdefault(variable, []).append(str(path.relative_to(ROOT)))
    return found


def _own(tree: ast.Module) -> set[str]:
    """What the functions of `metrics` itself name."""
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    return {node.id for each in functions for node in ast.walk(each) if isinstance(node, ast.Name)}


def _named(tree: ast.Module) -> set[str]:
    """What a file takes from `metrics`: by import, or as `metrics.<variable>`."""
    named: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == metrics.__name__:
            named |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "metrics":
            named.add(node.attr)
    return named

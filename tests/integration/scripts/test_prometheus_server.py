"""A real Prometheus with the committed rules: an alert fires while nothing answers, and ends."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

from scripts.local_services.prometheus import Programs
from scripts.monitoring import prometheus_server
from scripts.monitoring.fault_alerts import FACTOR
from scripts.monitoring.prometheus_server import PrometheusServer
from scripts.monitoring.rules_file import scaled
from tests.support.ports import spare

RULES = Path(__file__).resolve().parents[3] / "scripts" / "deploy" / "matchfeed-alerts.yml"


def until_firing(server: PrometheusServer, *names: str) -> None:
    deadline = monotonic() + 60
    while (found := server.firing()) != set(names):
        assert monotonic() < deadline, f"waited in vain until only {names} fire: {sorted(found)}"
        sleep(0.2)


@contextmanager
def serving_metrics(port: int) -> Iterator[None]:
    """In a process of its own: other tests have left values in the metrics of this one."""
    serving = f"with metrics.serve('web', '127.0.0.1', {port}): sys.stdin.read()"
    source = f"import sys\nfrom app.kit import metrics\n{serving}"
    process = subprocess.Popen([sys.executable, "-c", source], stdin=subprocess.PIPE)
    try:
        yield
    finally:
        process.communicate(timeout=30)


def test_an_alert_fires_and_ends(prometheus_programs: Programs, tmp_path: Path) -> None:
    port, own = spare(2)
    rules, targets = scaled(RULES.read_text(), FACTOR), {"web": f"http://127.0.0.1:{own}/metrics"}
    with prometheus_server.running(tmp_path, port, rules, targets) as server:
        until_firing(server, "MatchfeedWebDown", "MatchfeedProcessDown")
        with serving_metrics(own):
            until_firing(server)
            assert server.value("max(matchfeed_process)") == 1

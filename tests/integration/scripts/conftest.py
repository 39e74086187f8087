"""Programs that tests of scripts need."""

import pytest

from scripts.local_services import prometheus
from scripts.local_services.processes import ServiceError
from scripts.local_services.prometheus import Programs


@pytest.fixture(scope="session")
def prometheus_programs() -> Programs:
    """Prometheus and promtool; skips, saying why, where they cannot be had."""
    try:
        return prometheus.programs()
    except ServiceError as why:
        pytest.skip(f"needs Prometheus and promtool: {why}")

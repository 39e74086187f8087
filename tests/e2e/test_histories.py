"""One random history on a cluster of loopback addresses: nothing is lost or invented."""

import subprocess
import sys
from collections.abc import Iterator

import pytest

from scripts.clustering import record
from scripts.clustering.record import ROOT

pytestmark = pytest.mark.long


@pytest.fixture
def cluster() -> Iterator[None]:
    """A cluster, unless one is running in this checkout."""
    if record.load():
        yield
        return
    run("scripts.clustering", "--loopback")
    yield
    run("scripts.clustering", "--stop")


def run(module: str, *arguments: str) -> str:
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.timeout(600)
@pytest.mark.usefixtures("cluster")
def test_a_history_with_two_faults() -> None:
    assert ", 0 findings" in run("scripts.histories", "--runs", "1", "--first", "5")

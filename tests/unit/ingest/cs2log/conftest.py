"""The real server log, which lies beside the checkout and not in it."""

import gzip
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
REAL_LOG = ROOT.parent / "shared" / "data" / "cs2-server-inferno.log.gz"


@pytest.fixture(scope="session")
def real_log() -> str:
    if not REAL_LOG.exists():
        pytest.skip(f"the real server log is not there: expected it at {REAL_LOG}")
    return gzip.decompress(REAL_LOG.read_bytes()).decode()

"""What every test in a real browser needs first."""

import pytest

from scripts.local_services import chromium
from scripts.local_services.processes import ServiceError


def require() -> None:
    """Skip the test, with the reason, unless Chromium is on this machine or can be installed here."""
    try:
        chromium.ensure_installed(print)
    except ServiceError as why:
        pytest.skip(f"needs a browser: {why}")

"""The web application, and keys to call it with."""

from tests.integration.conftest import issue, private
from tests.integration.rest.conftest import client

__all__ = ["client", "issue", "private"]  # fixtures

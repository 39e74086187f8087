"""The web application, and keys to call it with."""

from tests.integration.conftest import client, issue, private

__all__ = ["client", "issue", "private"]  # fixtures

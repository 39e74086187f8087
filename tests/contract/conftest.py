"""The web application, and keys to call it with."""

from tests.integration.conftest import client, issue

__all__ = ["client", "issue"]  # fixtures

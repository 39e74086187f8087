"""The match and the game server of the ingest tests."""

from tests.integration.ingest.conftest import match, server

__all__ = ["match", "server"]

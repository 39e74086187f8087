"""What tests of pure code begin with."""

import pytest

from tests.unit.domain.play import Server


@pytest.fixture
def server() -> Server:
    """A game server in the first freeze time of its first map."""
    return Server.started()

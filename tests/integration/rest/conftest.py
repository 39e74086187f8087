"""The application, a match to read, and keys of every kind."""

from collections.abc import AsyncIterator

import httpx
import pytest

from app.settings import Settings
from tests.support.web import serving


@pytest.fixture
async def client(private: Settings) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(private) as client:
        yield client

from collections.abc import AsyncIterator

import pytest

from app.broker.management import Management
from scripts.services import Services


@pytest.fixture
async def management(services: Services) -> AsyncIterator[Management]:
    async with Management(services.rabbitmq_api_url) as management:
        yield management

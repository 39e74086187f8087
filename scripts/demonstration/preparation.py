"""What the demo's processes and clients find on its servers: the schema, tenants, keys, and vhosts.

The supervisor imports this module while a private broker boots: it takes as long as the start of a process.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from app.cli.sandbox_commands import demo_tenant_maker
from app.kit import logging
from app.kit.errors import Refusal
from app.settings import Settings
from app.store.migrations import migrate
from scripts.local_services.processes import ServiceError
from scripts.services import Services

from . import shared_servers

T = TypeVar("T")


class Preparation:
    """Each step runs in this process, for a start of Python takes longer. Raises `ServiceError`."""

    def __init__(self, found: Services, settings: Settings, *, reset: bool) -> None:
        self._found, self._settings, self._reset = found, settings, reset
        logging.configure("setup", level="ERROR")

    def claim(self) -> None:
        """Claim the tenants' vhosts at the broker; before that nothing of ours may use them."""
        asyncio.run(shared_servers.claim(self._found, reset=self._reset))

    def migrate(self) -> None:
        """Bring the schema up to date, in an empty database on request."""
        if self._reset:
            asyncio.run(shared_servers.drop_database(self._found))
        _done(migrate(self._settings.database_url))

    def make_keys(self) -> dict[str, Any]:
        """Tenants, keys and users, which need no broker; what clients need to know of them."""
        return _done(self._make_keys())

    def make_vhosts(self, made: dict[str, Any]) -> None:
        """The tenants' vhosts; adds their AMQP URLs to what was made."""
        _done(self._make_vhosts(made))

    def release(self) -> None:
        """Remove the tenants' vhosts, so that another demo may run on this broker."""
        asyncio.run(shared_servers.release(self._found))

    async def _make_keys(self) -> dict[str, Any]:
        async with demo_tenant_maker(self._settings) as maker:
            return await maker.make_keys()

    async def _make_vhosts(self, made: dict[str, Any]) -> None:
        async with demo_tenant_maker(self._settings) as maker:
            await maker.make_vhosts(made)


def _done(step: Coroutine[Any, Any, T]) -> T:
    try:
        return asyncio.run(step)
    except (Refusal, RuntimeError) as error:
        raise ServiceError(f"the demo cannot be set up: {error}") from error

"""What `broker-authorisation` knows of API keys that log in at the broker."""

import asyncio

from app.access.grants import Grants
from app.access.key_logins import KeyLogins
from app.broker.management import Management
from app.kit.background import retry_while_unavailable
from app.kit.errors import Unavailable
from app.settings import Settings
from app.store.connections import AUTHORISATION_SESSION_NAME, open_store

_KEY_CONNECTIONS = 2  #: to the database, for keys that log in at the broker; what is known needs none


class BrokerKeys:
    """Logins at the broker with API keys, as soon as the database has answered; see `access.key_logins`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._logins: KeyLogins | None = None

    def logins(self) -> KeyLogins:
        """Raises `Unavailable` until the database has answered."""
        if self._logins is None:
            raise Unavailable("The database has not answered yet.", retry_after=1)
        return self._logins

    async def run(self) -> None:
        """Follow changes of keys, and disconnect those that may not be connected, until cancelled."""
        settings = self._settings
        store = await retry_while_unavailable(
            "opening the database",
            lambda: open_store(
                settings.database_url, _KEY_CONNECTIONS, session_name=AUTHORISATION_SESSION_NAME
            ),
        )
        async with store, Management(settings.rabbitmq_api_url) as management:
            grants = Grants(store, settings.secret_key)
            self._logins = KeyLogins(grants, management)
            async with asyncio.TaskGroup() as group:
                group.create_task(grants.run())
                group.create_task(self._logins.run())

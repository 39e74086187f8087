"""Health checks of the parts of the service, as seen from this process."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from app.kit.errors import Refusal
from app.kit.logging import get_logger
from app.kit.metrics import component_healthy
from app.store.connections import Store

OK = "ok"
INGEST_QUEUES = "ingest_queues"  #: whether the broker answers, that has the internal queues
FEED_PROCESS = "feed_process"  #: whether any feed process is alive, whichever tenants it publishes to
Check = Callable[[], Awaitable[str]]  #: returns `ok`, or one line on what is wrong
_EVERY_SECONDS = 2.0
log = get_logger(__name__)


async def database_responds(store: Store) -> str:
    await store.check()
    return OK


class Health:
    """Named checks; one that raises makes its part unhealthy and never fails the response. `others` are not
    parts of the response, but can be checked by name."""

    def __init__(self, checks: Mapping[str, Check], others: Mapping[str, Check] | None = None) -> None:
        self._checks = dict(checks)
        self._others = dict(others or {})
        self._states: dict[str, str] = {}

    async def parts(self) -> dict[str, str]:
        return {name: await self._state(name, check) for name, check in self._checks.items()}

    async def observe(self) -> None:
        """Set the gauge of each part's health regularly, until cancelled."""
        while True:
            for name, state in (await self.parts()).items():
                component_healthy.labels(name).set(state == OK)
            await asyncio.sleep(_EVERY_SECONDS)

    def was_ok(self, name: str) -> bool:
        """Whether a part was healthy when it was last checked; a part is before its first check."""
        return self._states.get(name, OK) == OK

    async def ok(self, name: str) -> bool:
        """Whether one of the `others` is healthy."""
        return await self._state(name, self._others[name]) == OK

    async def _state(self, name: str, check: Check) -> str:
        """A part's state; logged when it is another one than before."""
        try:
            state = await check()
        except (Refusal, OSError) as error:
            state = str(error)
        if state != self._states.get(name, OK):
            log.info("a component's health has changed", part=name, state=state)
        self._states[name] = state
        return state

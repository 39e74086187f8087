"""Health checks of the parts of the service, as seen from this process."""

from collections.abc import Awaitable, Callable, Mapping

from app.kit.errors import Refusal
from app.kit.logging import get_logger
from app.store.connections import Store

OK = "ok"
FEED_PROCESS = "feed_process"  #: whether any feed process is alive, whichever tenants it publishes to
Check = Callable[[], Awaitable[str]]  #: returns `ok`, or one line on what is wrong
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

    async def parts(self) -> dict[str, str]:
        return {name: await _state(name, check) for name, check in self._checks.items()}

    async def ok(self, name: str) -> bool:
        """Whether one of the `others` is healthy."""
        return await _state(name, self._others[name]) == OK


async def _state(name: str, check: Check) -> str:
    try:
        return await check()
    except (Refusal, OSError) as error:
        log.warning("health check failed", part=name, error=str(error))
        return str(error)

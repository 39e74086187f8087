"""Which parts of the service are well, as seen from this process."""

from collections.abc import Awaitable, Callable, Mapping

from app.kit.errors import Refusal
from app.kit.logging import get_logger

Check = Callable[[], Awaitable[str]]  #: answers `ok`, or one line on what is wrong
log = get_logger(__name__)


class Health:
    """Named checks; a check that fails makes its part ill and never the answer."""

    def __init__(self, checks: Mapping[str, Check]) -> None:
        self._checks = dict(checks)

    async def parts(self) -> dict[str, str]:
        return {name: await _state(name, check) for name, check in self._checks.items()}


async def _state(name: str, check: Check) -> str:
    try:
        return await check()
    except (Refusal, OSError) as error:
        log.warning("a part is ill", part=name, error=str(error))
        return str(error)

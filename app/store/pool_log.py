"""What the driver logs about its pool, as lines of ours."""

import logging

from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.store.transaction import AWAY

log = get_logger(__name__)


class _PlainLines(logging.Filter):
    """The driver shows a traceback each time that it cannot open a connection of the pool again. While the
    database is away, as in a fail-over, where that happened says nothing: a line has the error alone."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if not isinstance(error, (*AWAY, Unavailable)):
            return True
        log.warning(record.getMessage(), error=repr(error))
        return False


_PLAIN_LINES = _PlainLines()


def use_plain_lines() -> None:
    """Have the driver's pools log a database that is away without a traceback."""
    logging.getLogger("asyncpg.pool").addFilter(_PLAIN_LINES)

"""Remembers recoveries that were refused because their key's rate was exceeded.

SDKs of the established feed ignore `Retry-After`, and wait for hours after a recovery that failed. So the
feed process publishes `alive subscribed="0"` to the tenant once the key has room again
(`channels.feed.session`), on which they request it again.
"""

import time
from uuid import UUID

from app.domain.tenant import Grant
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.store import recovery_jobs
from app.store.connections import Store

log = get_logger(__name__)


class RefusedRecoveries:
    """Records at most one refusal of a key until it has room; repeated requests write nothing."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._recorded_until: dict[UUID, float] = {}

    async def record(self, grant: Grant, seconds: int) -> None:
        """A recovery of this key was refused; it has room again in so many seconds."""
        now = time.monotonic()
        if self._recorded_until.get(grant.key_id, now) > now:
            return
        try:
            async with self._store.autocommit() as tx:
                await recovery_jobs.record_refused(tx, grant.key_id, grant.tenant.id, seconds * 1000)
        except Unavailable as error:
            log.warning("a refused recovery was not recorded", error=error.detail)
            return
        self._recorded_until[grant.key_id] = now + seconds

"""A recovery: what a tenant requested to be replayed, and its progress."""

from enum import StrEnum
from uuid import UUID

import msgspec

#: The slot of requests without a node id; no node id can have this value. It is unrelated to the kind of the
#: same spelling.
IMPLICIT_SLOT = "global"
SLOT_MILLIS = 600_000  #: how long a request may hold its slot
#: A match ends by its log's time, and the feed publishes it when the log is applied: after an outage, much
#: later. Data for recoveries is stored for this much longer.
LATE_MILLIS = 3_600_000
MAX_ATTEMPTS = 5
MAX_QUEUED = 64  #: requests of one tenant without a slot that may wait or run at a time


class RecoveryKind(StrEnum):
    """Which of the four requests it was; each replays other messages."""

    REST_FULL = "canonical"
    FACADE_FULL = "global"  #: unrelated to `IMPLICIT_SLOT`
    EVENT_ODDS = "event_odds"
    EVENT_STATEFUL = "event_stateful"


class RecoveryState(StrEnum):
    SCHEDULED = "scheduled"  #: accepted; waits for its first run, or for another
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"


class RecoveryRequest(msgspec.Struct, frozen=True):
    """A request with valid parameters. `after` in Unix ms, 0 for a full snapshot; `match_id` names the
    match of an event-level request. A request that is queued may have no `request_id` (""): the service then
    assigns one."""

    kind: RecoveryKind
    request_id: str
    after: int = 0
    node_id: str | None = None
    match_id: UUID | None = None

    @property
    def slot(self) -> str:
        return self.node_id or IMPLICIT_SLOT


class RecoveryJob(msgspec.Struct, frozen=True):
    """An accepted request. `token` is the slot's when the job acquired it: a job with an older one than the
    slot has lost it. 0: it has none, because it waits for it, or needs none (event-level requests).
    `attempts` counts the runs begun, the present one included, and distinguishes one
    run's writes from another's. `steps` and `steps_done` are pages of work, the end (`snapshot_complete`)
    being the last one, `envelopes` those published before it in this run. Times in Unix ms; `error` says why
    the last attempt failed.
    """

    id: int
    tenant_id: UUID
    request: RecoveryRequest
    token: int
    state: RecoveryState
    accepted_at: int
    started_at: int | None = None
    finished_at: int | None = None
    attempts: int = 0
    steps: int = 0
    steps_done: int = 0
    envelopes: int = 0
    error: str = ""

    @property
    def ending(self) -> bool:
        """Whether all but `snapshot_complete` is published."""
        return self.steps > 0 and self.steps_done >= self.steps - 1


class RecoveryInFlight(msgspec.Struct, frozen=True):
    """The request that holds a slot, which expires in `remaining` ms at the latest; `ending` when all but
    `snapshot_complete` is published and the slot is about to be free."""

    request_id: str
    kind: RecoveryKind
    after: int
    accepted_at: int
    remaining: int
    ending: bool

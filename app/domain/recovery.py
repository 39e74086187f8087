"""A recovery: what a tenant asked to be told again, and how far that has come."""

from enum import StrEnum
from uuid import UUID

import msgspec

IMPLICIT_SLOT = "global"  #: the slot of requests without a node id; no node id can be this word
SLOT_MILLIS = 600_000  #: how long a request may hold its slot
#: A match ends by its log's time, and the feed says so when the log is applied: after an outage, much later.
#: What recoveries replay is stored for so much longer than its time says.
LATE_MILLIS = 3_600_000
MOST_ATTEMPTS = 5
MOST_QUEUED = 64  #: event-level requests of one tenant that may wait or run at a time


class RecoveryKind(StrEnum):
    """Which of the four requests it was; each tells other things again."""

    CANONICAL = "canonical"
    GLOBAL = "global"
    EVENT_ODDS = "event_odds"
    EVENT_STATEFUL = "event_stateful"


class RecoveryState(StrEnum):
    SCHEDULED = "scheduled"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"


class RecoveryRequest(msgspec.Struct, frozen=True):
    """A request whose parameters fit. `after` in Unix ms, 0 for a full snapshot; `match_id` names the
    match of an event-level request, which may come without a `request_id` ("") to be given one."""

    kind: RecoveryKind
    request_id: str
    after: int = 0
    node_id: str | None = None
    match_id: UUID | None = None

    @property
    def slot(self) -> str:
        return self.node_id or IMPLICIT_SLOT


class RecoveryJob(msgspec.Struct, frozen=True):
    """An accepted request. `token` is the slot's at acceptance: whoever has an older one than the slot has
    lost it; an event-level request takes no slot and has 0. `attempts` counts the runs begun, the present one
    included, and tells one run's writes from another's. `steps` and `steps_done` are pages of work, the end
    (`snapshot_complete`) being the last one, `envelopes` those published before it in this run. Times in Unix
    ms; `error` says why the last attempt failed.
    """

    id: int
    tenant_id: UUID
    request: RecoveryRequest
    token: int
    state: RecoveryState
    scheduled_at: int
    started_at: int | None = None
    finished_at: int | None = None
    attempts: int = 0
    steps: int = 0
    steps_done: int = 0
    envelopes: int = 0
    error: str = ""


class RecoveryInFlight(msgspec.Struct, frozen=True):
    """The request that holds a slot, which frees itself in `remaining` ms at the latest; `ending` when all
    but its end has been told, and it is going to be free at once."""

    request_id: str
    kind: RecoveryKind
    after: int
    scheduled_at: int
    remaining: int
    ending: bool

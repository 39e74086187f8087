"""A replay: a match that is over, published to a tenant once more as it was published then."""

from enum import StrEnum
from uuid import UUID

import msgspec

MAX_LISTED = 100  #: matches in the list of a node
MAX_OPEN = 8  #: replays of a tenant that run or wait at a time, one a node
MIN_SPEED, MAX_SPEED = 0.01, 1_000.0
MAX_DELAY_MILLIS = 86_400_000
MAX_ACCIDENTS = 10
MAX_PARALLEL = 10  #: matches that are replayed in parallel
#: As established odds feeds have them.
DEFAULT_SPEED, DEFAULT_DELAY_MILLIS = 10.0, 10_000


class ReplayState(StrEnum):
    SCHEDULED = "scheduled"  #: accepted; waits for a run, or for another after a failure
    RUNNING = "running"
    COMPLETED = "completed"
    STOPPED = "stopped"  #: by its tenant
    FAILED = "failed"


class AccidentKind(StrEnum):
    """What goes wrong between us and the client; what was published then is not altered.

    `OUTAGE`: messages are missing. At its end come the settlements, voids, rollbacks and fixture changes
    among them, then for each match one `odds_change` with the newest state of every market that changed.
    `DUPLICATES`: every message comes twice. `DISORDER`: of two messages the later one comes first.
    """

    OUTAGE = "outage"
    DUPLICATES = "duplicates"
    DISORDER = "disorder"


class Accident(msgspec.Struct, frozen=True):
    """`kind` happens to so many `messages` of the replay, after the first `after`."""

    kind: AccidentKind
    after: int
    messages: int

    def holds(self, index: int) -> bool:
        """Whether it happens to the message of that index; the first one's is 0."""
        return self.after <= index < self.after + self.messages


class ReplayOptions(msgspec.Struct, frozen=True, omit_defaults=True):
    """Pauses between messages are those of the match divided by `speed`, and `max_delay` ms at most: 0 is as
    fast as it goes. `parallel`: all matches begin at once, instead of one after the other.
    `rewrite_timestamps`: messages have the time of the replay as timestamp, instead of their own."""

    speed: float = DEFAULT_SPEED
    max_delay: int = DEFAULT_DELAY_MILLIS
    parallel: bool = False
    rewrite_timestamps: bool = False
    accidents: tuple[Accident, ...] = ()


class ReplayableMatch(msgspec.Struct, frozen=True):
    """A match that is over and kept whole, in a list; times in Unix ms."""

    id: UUID
    number: int
    home: str
    away: str
    event: str
    started_at: int | None
    finished_at: int


class ListedMatch(msgspec.Struct, frozen=True):
    """A match in a node's list."""

    id: UUID
    number: int
    home: str
    away: str


class ReplayJob(msgspec.Struct, frozen=True):
    """A replay that was started, for the node `node` ("" for none). `positions`: of each match up to which
    seq of the change log it has been published. `attempts` counts the runs begun, the present one included,
    and distinguishes one run's writes from another's; `envelopes` are the messages that it has come to.
    Times in Unix ms; `error` says why the last run failed."""

    id: int
    tenant_id: UUID
    node: str
    match_ids: tuple[UUID, ...]
    options: ReplayOptions
    state: ReplayState
    scheduled_at: int
    started_at: int | None = None
    finished_at: int | None = None
    attempts: int = 0
    positions: dict[UUID, int] = {}
    envelopes: int = 0
    error: str = ""

    @property
    def open(self) -> bool:
        """Whether it runs or will."""
        return self.state in (ReplayState.SCHEDULED, ReplayState.RUNNING)

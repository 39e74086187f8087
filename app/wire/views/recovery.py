"""A recovery as the REST API shows it."""

import msgspec
from msgspec import UNSET, UnsetType

from app.domain.recovery import RecoveryJob, RecoveryKind, RecoveryState


class RecoveryView(msgspec.Struct, frozen=True):
    """The acknowledgement. Times in Unix ms; `node_id` is there when it was sent."""

    request_id: str
    after: int
    scheduled_at: int
    node_id: str | UnsetType = UNSET


class ProgressView(msgspec.Struct, frozen=True):
    """How far the present run has come; a run that failed begins again."""

    steps: int
    steps_done: int
    envelopes: int


class RecoveryStateView(msgspec.Struct, frozen=True):
    """A recovery and its state: scheduled, running, completed or failed. `error` is why the last run
    failed."""

    request_id: str
    after: int
    kind: RecoveryKind
    state: RecoveryState
    scheduled_at: int
    attempts: int
    progress: ProgressView
    node_id: str | UnsetType = UNSET
    started_at: int | UnsetType = UNSET
    finished_at: int | UnsetType = UNSET
    error: str | UnsetType = UNSET


def recovery_view(job: RecoveryJob) -> RecoveryView:
    request = job.request
    return RecoveryView(request.request_id, request.after, job.accepted_at, request.node_id or UNSET)


def recovery_state_view(job: RecoveryJob) -> RecoveryStateView:
    request = job.request
    return RecoveryStateView(
        request_id=request.request_id,
        after=request.after,
        kind=request.kind,
        state=job.state,
        scheduled_at=job.accepted_at,
        attempts=job.attempts,
        progress=ProgressView(job.steps, job.steps_done, job.envelopes),
        node_id=request.node_id or UNSET,
        started_at=UNSET if job.started_at is None else job.started_at,
        finished_at=UNSET if job.finished_at is None else job.finished_at,
        error=job.error or UNSET,
    )

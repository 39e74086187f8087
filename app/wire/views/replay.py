"""Replays as the REST API shows them, and the body that starts one."""

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from app.domain.ids import match_urn
from app.domain.replay import (
    DEFAULT_DELAY_MILLIS,
    DEFAULT_SPEED,
    MAX_ACCIDENTS,
    MAX_DELAY_MILLIS,
    MAX_SPEED,
    MIN_SPEED,
    Accident,
    AccidentKind,
    ListedMatch,
    ReplayableMatch,
    ReplayJob,
    ReplayOptions,
    ReplayState,
)

Node = Annotated[str, Meta(pattern="^[1-9][0-9]{0,63}$", description="Digits; ends every routing key.")]


class ReplayMatchView(msgspec.Struct, frozen=True):
    """A match of a list. `match` is its URN."""

    id: str
    match: str
    team_a: str
    team_b: str


class ReplayableMatchView(msgspec.Struct, frozen=True):
    """A match that can be replayed: over, booked, and kept whole. Times in Unix ms."""

    id: str
    match: str
    team_a: str
    team_b: str
    event: str
    finished_at: int
    started_at: int | UnsetType = UNSET


class AccidentBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`kind` happens to so many `messages` of the replay, after the first `after`. `outage`: they are
    missing; at its end come the settlements, voids, rollbacks and fixture changes among them, and for each
    match one `odds_change` with the newest state of every market that changed. `duplicates`: each comes
    twice. `disorder`: of two the later one comes first."""

    kind: AccidentKind
    after: Annotated[int, Meta(ge=0, le=10_000_000)]
    messages: Annotated[int, Meta(ge=1, le=10_000_000)]


class NewReplay(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How to replay the list. Pauses between messages are those of the match divided by `speed`, and
    `max_delay` ms at most: 0 is as fast as it goes."""

    node_id: Node | UnsetType = UNSET
    speed: Annotated[float, Meta(ge=MIN_SPEED, le=MAX_SPEED)] = DEFAULT_SPEED
    max_delay: Annotated[int, Meta(ge=0, le=MAX_DELAY_MILLIS)] = DEFAULT_DELAY_MILLIS
    parallel: bool = False
    rewrite_timestamps: bool = False
    accidents: Annotated[tuple[AccidentBody, ...], Meta(max_length=MAX_ACCIDENTS)] = ()


class ReplayStateView(msgspec.Struct, frozen=True):
    """A replay: `id` is in the header `x-replay` of its messages; `messages` are those that it has come to.
    `error` is why the last run ended. Times in Unix ms."""

    id: int
    state: ReplayState
    speed: float
    max_delay: int
    parallel: bool
    rewrite_timestamps: bool
    accidents: tuple[AccidentBody, ...]
    matches: tuple[str, ...]
    messages: int
    scheduled_at: int
    started_at: int | UnsetType = UNSET
    finished_at: int | UnsetType = UNSET
    error: str | UnsetType = UNSET


class NodeReplayView(msgspec.Struct, frozen=True):
    """The list of a node, and the replay that was started last."""

    matches: tuple[ReplayMatchView, ...]
    node_id: str | UnsetType = UNSET
    replay: ReplayStateView | UnsetType = UNSET


def replay_options(body: NewReplay) -> ReplayOptions:
    accidents = tuple(Accident(one.kind, one.after, one.messages) for one in body.accidents)
    return ReplayOptions(body.speed, body.max_delay, body.parallel, body.rewrite_timestamps, accidents)


def replayable_match_view(match: ReplayableMatch) -> ReplayableMatchView:
    return ReplayableMatchView(
        id=str(match.id),
        match=match_urn(match.number),
        team_a=match.home,
        team_b=match.away,
        event=match.event,
        finished_at=match.finished_at,
        started_at=UNSET if match.started_at is None else match.started_at,
    )


def node_replay_view(
    node_id: str | None, listed: Sequence[ListedMatch], job: ReplayJob | None
) -> NodeReplayView:
    return NodeReplayView(
        matches=tuple(
            ReplayMatchView(str(one.id), match_urn(one.number), one.home, one.away) for one in listed
        ),
        node_id=node_id or UNSET,
        replay=replay_state_view(job) if job else UNSET,
    )


def replay_state_view(job: ReplayJob) -> ReplayStateView:
    options = job.options
    return ReplayStateView(
        id=job.id,
        state=job.state,
        speed=options.speed,
        max_delay=options.max_delay,
        parallel=options.parallel,
        rewrite_timestamps=options.rewrite_timestamps,
        accidents=tuple(AccidentBody(one.kind, one.after, one.messages) for one in options.accidents),
        matches=tuple(map(str, job.match_ids)),
        messages=job.envelopes,
        scheduled_at=job.scheduled_at,
        started_at=UNSET if job.started_at is None else job.started_at,
        finished_at=UNSET if job.finished_at is None else job.finished_at,
        error=job.error or UNSET,
    )

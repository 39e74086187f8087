"""The facade's documents about replays: the list, the state of the player, and the answers to commands."""

from collections.abc import Sequence

from app.domain.replay import ReplayJob, ReplayState
from app.wire.generated import facade

_STATE = {
    ReplayState.SCHEDULED: facade.PlayerState.SETTING_UP,
    ReplayState.RUNNING: facade.PlayerState.PLAYING,
}


def replay_set_content(events: Sequence[str]) -> bytes:
    """The list: the URNs of its matches, in order."""
    return facade.write_replay_set_content(
        facade.ReplaySetContent(
            replay_event=tuple(
                [facade.ReplayEvent(id=urn, position=position) for position, urn in enumerate(events)]
            )
        )
    )


def player_status(job: ReplayJob | None) -> bytes:
    """What the replay that was started last does; None: none was."""
    state = _STATE.get(job.state) if job else None
    return facade.write_player_status(facade.PlayerStatus(status=state or facade.PlayerState.STOPPED))


def replay_accepted(action: str, message: str) -> bytes:
    """The answer to a command: what was requested, and what comes of it."""
    return facade.write_response(
        facade.Response(response_code=facade.ResponseCode.OK, action=action, message=message)
    )

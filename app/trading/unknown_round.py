"""Rounds of which little is known: one that has not begun, or the current one while sides are not known."""

from app.domain.match import CurrentRound, MapPlay, TimelineEvent
from app.trading import model
from app.trading.round_limits import FUSE_SECONDS
from app.trading.round_state import RoundPhase, RoundState, SideState


def state_before(play: MapPlay, number: int) -> RoundState:
    """A round of the map before it begins."""
    half, position = model.half_of(number - 1, play.max_rounds, play.overtime_rounds)
    return RoundState("freeze", SideState(), SideState(), number=position + 1, overtime=half > 1)


def basic_state(
    play: MapPlay, current: CurrentRound, home_is_ct: bool, plant: TimelineEvent | None, now: int
) -> RoundState:
    """The current round with the players alive and the bomb alone."""
    both = [current.alive_home, current.alive_away]
    ct, t = (SideState(alive=alive) for alive in (both if home_is_ct else reversed(both)))
    half, position = model.half_of(current.number - 1, play.max_rounds, play.overtime_rounds)
    phase: RoundPhase = "freeze" if current.phase == "freeze" else "planted" if plant else "live"
    left = max(0.0, FUSE_SECONDS - (now - plant.at) / 1000) if plant else None
    return RoundState(phase, ct, t, left, position + 1, half > 1)

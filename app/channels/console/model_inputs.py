"""What the model knows of a match when it prices it, one row for each value; pure."""

import msgspec

from app.domain.match import Match
from app.trading.round_state import RoundState, SideState
from app.trading.round_view import round_state

Value = float | int | None  #: None: the log has not shown it


class InputRow(msgspec.Struct, frozen=True):
    """A value of home and one of away, by the name of its text."""

    name: str
    home: Value
    away: Value


_OF_SIDES = ("alive", "health", "armour", "helmets", "weapons", "utility", "money", "kits", "losses")


def input_rows(match: Match, now: int) -> dict[str, InputRow]:
    """Strengths and, in a round, what each team has in it."""
    rows = [
        InputRow("strength", match.home_strength or None, match.away_strength or None),
        InputRow("strength_sd", match.home_strength_sd or None, match.away_strength_sd or None),
    ]
    state = round_state(match, now) if match.current and match.status == "live" else None
    if state is not None and match.map is not None:
        home, away = _by_team(state, match.map.home_side == "CT")
        rows += [InputRow(name, getattr(home, name), getattr(away, name)) for name in _OF_SIDES]
    return {row.name: row for row in rows}


def _by_team(state: RoundState, home_is_ct: bool) -> tuple[SideState, SideState]:
    return (state.ct, state.t) if home_is_ct else (state.t, state.ct)

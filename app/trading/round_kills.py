"""How a round may end, and the kills that it may still have, as a forecast sees it: for markets of the round
and of players."""

from typing import NamedTuple

from app.trading.forecast import Forecast
from app.trading.match_facts import RoundKey
from app.trading.round_endings import PLAYERS, Endings, endings, seconds_of_play


class KillState(NamedTuple):
    """What the kills to come depend on, rounded for caches: the arguments of `more_kills` and
    `kills_of_teams`."""

    home: int
    away: int
    before: float
    planter: int
    seconds: float | None


def endings_of(forecast: Forecast, round_key: RoundKey) -> Endings:
    """The ways in which the round may end."""
    return endings(forecast.state_of(*round_key), forecast.ct_wins(*round_key))


def kill_state(forecast: Forecast, round_key: RoundKey) -> KillState:
    """The state of the current round, or of one that has not begun."""
    current = forecast.current_round
    in_progress = current is not None and (current.map, current.number) == round_key
    home, away = (current.alive_home, current.alive_away) if current and in_progress else (PLAYERS,) * 2
    before, planter = round(forecast.round_logit(round_key[0]), 2), forecast.planter if in_progress else 0
    left = seconds_of_play(forecast.state_of(*round_key), forecast.once(endings_of, round_key))
    return KillState(home, away, before, planter, None if left is None else float(round(left)))

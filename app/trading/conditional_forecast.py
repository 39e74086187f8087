"""What a forecast would be of the same moment if more were known: how good home is, or who wins the round."""

from app.trading.forecast import Forecast
from app.trading.model import Skill
from app.trading.skill import Case

_ALMOST = 1e-6  #: a chance of 0 would leave no way to reach a later map


def with_skill(forecast: Forecast, level: float) -> Forecast:
    """If home's skill were known to be this."""
    found = _seen_alike(forecast)
    found.cases, found.skill = (Case(1.0, level),), Skill(level, 0.0)
    return found


def after_round(forecast: Forecast, home_wins: bool) -> Forecast:
    """Of what depends on more than the current round, if home were all but certain to win it, or to lose
    it."""
    found = _seen_alike(forecast)
    found.cases, found.skill = forecast.cases, forecast.skill
    chance = 1 - _ALMOST if home_wins else _ALMOST
    found.current_round_chances = {case.skill: chance for case in forecast.cases}
    return found


def _seen_alike(forecast: Forecast) -> Forecast:
    """A forecast of the same moment that shares what follows from the facts alone."""
    found = Forecast(forecast.facts, forecast.now)
    found.phase, found.planter = forecast.phase, forecast.planter
    found.economy, found.round_state = forecast.economy, forecast.round_state
    return found

"""Which markets are suspended during a round because their result is all but certain, now or by the clock.

A bet is accepted some seconds after placement; what will be certain then is treated as certain now.
"""

from propcache.api import cached_property

from app.trading.forecast import Forecast
from app.trading.offer_plan import PlannedGroup
from app.trading.round_clock import is_over

#: No market is on offer whose result is likelier than this: such prices carry high risk and little
#: information.
MAX_PROBABILITY = 0.97
MIN_PROBABILITY = 1 - MAX_PROBABILITY


class Certainty:
    """What is certain at one moment: `forecast` is that moment's. Outside of rounds in play nothing is."""

    def __init__(self, forecast: Forecast, delay_seconds: int) -> None:
        self._live = forecast.phase.live
        self._accepted = forecast.later(delay_seconds * 1000) if self._live else forecast

    def is_certain(self, group: PlannedGroup, low: float, top: float) -> bool:
        """Whether a group, with its least and its highest probability, must not be on offer: its result is
        all but certain already, or when bets are accepted."""
        if not self._live:
            return False
        if not (low >= MIN_PROBABILITY and top <= MAX_PROBABILITY):
            return True
        return self.will_be_certain(group)

    def will_be_certain(self, group: PlannedGroup) -> bool:
        """Whether the result of a group, open now in a round in play, is all but certain when bets are
        accepted."""
        if group.of_round:
            return self._round_is_over or self._is_decided_when_accepted(group)
        return self._round_is_decided and self._is_decided_when_accepted(group)

    @cached_property
    def _round_is_over(self) -> bool:
        state = self._accepted.round_state
        return state is not None and is_over(state)

    @cached_property
    def _round_is_decided(self) -> bool:
        """What depends on more than the round is decided soon only if the round is."""
        current = self._accepted.current_round
        return current is not None and is_decided(self._accepted.round_win(current.map, current.number))

    def _is_decided_when_accepted(self, group: PlannedGroup) -> bool:
        prices = group.prices(self._accepted)
        if group.pair:
            return is_decided(prices[0])
        return not (min(prices) >= MIN_PROBABILITY and max(prices) <= MAX_PROBABILITY)


def is_decided(probability: float) -> bool:
    """Whether a result is all but certain."""
    return not MIN_PROBABILITY <= probability <= MAX_PROBABILITY

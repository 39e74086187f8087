"""Which markets are closed during a round because their result is all but certain, now or by the clock.

Bookmakers accept a bet only if its price still stands after a delay. So a result that is certain when a bet
placed now is accepted counts as certain now.
"""

from collections.abc import Sequence

from app.trading.forecast import Forecast
from app.trading.match_phase import is_live
from app.trading.registry import RULES
from app.trading.round_clock import is_over
from app.trading.specifiers import Specifiers

#: No market is on offer whose result is likelier than this: such prices carry high risk and little
#: information.
MAX_PROBABILITY = 0.97
MIN_PROBABILITY = 1 - MAX_PROBABILITY
PricedMember = tuple[int, Specifiers, float]  #: of a group: its type, its specifiers, its probability


class Closing:
    """The judgement at one moment: `forecast` is that moment's. Outside of rounds in play nothing is closed
    here."""

    def __init__(self, forecast: Forecast, delay_seconds: int) -> None:
        self._live = is_live(forecast.facts)
        self._accepted = forecast.later(delay_seconds * 1000) if self._live else forecast

    def closes(self, group: Sequence[PricedMember]) -> bool:
        """Whether a group must not be on offer: its result is all but certain already, or when bets are
        accepted."""
        if not self._live:
            return False
        if any(is_decided(probability) for _, _, probability in group):
            return True
        if group[0][1].round:
            return self._round_is_over or self._is_decided_when_accepted(group)
        return self._round_is_decided and self._is_decided_when_accepted(group)

    @property
    def _round_is_over(self) -> bool:
        state = self._accepted.round_state
        return state is not None and is_over(state)

    @property
    def _round_is_decided(self) -> bool:
        """What depends on more than the round is decided soon only if the round is."""
        current = self._accepted.current_round
        return current is not None and is_decided(self._accepted.round_win(current.map, current.number))

    def _is_decided_when_accepted(self, group: Sequence[PricedMember]) -> bool:
        prices = (RULES[type_id].price(self._accepted, specifiers) for type_id, specifiers, _ in group)
        return any(map(is_decided, prices))


def is_decided(probability: float) -> bool:
    """Whether a result is all but certain."""
    return not MIN_PROBABILITY <= probability <= MAX_PROBABILITY

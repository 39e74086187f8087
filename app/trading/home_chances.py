"""Home's chance of a round that is being played, under each skill."""

from collections.abc import Mapping

from app.trading.model import Skill
from app.trading.round_model import ct_wins_by_logit
from app.trading.round_state import RoundState
from app.trading.skill import Case, by_skill

#: The chance of what the rules leave no doubt about; what follows from it stays finite in logits.
_CERTAIN = 1 - 1e-9


def home_wins_by_skill(
    state: RoundState, map_side: float, home_is_ct: bool, cases: tuple[Case, ...], expected: Skill
) -> Mapping[float, float]:
    """By the skill of each of the `cases`, whose moments are `expected`. `map_side`: the map's logit for CT,
    which pistol rounds do not have."""
    side = 0.0 if state.pistol else map_side
    ct_wins = ct_wins_by_logit(state)

    def home_wins(level: float) -> float:
        ct = ct_wins(side + (level if home_is_ct else -level))
        return min(max(ct if home_is_ct else 1 - ct, 1 - _CERTAIN), _CERTAIN)

    return by_skill(cases, expected, home_wins)

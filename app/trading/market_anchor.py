"""How the sources' fair probability of the match's winner moves the skill that all prices rest on.

Ours and theirs are blended in logits. Home's skill before play is then the one under which home wins the
match with the blended chance, so that every market follows and none contradicts another. In play the rounds
move it as any other prior: what the sources said counts the less the more rounds there are.
"""

from collections.abc import Callable

from app.domain.references import MarketAnchor
from app.trading.model import Skill, logistic, logit

#: By so many logits of winning the match sources move our own probability at most, whatever they say.
MOST = 1.5
_NEAR = 1e-6  #: logits between the chance of a skill and the one that is wanted
_STEPS = 30
_FIRST = 0.1  #: logits of a round that the second skill lies from the first
_SURE = 1e-6  #: chances nearer to certainty have no logit of use

MatchChance = Callable[[Skill], float]  #: home's chance to win the match under a normal distribution of skill


def blend(own: float, anchor: MarketAnchor) -> float:
    """Home's chance to win the match, from our own and the sources'."""
    ours, theirs = _logit(own), _logit(anchor.home)
    return logistic(ours + max(-MOST, min(MOST, anchor.weight * (theirs - ours))))


def anchored(own: Skill, day_spread: float, anchor: MarketAnchor, chance: MatchChance) -> Skill:
    """Skill before play, from our own and the sources'. `day_spread` is what remains of the spread when both
    teams' strengths are known: the more the sources count, the less we do not know beside it."""
    squares = anchor.weight * day_spread**2 + (1 - anchor.weight) * own.spread**2
    return _reaching(blend(chance(own), anchor), Skill(own.mean, squares**0.5), chance)


def _reaching(wanted: float, start: Skill, chance: MatchChance) -> Skill:
    """The skill of this spread with which home's chance is `wanted`: the chance's logit is nearly linear in
    the mean, so that the secant method needs few steps."""

    def off(mean: float) -> float:
        return _logit(chance(Skill(mean, start.spread))) - _logit(wanted)

    before, mean = start.mean, start.mean + _FIRST
    off_before = off(before)
    for _ in range(_STEPS):
        found = off(mean)
        if abs(found) < _NEAR or found == off_before:
            break
        before, off_before, mean = mean, found, mean - found * (mean - before) / (found - off_before)
    return Skill(mean, start.spread)


def _logit(chance: float) -> float:
    return logit(min(max(chance, _SURE), 1 - _SURE))

"""How far our own price of a match's winner is from reference prices: past one setting an alert opens, past
another the match is suspended until an operator decides.

A reference that is wrong (swapped teams, a misread price) is one that differs from what we know.
"""

from msgspec.structs import replace

from app.domain.doubts import REFERENCES, raise_doubt
from app.domain.match import Match
from app.domain.references import ReferenceState
from app.trading.market_anchor import blend
from app.trading.model import logit
from app.trading.pricing import PricingConfig
from app.trading.skill import match_chance, match_format, own_prior

FOLLOWED: tuple[ReferenceState, ...] = ("followed", "diverged")


def own_chance(match: Match) -> float:
    """Home's chance to win the match before play, by ratings alone."""
    return match_chance(match_format(match), own_prior(match))


def blended_chance(match: Match) -> float:
    """Home's chance to win the match before play that prices rest on."""
    own = own_chance(match)
    return own if match.anchor is None else blend(own, match.anchor)


def judged(match: Match, config: PricingConfig) -> Match:
    """The match with the present divergence of its reference prices, suspended if that is too large. The
    suspension is raised once until theirs and ours are nearer: an operator who ended it has decided."""
    status = match.references
    if status.state not in FOLLOWED or status.home is None:
        return match
    own = own_chance(match)
    divergence = round(logit(status.home) - logit(own), 3)
    far = abs(divergence) >= config.reference_suspend_logits
    diverged = abs(divergence) >= config.reference_alert_logits
    state: ReferenceState = "diverged" if diverged else "followed"
    after = replace(match, references=replace(status, state=state, divergence=divergence, far=far))
    if far and not status.far:
        return raise_doubt(
            after, REFERENCES, f"reference prices are too far from ours: {status.home:.3f}, ours {own:.3f}"
        )
    return after if after != match else match

"""The rows of one phase of a round, and the logistic model that describes them."""

import msgspec
import numpy as np

from app.trading import round_model
from app.trading.coefficients import PhaseModel, RoundLimits
from app.trading.round_features import GROUPS, features
from app.trading.round_state import RoundPhase, RoundState, SideState
from scripts.fit.regression import Floats, logistic, scaled
from scripts.fit.regression import fit as regress
from scripts.reality.snapshots import Snapshot

#: The first moment of a freeze time says most about buys to come; later ones come in numbers.
_LATER_FREEZE = 0.25
_DIGITS = 5
#: The fields of a side that a group of features needs.
_FIELDS = {
    "weapons": ("weapons",),
    "money": ("money",),
    "health": ("health",),
    "armour": ("armour", "helmets", "kits"),
    "utility": ("utility",),
}


class Rows(msgspec.Struct, frozen=True):
    """Moments of one phase with living players on both sides, the logits for CT at each, and whether CT
    won."""

    phase: RoundPhase
    rows: list[Snapshot]
    ct_logits: Floats
    outcomes: Floats


def everything(phase: RoundPhase) -> int:
    """The number of the model that knows all."""
    return (1 << len(GROUPS[phase])) - 1


def knows_clock(phase: RoundPhase, known: int) -> bool:
    return "clock" in GROUPS[phase] and bool(known >> GROUPS[phase].index("clock") & 1)


def without(state: RoundState, known: int) -> RoundState:
    """The state with what the model of this number does not know left out."""
    hidden = [group for bit, group in enumerate(GROUPS[state.phase]) if not known >> bit & 1]
    fields = dict.fromkeys(field for group in hidden for field in _FIELDS.get(group, ()))
    ct, t = (_blanked(side, fields) for side in (state.ct, state.t))
    left = None if "clock" in hidden else state.seconds_left
    return msgspec.structs.replace(state, ct=ct, t=t, seconds_left=left)


def _blanked(side: SideState, fields: dict[str, None]) -> SideState:
    return msgspec.structs.replace(side, **fields) if fields else side


def columns(found: Rows, known: int) -> Floats:
    """The ct_logit, then the features."""
    seen = np.array([features(without(row.state, known))[1] for row in found.rows])
    return np.column_stack([found.ct_logits, seen])


def shares(found: Rows, limits: RoundLimits) -> Floats:
    """What clock or fuse leave of the chance of the side that must act: T before a plant, CT after it."""
    share = {"freeze": None, "live": round_model.t_share, "planted": round_model.ct_share}[found.phase]
    return np.array([share(row.state, limits) if share else 1.0 for row in found.rows])


def weights(found: Rows, seen: Floats, share: Floats) -> Floats:
    """The weights of columns, all from CT's point of view."""
    if found.phase == "live":
        return regress(-seen, 1 - found.outcomes, scaled(seen), share=share)
    later = found.phase == "freeze"
    counts = np.array([_LATER_FREEZE if later and not row.opens_round else 1.0 for row in found.rows])
    return regress(seen, found.outcomes, scaled(seen), share=share, counts=counts)


def chances(phase: RoundPhase, logits: Floats, share: Floats) -> Floats:
    """CT's chances."""
    return 1 - share * logistic(-logits) if phase == "live" else share * logistic(logits)


def model(found: Rows, known: int, limits: RoundLimits) -> PhaseModel:
    """The model of this number."""
    share = shares(found, limits) if knows_clock(found.phase, known) else np.ones(len(found.rows))
    ct_logit, *rest = (round(float(one), _DIGITS) for one in weights(found, columns(found, known), share))
    return PhaseModel(ct_logit, tuple(rest))

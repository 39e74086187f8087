"""What the round model looks at: numbers made from a `RoundState`, in blocks that need the same knowledge.

A block of which anything is unknown is left out; the model then has coefficients that were fitted without it.
"""

from math import log

from app.trading.round_state import RoundPhase, RoundState, SideState

#: What may be unknown, each with a block of its own, in this order; a bit each in the number of a model.
GROUPS = ("health", "armour", "weapons", "utility", "money", "clock")
#: Money is counted in thousands; these keep logarithms of nothing finite.
_WEAPONS_BASE, _MONEY_BASE = 0.6, 3.0
_THOUSAND = 1000.0

Blocks = tuple[int, list[float]]


def blocks(state: RoundState) -> Blocks:
    """The number of the model that knows what the state shows (a bit for each of `GROUPS`), and its features:
    first those that are always known, then those of each group that is."""
    ct, t = state.ct, state.t
    known, features = 0, _always(state)
    for bit, group in enumerate(GROUPS):
        found = _BLOCKS[group](state.phase, ct, t, state)
        if found is not None:
            known |= 1 << bit
            features += found
    return known, features


def _always(state: RoundState) -> list[float]:
    ct, t = state.ct.alive, state.t.alive
    return [1.0, log((ct + 0.1) / (t + 0.1)), float(ct - t), float(state.number == 1 and not state.overtime)]


def _health(phase: RoundPhase, ct: SideState, t: SideState, state: RoundState) -> list[float] | None:
    if ct.health is None or t.health is None:
        return None
    return [] if phase == "freeze" else [log((ct.health + 10) / (t.health + 10))]


def _armour(phase: RoundPhase, ct: SideState, t: SideState, state: RoundState) -> list[float] | None:
    if ct.armour is None or t.armour is None or ct.helmets is None or t.helmets is None or ct.kits is None:
        return None
    return [(ct.armour - t.armour) / 100, float(ct.helmets - t.helmets), float(ct.kits > 0)]


def _weapons(phase: RoundPhase, ct: SideState, t: SideState, state: RoundState) -> list[float] | None:
    if ct.weapons is None or t.weapons is None:
        return None
    return [log((ct.weapons / _THOUSAND + _WEAPONS_BASE) / (t.weapons / _THOUSAND + _WEAPONS_BASE))]


def _utility(phase: RoundPhase, ct: SideState, t: SideState, state: RoundState) -> list[float] | None:
    if ct.utility is None or t.utility is None:
        return None
    return [(ct.utility - t.utility) / _THOUSAND]


def _money(phase: RoundPhase, ct: SideState, t: SideState, state: RoundState) -> list[float] | None:
    if ct.money is None or t.money is None:
        return None
    return [log((ct.money / _THOUSAND + _MONEY_BASE) / (t.money / _THOUSAND + _MONEY_BASE))]


def _clock(phase: RoundPhase, ct: SideState, t: SideState, state: RoundState) -> list[float] | None:
    return None if state.seconds_left is None else [state.seconds_left / 40]


_BLOCKS = {
    "health": _health,
    "armour": _armour,
    "weapons": _weapons,
    "utility": _utility,
    "money": _money,
    "clock": _clock,
}


def groups_of(state: RoundState) -> list[str | None]:
    """What each feature of a state needs to be known; None: nothing. All of the state must be known."""
    owners: list[str | None] = [None] * len(_always(state))
    for group in GROUPS:
        owners += [group] * len(_BLOCKS[group](state.phase, state.ct, state.t, state) or ())
    return owners

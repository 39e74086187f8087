"""What the round model looks at: numbers made from a `RoundState`, all of them from CT's point of view.

What is unknown is left out: the number of the model says what was known, and each model has coefficients of
its own, fitted without the rest. Differences of logarithms carry most: three players against one are more
than five against three.
"""

from math import log

from app.trading.round_state import RoundPhase, RoundState, SideState

#: What may be unknown in each phase; a bit each in the number of a model, in this order.
GROUPS: dict[RoundPhase, tuple[str, ...]] = {
    "freeze": ("weapons", "money"),
    "live": ("weapons", "money", "health", "armour", "utility", "clock"),
    "planted": ("weapons", "health", "armour", "utility", "clock"),
}
#: Where the worth of what a team can buy or carries starts to matter more or less, in thousands.
_RESOURCES = (6.0, 9.0, 12.0, 15.0, 18.0, 22.0, 26.0, 32.0)
_MONEY = (10.0, 14.0, 18.0, 22.0, 28.0)
_CARRIED = (3.0, 6.0, 9.0, 12.0, 16.0, 20.0)
#: Added before logarithms are taken, because 0 has none: players, points, thousands.
_ALIVE_BASE, _HEALTH_BASE, _WEAPONS_BASE, _MONEY_BASE, _UTILITY_BASE = 0.1, 10.0, 0.6, 3.0, 0.3
_THOUSAND = 1000.0
ROUND_SECONDS, FUSE_SECONDS = 115.0, 40.0
#: What the clock says beyond the rules of its last seconds (`round_model`).
_LAST_SECONDS, _LAST_FUSE_SECONDS = 20.0, 15.0

Features = tuple[int, list[float]]


def features(state: RoundState) -> Features:
    """The number of the model that knows what the state shows, and its features."""
    return _OF_PHASE[state.phase](state)


def _freeze(state: RoundState) -> Features:
    ct, t, pistol = state.ct, state.t, state.pistol
    second, third = (state.number == number and not state.overtime for number in (2, 3))
    losses = _lost_more(ct, t)
    found = [1.0, float(pistol), float(state.overtime), losses, float(second), float(third)]
    found += [losses * second, losses * third]
    known = 0
    weapons = money = None
    if ct.weapons is not None and t.weapons is not None:
        known, weapons = 1, (ct.weapons / _THOUSAND, t.weapons / _THOUSAND)
    if ct.money is not None and t.money is not None:
        known, money = known | 2, (ct.money / _THOUSAND, t.money / _THOUSAND)
    for pair, base in ((weapons, _WEAPONS_BASE), (money, _MONEY_BASE)):
        if pair:
            found.append(0.0 if pistol else _ratio(*pair, base))
    if weapons and money:
        both = weapons[0] + money[0], weapons[1] + money[1]
        found.append(0.0 if pistol else _ratio(*both, 1.0))
        found += _beyond(both, _RESOURCES, pistol)
    elif money:
        found += _beyond(money, _MONEY, pistol)
    elif weapons:
        found += _beyond(weapons, _CARRIED, pistol)
    return known, found


def _beyond(pair: tuple[float, float], knots: tuple[float, ...], pistol: bool) -> list[float]:
    """How far each side is beyond each knot; in a pistol round all start with the same."""
    if pistol:
        return [0.0] * (2 * len(knots))
    return [value - knot if value > knot else 0.0 for value in pair for knot in knots]


def _live(state: RoundState) -> Features:
    ct, t = state.ct, state.t
    found, few = _alive(ct, t)
    found += [float(state.pistol), float(state.overtime)]
    known = _add_weapons(found, ct, t, few)
    if ct.money is not None and t.money is not None:
        known |= 2
        found.append(_ratio(ct.money / _THOUSAND, t.money / _THOUSAND, _MONEY_BASE))
    known |= 4 * _add_health(found, ct, t, few)
    known |= 8 * _add_armour(found, ct, t)
    known |= 16 * _add_utility(found, ct, t)
    if state.seconds_left is not None:
        known |= 32
        gone = (ROUND_SECONDS - max(state.seconds_left, _LAST_SECONDS)) / ROUND_SECONDS
        found.append(gone * (1 - few))
    if not known & 1:
        losses = _lost_more(ct, t)
        found += [losses, losses * (state.number == 2), losses * (state.number == 3)]
    return known, found


def _planted(state: RoundState) -> Features:
    ct, t = state.ct, state.t
    found, few = _alive(ct, t)
    found.append(float(state.pistol))
    known = _add_weapons(found, ct, t, few)
    known |= 2 * _add_health(found, ct, t, few)
    known |= 4 * _add_armour(found, ct, t)
    known |= 8 * _add_utility(found, ct, t)
    if state.seconds_left is not None:
        known |= 16
        left = max(state.seconds_left, _LAST_FUSE_SECONDS) / FUSE_SECONDS
        found.append(left)
    return known, found


def _alive(ct: SideState, t: SideState) -> tuple[list[float], float]:
    """How many live on each side, and how many of ten on both: the fewer, the more each counts, and the less
    what they carry. Nobody counts as one in what is divided by players: those cases are rules."""
    alive, few = _ratio(ct.alive, t.alive, _ALIVE_BASE), (ct.alive + t.alive) / 10
    found = [1.0, alive, float(ct.alive - t.alive), few, few * alive]
    return [*found, 1 / max(ct.alive, 1), 1 / max(t.alive, 1)], few


def _add_weapons(found: list[float], ct: SideState, t: SideState, few: float) -> int:
    if ct.weapons is None or t.weapons is None:
        return 0
    weapons = _ratio(ct.weapons / _THOUSAND, t.weapons / _THOUSAND, _WEAPONS_BASE)
    found += [weapons, few * weapons]
    return 1


def _add_health(found: list[float], ct: SideState, t: SideState, few: float) -> int:
    if ct.health is None or t.health is None:
        return 0
    health = _ratio(ct.health, t.health, _HEALTH_BASE)
    found += [health, few * health]
    return 1


def _add_armour(found: list[float], ct: SideState, t: SideState) -> int:
    if None in (ct.armour, t.armour, ct.helmets, t.helmets, ct.kits):
        return 0
    found += [((ct.armour or 0) - (t.armour or 0)) / 100, float((ct.helmets or 0) - (t.helmets or 0))]
    found.append(float((ct.kits or 0) > 0))
    return 1


def _add_utility(found: list[float], ct: SideState, t: SideState) -> int:
    if ct.utility is None or t.utility is None:
        return 0
    found += [log(side.utility / _THOUSAND + _UTILITY_BASE) for side in (ct, t) if side.utility is not None]
    return 1


def _ratio(ct: float, t: float, base: float) -> float:
    return log((ct + base) / (t + base))


def _lost_more(ct: SideState, t: SideState) -> float:
    """By how many rounds T's counter of the loss bonus is above CT's; even while it is unknown."""
    return 0.0 if ct.losses is None or t.losses is None else float(t.losses - ct.losses)


_OF_PHASE = {"freeze": _freeze, "live": _live, "planted": _planted}

"""What simulated rounds were worth, held against the log's own lines and the simulator's prices."""

import re

import pytest

from app.domain.changes import RoundFinished
from app.sandbox.simulator.economy import GEAR, GRENADES, WEAPONS
from app.sandbox.simulator.match_simulation import simulate
from tests.support.simulated import plan_of
from tests.unit.sandbox.simulator.test_truth import read_match

_LEFT = re.compile(r'"([^"<]+)<\d+><[^>]*><(CT|TERRORIST)>" left buyzone with \[ ([^\]]*)\]')
_HELMET = GEAR["item_assaultsuit"] - GEAR["item_kevlar"]
_WORN = {"kevlar(100)": GEAR["item_kevlar"], "helmet": _HELMET, "defuser": GEAR["item_defuser"]}
_STARTING = 200  #: the simulator's players do not pay for their first pistol


def price(item: str) -> int:
    name = item.removeprefix("weapon_")
    if name in WEAPONS and WEAPONS[name].kind != "knife":
        return WEAPONS[name].price or _STARTING
    return _WORN.get(item, 0) + GRENADES.get(name, 0)


def by_round(seed: int) -> list[dict[str, int]]:
    """What each side left the buy zone with, in each round that was won."""
    text = "\n".join(line.text for line in simulate(plan_of(seed, knife=False))[0])
    rounds = [part for part in text.split("Starting Freeze period") if "SFUI_Notice" in part]
    worth = []
    for part in rounds:
        first: dict[str, tuple[str, int]] = {}
        for name, side, items in _LEFT.findall(part):
            first.setdefault(name, (side, sum(map(price, items.split()))))
        assert len(first) == 10
        worth.append({side: sum(v for of, v in first.values() if of == side) for side in ("CT", "TERRORIST")})
    return worth


@pytest.mark.parametrize("seed", [3, 8])
def test_rounds_are_worth_what_was_carried_into_them(seed: int) -> None:
    _, changes, truth = read_match(plan_of(seed, knife=False))
    rounds = [change.round for change in changes if isinstance(change, RoundFinished)]
    known = by_round(seed)
    assert len(rounds) == len(known) == len(truth.maps[0].rounds)
    for played, by_side in zip(rounds, known, strict=True):
        home = "CT" if played.home_side == "CT" else "TERRORIST"
        away = "TERRORIST" if home == "CT" else "CT"
        assert played.worth == (by_side[home], by_side[away])

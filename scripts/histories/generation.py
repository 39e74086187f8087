"""From a seed to a history; the same seed gives the same one."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from msgspec.structs import replace

from scripts.histories import history as h
from scripts.lab.faults import FAULTS, Fault
from scripts.lab.hosts import DATABASES

SECONDS = 48.0
_FIRST_FAULT = (10.0, 15.0)
_FAULT_SECONDS = (9.0, 22.0)
_STEPS = (14, 26)
_LAST_ORDERS = 25.0  #: seconds; from then on matches may be ended
#: Types of markets that simulated matches have: round winner, map winner, match winner, totals, pistol.
_TYPES = (1, 2, 3, 4, 5, 11, 12, 13, 14, 15, 20, 21)
_ODDITIES: tuple[h.Oddities, ...] = ("none", "gentle", "common")
_TEAMS = ("team_a", "team_b")
_REASON = "a doubt"


def generated(
    seed: int,
    faults: Sequence[Fault] = tuple(FAULTS.values()),
    count: int = 2,
    first: Sequence[Fault] | None = None,
) -> h.History:
    """The history of a seed, with `count` of these faults, each two in a row overlapping; the first is one of
    `first`, if that is given. It ends with the last of them, or after `SECONDS` if there is none."""
    rng = Random(f"history {seed}")
    steps: list[h.AnyStep] = [_play(rng, number) for number in range(rng.randint(2, h.MATCHES))]
    breaks = _breaks(rng, first or faults, faults, count)
    seconds = round(max((each.at + each.seconds for each in breaks), default=SECONDS), 1)
    steps += breaks
    made = (_order, _order, _order, _order, _order, _book, _switch, _leave, _leave, _key, _recover, _rival)
    for _ in range(rng.randint(*_STEPS)):
        make: Callable[[Random, float], h.AnyStep] = rng.choice(made)
        step = make(rng, round(rng.uniform(5, seconds - 4), 1))
        if isinstance(step, h.Leave):
            step = replace(step, seconds=round(min(step.seconds, seconds - step.at), 1))
        steps.append(step)
    return h.History(seed, seconds, tuple(sorted(steps, key=lambda step: step.at)))


def _play(rng: Random, number: int) -> h.Play:
    return h.Play(
        at=round(number * 0.5, 1),
        match=number,
        seed=rng.randrange(2**31),
        best_of=3 if rng.random() < 0.3 else 1,
        speed=rng.choice((12.0, 20.0, 30.0)),
        rush=rng.choice((300.0, 900.0, 1_600.0)),
        oddities=rng.choice(_ODDITIES),
    )


def _breaks(rng: Random, first: Sequence[Fault], faults: Sequence[Fault], count: int) -> list[h.Break]:
    """Faults of different hosts, one of them a database server at most; each begins while the one before
    lasts."""
    found = list[h.Break]()
    begin = rng.uniform(*_FIRST_FAULT)
    while len(found) < count:
        fault = rng.choice(faults if found else first)
        host = rng.choice(fault.hosts)
        others = {other.host for other in found}
        if host in others or (host in DATABASES and others & set(DATABASES)):
            continue
        seconds = round(rng.uniform(*_FAULT_SECONDS), 1)
        found.append(h.Break(at=round(begin, 1), fault=fault.name, host=host, seconds=seconds))
        begin += rng.uniform(0.5, seconds - 3)
    return found


def _order(rng: Random, at: float) -> h.Order:
    orders = _orders(rng) + (_last_orders(rng) if at > _LAST_ORDERS else [])
    command, fields, picks = rng.choice(orders)
    pick = rng.randrange(1_000) if picks else None
    return h.Order(at=at, match=rng.randrange(h.MATCHES), command=command, fields=fields, pick=pick)


def _orders(rng: Random) -> list[tuple[str, dict[str, Any], bool]]:
    """Commands with their fields, and whether a market or a sender is to be picked for it."""
    type_id, team = rng.choice(_TYPES), rng.choice(_TEAMS)
    return [
        ("suspend", {"reason": _REASON}, False),
        ("unsuspend", {}, False),
        ("unsuspend", {}, False),
        ("unsuspend", {}, False),
        ("suspend_market", {}, True),
        ("release_market", {}, True),
        ("hold_probability", {"probability": round(rng.uniform(0.05, 0.95), 2)}, True),
        ("release_probability", {}, True),
        ("shift_strength", {"team": team, "points": rng.randint(-300, 300)}, False),
        ("set_margin", {"margin": round(rng.uniform(0.01, 0.2), 3)}, False),
        ("set_max_move", {"max_move": round(rng.uniform(0, 1), 2)}, False),
        ("close_type", {"market_id": type_id}, False),
        ("open_type", {"market_id": type_id}, False),
        ("void_market", {"reason": _REASON}, True),
        ("settle_market", {"reason": _REASON, "result": rng.choice(("won", "lost"))}, True),
        ("roll_back_market", {"reason": _REASON, "release": rng.random() < 0.7}, True),
        ("roll_back_market", {"reason": _REASON, "release": rng.random() < 0.7}, True),
        ("follow_source", {}, True),
        ("rename_team", {"team": team, "name": f"Renamed {rng.randrange(100)}"}, False),
    ]


def _last_orders(rng: Random) -> list[tuple[str, dict[str, Any], bool]]:
    """Those that end a map or a match."""
    team = rng.choice(_TEAMS)
    return [
        ("award_map", {"winner": team}, False),
        ("award_match", {"winner": team}, False),
        ("cancel", {}, False),
    ]


def _book(rng: Random, at: float) -> h.Book:
    booked = rng.random() < 0.5
    return h.Book(at=at, tenant=rng.randrange(h.TENANTS), match=rng.randrange(h.MATCHES), booked=booked)


def _switch(rng: Random, at: float) -> h.SwitchType:
    on = rng.random() < 0.5
    return h.SwitchType(at=at, tenant=rng.randrange(h.TENANTS), type_id=rng.choice(_TYPES), on=on)


def _leave(rng: Random, at: float) -> h.Leave:
    tenant, seconds = rng.randrange(h.TENANTS), round(rng.uniform(0.5, 12), 1)
    return h.Leave(at=at, tenant=tenant, channel="stream" if rng.random() < 0.3 else "feed", seconds=seconds)


def _key(rng: Random, at: float) -> h.NewKey:
    return h.NewKey(at=at, tenant=rng.randrange(h.TENANTS))


def _recover(rng: Random, at: float) -> h.Recover:
    return h.Recover(at=at, tenant=rng.randrange(h.TENANTS))


def _rival(rng: Random, at: float) -> h.Rival:
    return h.Rival(at=at, match=rng.randrange(h.MATCHES))

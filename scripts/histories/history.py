"""A history: steps at moments, as data, made from a seed. Every subset of the steps is a history, too: a step
that has lost what it refers to does nothing."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from scripts.lab.faults import FAULTS, Fault
from scripts.lab.hosts import DATABASES

Oddities = Literal["none", "gentle", "common"]
MATCHES, TENANTS = 3, 3
SECONDS = 48.0
_FIRST_FAULT = (10.0, 15.0)
_FAULT_SECONDS = (9.0, 22.0)
_STEPS = (14, 26)
_LAST_ORDERS = 25.0  #: seconds; from then on matches may be ended
#: Types of markets that simulated matches have: round winner, map winner, match winner, totals, pistol.
_TYPES = (1, 2, 3, 4, 5, 11, 12, 13, 14, 15, 20, 21)
_ODDITIES: tuple[Oddities, ...] = ("none", "gentle", "common")
_TEAMS = ("team_a", "team_b")
_REASON = "a doubt"


class Step(msgspec.Struct, frozen=True, kw_only=True, tag_field="step"):
    """Something that happens `at` seconds after the beginning."""

    at: float


class Play(Step, frozen=True, kw_only=True, tag="play"):
    """The match with this number is created and played, at `speed` times the speed of a real one, the first
    `rush` game seconds of it at once. `seed` decides what happens in it."""

    match: int
    seed: int
    best_of: Literal[1, 3] = 1
    speed: float = 12.0
    rush: float = 0.0
    oddities: Oddities = "none"


class Rival(Step, frozen=True, kw_only=True, tag="rival"):
    """A second server sends the log of this match from now on."""

    match: int


class Order(Step, frozen=True, kw_only=True, tag="order"):
    """An operator's command on a match. `pick` chooses among what there is when it is given: one of the open
    markets, of the settled ones, or of the refused senders."""

    match: int
    command: str
    fields: dict[str, Any] = {}
    pick: int | None = None


class Book(Step, frozen=True, kw_only=True, tag="book"):
    """A match is put into a tenant's offer, or taken out of it."""

    tenant: int
    match: int
    booked: bool


class SwitchType(Step, frozen=True, kw_only=True, tag="switch_type"):
    """A market type is switched on or off for a tenant."""

    tenant: int
    type_id: int
    on: bool


class NewKey(Step, frozen=True, kw_only=True, tag="new_key"):
    """A tenant's key is replaced by a new one; the old one ends."""

    tenant: int


class Leave(Step, frozen=True, kw_only=True, tag="leave"):
    """A tenant's client of the feed or the stream disconnects, for `seconds`."""

    tenant: int
    channel: Literal["feed", "stream"]
    seconds: float


class Recover(Step, frozen=True, kw_only=True, tag="recover"):
    """A tenant requests a recovery without need."""

    tenant: int


class Break(Step, frozen=True, kw_only=True, tag="break"):
    """A fault (its name in the fault table) hits `host`, for `seconds`."""

    fault: str
    host: str
    seconds: float


AnyStep = Play | Rival | Order | Book | SwitchType | NewKey | Leave | Recover | Break


class History(msgspec.Struct, frozen=True):
    """`steps` in the order of their moments; it is over after `seconds`, and then everything is mended."""

    seed: int
    seconds: float
    steps: tuple[AnyStep, ...]

    @property
    def faults(self) -> tuple[str, ...]:
        """The names of its faults, sorted."""
        return tuple(sorted(step.fault for step in self.steps if isinstance(step, Break)))


def generated(
    seed: int,
    faults: Sequence[Fault] = tuple(FAULTS.values()),
    count: int = 2,
    first: Sequence[Fault] | None = None,
) -> History:
    """The history of a seed, with `count` of these faults, each two in a row overlapping; the first is one of
    `first`, if that is given. It ends with the last of them, or after `SECONDS` if there is none."""
    rng = Random(f"history {seed}")
    steps: list[AnyStep] = [_play(rng, number) for number in range(rng.randint(2, MATCHES))]
    breaks = _breaks(rng, first or faults, faults, count)
    seconds = round(max((each.at + each.seconds for each in breaks), default=SECONDS), 1)
    steps += breaks
    made = (_order, _order, _order, _order, _order, _book, _switch, _leave, _leave, _key, _recover, _rival)
    for _ in range(rng.randint(*_STEPS)):
        make: Callable[[Random, float], AnyStep] = rng.choice(made)
        step = make(rng, round(rng.uniform(5, seconds - 4), 1))
        if isinstance(step, Leave):
            step = replace(step, seconds=round(min(step.seconds, seconds - step.at), 1))
        steps.append(step)
    return History(seed, seconds, tuple(sorted(steps, key=lambda step: step.at)))


def _play(rng: Random, number: int) -> Play:
    return Play(
        at=round(number * 0.5, 1),
        match=number,
        seed=rng.randrange(2**31),
        best_of=3 if rng.random() < 0.3 else 1,
        speed=rng.choice((12.0, 20.0, 30.0)),
        rush=rng.choice((300.0, 900.0, 1_600.0)),
        oddities=rng.choice(_ODDITIES),
    )


def _breaks(rng: Random, first: Sequence[Fault], faults: Sequence[Fault], count: int) -> list[Break]:
    """Faults of different hosts, one of them a database server at most; each begins while the one before
    lasts."""
    found = list[Break]()
    begin = rng.uniform(*_FIRST_FAULT)
    while len(found) < count:
        fault = rng.choice(faults if found else first)
        host = rng.choice(fault.hosts)
        others = {other.host for other in found}
        if host in others or (host in DATABASES and others & set(DATABASES)):
            continue
        seconds = round(rng.uniform(*_FAULT_SECONDS), 1)
        found.append(Break(at=round(begin, 1), fault=fault.name, host=host, seconds=seconds))
        begin += rng.uniform(0.5, seconds - 3)
    return found


def _order(rng: Random, at: float) -> Order:
    orders = _orders(rng) + (_last_orders(rng) if at > _LAST_ORDERS else [])
    command, fields, picks = rng.choice(orders)
    pick = rng.randrange(1_000) if picks else None
    return Order(at=at, match=rng.randrange(MATCHES), command=command, fields=fields, pick=pick)


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


def _book(rng: Random, at: float) -> Book:
    booked = rng.random() < 0.5
    return Book(at=at, tenant=rng.randrange(TENANTS), match=rng.randrange(MATCHES), booked=booked)


def _switch(rng: Random, at: float) -> SwitchType:
    on = rng.random() < 0.5
    return SwitchType(at=at, tenant=rng.randrange(TENANTS), type_id=rng.choice(_TYPES), on=on)


def _leave(rng: Random, at: float) -> Leave:
    tenant, seconds = rng.randrange(TENANTS), round(rng.uniform(0.5, 12), 1)
    return Leave(at=at, tenant=tenant, channel="stream" if rng.random() < 0.3 else "feed", seconds=seconds)


def _key(rng: Random, at: float) -> NewKey:
    return NewKey(at=at, tenant=rng.randrange(TENANTS))


def _recover(rng: Random, at: float) -> Recover:
    return Recover(at=at, tenant=rng.randrange(TENANTS))


def _rival(rng: Random, at: float) -> Rival:
    return Rival(at=at, match=rng.randrange(MATCHES))

"""Simulated maps between teams that a tournament would put together, each by its seed."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from random import Random
from typing import TypeVar
from uuid import UUID

from app.domain.match import Match
from app.sandbox.simulator.fictional_world import fictional_world
from app.sandbox.simulator.match_simulation import MatchPlan

BEGIN = 1_790_000_000_000
_BATCH = 10  #: maps that a process takes at a time
T = TypeVar("T")


def plan_of(seed: int) -> MatchPlan:
    home, away = fictional_world().pair(Random(seed))
    return MatchPlan(home, away, seed, BEGIN, brief=True, knife=False)


def match_of(plan: MatchPlan) -> Match:
    """The match before it begins, with what the ratings say of its teams."""
    return Match(
        id=UUID(int=1),
        number=1,
        home=plan.home.name,
        away=plan.away.name,
        event="",
        home_strength=plan.home.points,
        away_strength=plan.away.points,
    )


def in_batches(
    measure: Callable[[Sequence[int], float], T],
    maps: int,
    processes: int,
    share: float,
    minutes: float,
    first: int = 0,
) -> Iterator[T]:
    """What `measure` finds on the maps of some seeds, from `first` on, with this share, until it had so many
    maps, or for so many minutes."""
    until, end = time.monotonic() + 60 * minutes, first + maps
    seeds = [range(start, min(start + _BATCH, end)) for start in range(first, end, _BATCH)]
    with ProcessPoolExecutor(processes) as pool:
        for found in pool.map(measure, seeds, repeat(share)):
            yield found
            if time.monotonic() > until:
                pool.shutdown(wait=False, cancel_futures=True)
                break

"""What follows from a map alone, computed once: a map stays the same object until one of its rounds ends."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from app.domain.match import MapPlay

Found = TypeVar("Found")


def once_a_map(compute: Callable[[MapPlay], Found]) -> Callable[[MapPlay], Found]:
    """`compute`, whose result is kept with the map, like those of its cached properties."""
    name = f"{compute.__module__}.{compute.__qualname__}"

    @wraps(compute)
    def found(play: MapPlay) -> Found:
        known: dict[str, Found] = play.__dict__
        if name not in known:
            known[name] = compute(play)
        return known[name]

    return found

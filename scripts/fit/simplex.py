"""The minimum of a function without derivatives: J. A. Nelder and R. Mead, "A simplex method for function
minimization", The Computer Journal 7 (1965), with their coefficients."""

from collections.abc import Callable, Sequence

Point = list[float]
_ENOUGH, _MOST_MOVES = 1e-7, 250


def minimum(loss: Callable[[Point], float], start: Sequence[float], steps: Sequence[float]) -> Point:
    """Where `loss` is least, begun at `start` and one step from it in each direction."""
    corners = [list(start)]
    corners += [
        [one + (step if at == index else 0.0) for at, one in enumerate(start)]
        for index, step in enumerate(steps)
    ]
    simplex = sorted((loss(corner), corner) for corner in corners)
    for _ in range(_MOST_MOVES):
        if simplex[-1][0] - simplex[0][0] < _ENOUGH:
            break
        simplex = sorted(_moved(loss, simplex))
    return simplex[0][1]


def _moved(loss: Callable[[Point], float], simplex: list[tuple[float, Point]]) -> list[tuple[float, Point]]:
    """The simplex with its worst corner replaced by a better one, or drawn together around the best."""
    *others, (worst, corner) = simplex
    centre = [sum(values) / len(others) for values in zip(*(one for _, one in others), strict=True)]

    def at(factor: float) -> tuple[float, Point]:
        point = [middle + factor * (old - middle) for middle, old in zip(centre, corner, strict=True)]
        return loss(point), point

    reflected = at(-1.0)
    if reflected[0] < others[0][0]:
        return [*others, min(reflected, at(-2.0))]
    if reflected[0] < others[-1][0]:
        return [*others, reflected]
    contracted = at(0.5)
    if contracted[0] < worst:
        return [*others, contracted]
    best = others[0][1]
    drawn = ([(old + new) / 2 for old, new in zip(one, best, strict=True)] for _, one in simplex[1:])
    return [simplex[0], *((loss(point), point) for point in drawn)]

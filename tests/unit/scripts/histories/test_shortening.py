"""Delta debugging finds the guilty steps, and keeps to its number of attempts."""

import asyncio

import pytest

from scripts.histories.history import AnyStep, History, Recover
from scripts.histories.shortening import shortened


class Service:
    """Breaks if a history has all of the guilty steps."""

    def __init__(self, *guilty: AnyStep) -> None:
        self.guilty, self.runs = guilty, 0

    async def breaks(self, history: History) -> bool:
        self.runs += 1
        return set(self.guilty) <= set(history.steps)


STEPS = tuple(Recover(at=float(number), tenant=0) for number in range(23))
HISTORY = History(1, 30.0, STEPS)


@pytest.mark.parametrize("guilty", [(0,), (11,), (22,), (3, 19), (0, 11, 22)])
def test_the_guilty_steps_are_found(guilty: tuple[int, ...]) -> None:
    service = Service(*(STEPS[number] for number in guilty))
    shortest = asyncio.run(shortened(HISTORY, service.breaks, 200))
    assert shortest.steps == service.guilty
    assert (shortest.seed, shortest.seconds) == (1, 30.0)


def test_attempts_are_bounded() -> None:
    service = Service(STEPS[11])
    shortest = asyncio.run(shortened(HISTORY, service.breaks, 3))
    assert service.runs == 3
    assert STEPS[11] in shortest.steps
    assert 1 < len(shortest.steps) < len(STEPS)


def test_without_attempts_the_history_stays() -> None:
    service = Service(STEPS[11])
    assert asyncio.run(shortened(HISTORY, service.breaks, 0)) == HISTORY
    assert service.runs == 0

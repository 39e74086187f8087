"""Delta debugging: from a history that breaks to a shorter one that does."""

from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from scripts.histories.history import AnyStep, History

Breaks = Callable[[History], Awaitable[bool]]


async def shortened(history: History, breaks: Breaks, attempts: int) -> History:
    """The shortest history of those tried that breaks, after at most so many `attempts`: first with halves of
    the steps left out, then with ever smaller parts, until no single step can be left out."""
    steps, parts = history.steps, 2
    while attempts and len(steps) > 1:
        for rest in _without_each_part(steps, parts):
            if not attempts:
                break
            attempts -= 1
            if await breaks(replace(history, steps=rest)):
                steps, parts = rest, max(parts - 1, 2)
                break
        else:
            if parts >= len(steps):
                break
            parts = min(2 * parts, len(steps))
    return replace(history, steps=steps)


def _without_each_part(steps: tuple[AnyStep, ...], parts: int) -> list[tuple[AnyStep, ...]]:
    bounds = [len(steps) * number // parts for number in range(parts + 1)]
    return [steps[:begin] + steps[end:] for begin, end in zip(bounds, bounds[1:], strict=False)]

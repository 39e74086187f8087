"""A cache of markup: rendered once per distinct value, then looked up."""

from collections.abc import Callable, Hashable
from typing import TypeVar

Value = TypeVar("Value", bound=Hashable)


class MarkupCache(dict[Value, str]):
    """Markup by the frozen value that it shows; `cache[value]` renders on a miss.

    Values are compared by content, so a value that is read again from the database finds the markup of its
    equal. At `entries` the cache is cleared: cheaper than tracking ages, and each value in use is rendered
    once more.
    """

    def __init__(self, render: Callable[[Value], str], *, entries: int) -> None:
        super().__init__()
        self._render = render
        self._entries = entries

    def __missing__(self, value: Value) -> str:
        if len(self) >= self._entries:
            self.clear()
        markup = self[value] = self._render(value)
        return markup

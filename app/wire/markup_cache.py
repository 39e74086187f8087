"""Markup that is rendered once per distinct value and looked up afterwards."""

from collections.abc import Callable, Hashable
from typing import TypeVar

Value = TypeVar("Value", bound=Hashable)


class MarkupCache(dict[Value, str]):
    """Markup by the frozen value that it shows; `kept[value]` renders when it must.

    Values are compared by content, so a key read again from the database finds what was rendered for its
    twin. At `entries` everything is forgotten at once: cheaper than keeping track of what is oldest, and
    what is still in use is back after one rendering each.
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

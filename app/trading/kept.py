"""Results that are kept with the immutable value that they follow from, and go when it goes."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Owner = TypeVar("Owner")
Key = TypeVar("Key")
Found = TypeVar("Found")


def kept(find: Callable[[Owner], Found]) -> Callable[[Owner], Found]:
    """The function, whose result is kept in the attributes of its argument (a struct with `dict=True`): most
    lines of a log leave a map as it was, and its value is the same object then."""
    name = f"{find.__module__}.{find.__qualname__}"

    @wraps(find)
    def found(owner: Owner) -> Found:
        attributes: dict[str, Any] = owner.__dict__
        known: Found
        if name in attributes:
            known = attributes[name]
        else:
            known = attributes[name] = find(owner)
        return known

    return found


def kept_by_key(find: Callable[[Owner, Key], Found]) -> Callable[[Owner, Key], Found]:
    """The same for a function of such a value and a key: many markets rest on the same."""
    name = f"{find.__module__}.{find.__qualname__}"

    @wraps(find)
    def found(owner: Owner, key: Key) -> Found:
        known: dict[Key, Found] = owner.__dict__.setdefault(name, {})
        if key not in known:
            known[key] = find(owner, key)
        return known[key]

    return found

"""The decorators of `app.store.prepared` that make functions which run what others build."""

from inspect import isfunction

from app.store import prepared

DECORATORS = {
    name
    for name, one in vars(prepared).items()
    if isfunction(one) and one.__module__ == prepared.__name__ and not name.startswith("_")
} - {prepared.prepared.__name__}

"""What Python's garbage collector should not traverse again and again."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_MIDDLE_COLLECTIONS = 1000  #: of the middle generation before a full collection; Python's own value is 10


def spare_long_lived_objects() -> None:
    """Exempt every object that exists now from collection, and collect later long-lived ones rarely; for a
    whole process, once its code is loaded.

    Matches in play, their offers and the newest envelopes are some 200,000 objects, which end by their
    reference counts: a full collection stopped ingest for 100 to 190 ms, every eight seconds, for a few
    hundred objects that formed cycles. Objects that die young are collected as usual.
    """
    freeze_existing_objects()
    youngest, middle, _ = gc.get_threshold()
    gc.set_threshold(youngest, middle, _MIDDLE_COLLECTIONS)


def freeze_existing_objects() -> None:
    """Exempt every object that exists now from collection, for the whole process.

    Code and tables are some 115,000 objects, and a full collection traverses all of them: it stopped the
    ingest process for over 100 ms several times a minute.
    """
    gc.collect()
    gc.freeze()


@contextmanager
def paused() -> Iterator[None]:
    """Collect nothing meanwhile: for what makes many objects that stay, as code that is loaded. Python takes
    their growth for garbage, and traversed all of them so often that it was a fifth of a process's start."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()

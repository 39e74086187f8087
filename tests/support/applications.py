"""Web applications for tests. To register all routes takes 0.2 s, so a test takes over an application that an
earlier one has left, with its own settings and clock."""

from collections.abc import Iterator
from contextlib import contextmanager

from litestar import Litestar

from app.kit.clock import Clock, system_clock
from app.main import create_app
from app.settings import Settings

Kind = tuple[int, int]  #: the settings that an application keeps: bytes of a log batch, id of the producer

_idle: list[tuple[Kind, Litestar]] = []


@contextmanager
def application(settings: Settings, clock: Clock = system_clock) -> Iterator[Litestar]:
    """An application that nothing else uses; it may be started once. After a failure it is not used again."""
    kind = (settings.log_batch_bytes, settings.producer_id)
    app = _taken(kind) or create_app(settings, clock)
    app.state.parts.configure(settings, clock)
    yield app
    _idle.append((kind, app))


def _taken(kind: Kind) -> Litestar | None:
    """An idle application of this kind."""
    for index, (found, app) in enumerate(_idle):
        if found == kind:
            del _idle[index]
            return app
    return None

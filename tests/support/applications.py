"""Web applications for tests. To register all routes takes 0.2 s, so a test takes over an application that an
earlier one has left, with its own settings and clock."""

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
from litestar import Litestar

from app.kit.clock import Clock, system_clock
from app.main import create_app
from app.settings import Settings

_MOST_IDLE = 3  #: tests with settings of their own are rare

_idle: list[tuple[Settings, Litestar]] = []


@contextmanager
def application(settings: Settings, clock: Clock = system_clock) -> Iterator[Litestar]:
    """An application that nothing else uses; it may be started once. After a failure it is not used again."""
    kind = msgspec.structs.replace(settings, database_url="", rabbitmq_internal_vhost="")
    app = _taken(kind) or create_app(settings, clock)
    app.state.parts.configure(settings, clock)
    yield app
    _idle.append((kind, app))
    del _idle[:-_MOST_IDLE]


def _taken(kind: Settings) -> Litestar | None:
    """An idle application whose settings differ from these only by what every test has of its own."""
    for index, (found, app) in enumerate(_idle):
        if found == kind:
            del _idle[index]
            return app
    return None

"""The web process: settings → connections → routes. Everything a request passes stands in `create_app`."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from litestar import Litestar
from litestar.di import Provide

from app.access.admin import Broker
from app.access.grants import Grants
from app.access.rate_limit import Strangers
from app.access.rate_limit import state as rate_state
from app.broker.address import parse
from app.broker.management import Management
from app.channels.rest.office import Office
from app.channels.rest.reader import Reader
from app.channels.rest.routes import ROUTES as REST
from app.http import errors, rate_limit, request_id
from app.http.auth import Admission, Authentication
from app.http.health import Health
from app.http.query import KnownParameters
from app.ingest import health
from app.ingest.queues import Queues
from app.ingest.routes import ROUTES as INGEST
from app.ingest.routes import Intake
from app.ingest.terms import Terms
from app.kit import logging
from app.kit.clock import Clock, system_clock
from app.recovery.request import Desk
from app.settings import Settings, load
from app.store.connections import Store, open_store
from app.store.counters import Counters


def create_app(settings: Settings, clock: Clock = system_clock) -> Litestar:
    """The application; it connects when it starts and lets go of everything when it stops."""
    parts = Parts(settings, clock)
    return Litestar(
        route_handlers=[*REST, *INGEST],
        # A request passes these in order; before them, `before_send` has named it.
        middleware=[
            rate_limit.Gate(parts.grants, Strangers(clock)),
            Authentication(parts.grants),
            rate_limit.RateLimit(parts.counters),
            Admission(),
            KnownParameters(),
        ],
        before_send=[request_id.add, rate_limit.add],
        exception_handlers=errors.HANDLERS,
        dependencies={
            "reader": Provide(parts.get_reader),
            "intake": Provide(parts.get_intake),
            "desk": Provide(parts.get_desk),
            "office": Provide(parts.get_office),
        },
        request_max_body_size=settings.log_batch_bytes,
        lifespan=[parts.opened],
        logging_config=None,
        openapi_config=None,
    )


class Parts:
    """What the routes work with, from start to stop."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._counters: Counters
        self._grants: Grants
        self._reader: Reader
        self._intake: Intake
        self._desk: Desk
        self._office: Office

    @asynccontextmanager
    async def opened(self, _: Litestar) -> AsyncIterator[None]:
        """Connect; in reverse order, let go."""
        settings = self._settings
        async with (
            await open_store(settings.database_url, settings.database_pool_size) as store,
            Queues(
                settings.rabbitmq_url, settings.rabbitmq_internal_vhost, settings.rabbitmq_api_url
            ) as queues,
            Counters(settings.redis_url) as counters,
            Management(settings.rabbitmq_api_url) as management,
        ):
            self._counters = counters
            self._grants = Grants(store, settings.secret_key, self._clock)
            broker = Broker(
                management, settings.exchange, settings.rabbitmq_public_host, parse(settings.rabbitmq_url)
            )
            self._office = Office(store, self._grants, self._clock, settings.secret_key, broker)
            self._desk = Desk(store, self._clock, settings.recovery_window_minutes * 60_000)
            self._reader = Reader(store, self._clock, self._health(store, queues))
            address = settings.public_url.rstrip("/")
            self._intake = Intake(store, queues, terms(settings), self._clock, settings.secret_key, address)
            hearing = asyncio.create_task(self._grants.run())
            try:
                yield
            finally:
                hearing.cancel()
                await asyncio.wait([hearing])

    def grants(self) -> Grants:
        return self._grants

    def counters(self) -> Counters:
        return self._counters

    async def get_reader(self) -> Reader:
        return self._reader

    async def get_intake(self) -> Intake:
        return self._intake

    async def get_desk(self) -> Desk:
        return self._desk

    async def get_office(self) -> Office:
        return self._office

    def _health(self, store: Store, queues: Queues) -> Health:
        dead = self._settings.ingest_dead_seconds
        return Health(
            {
                "database": partial(health.database_answers, store),
                "ingest_queues": partial(health.queues_answer, queues),
                "ingest_worker": partial(health.worker_beats, store, self._clock, dead),
                "log_batches": partial(health.nothing_parked, store),
                "rate_limits": partial(rate_state, self._counters),
            }
        )


def terms(settings: Settings) -> Terms:
    return Terms(
        margin=settings.margin,
        fresh_millis=settings.fresh_millis,
        silence_millis=settings.source_silence_seconds * 1000,
    )


def app() -> Litestar:
    """What the server runs: `uvicorn --factory app.main:app`."""
    settings = load()
    logging.configure("web", level=settings.log_level)
    return create_app(settings)

"""The web process: settings → connections → routes. `create_app` lists everything that a request passes."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial

import msgspec
from litestar import Litestar
from litestar.datastructures import State
from litestar.di import Provide
from litestar.exceptions import HTTPException
from litestar.types import Scope

from app.access import broker_sync
from app.access.admin import BrokerConfig
from app.access.grants import Grants
from app.access.rate_limit import RefusedRecoveries, UnauthenticatedLimiter
from app.access.rate_limit import health as rate_state
from app.access.sign_in import valid_sessions
from app.amqp.delivery_status import tenant_delivery
from app.amqp.envelope import EnvelopeRenderer
from app.broker.address import parse
from app.broker.management import Management
from app.channel_parts import PRODUCER, asyncapi_document, facades, rest_dependencies, stream_config
from app.channels.facade.dependencies import FacadeDependencies
from app.channels.feed.process_watch import feed_state, process_state
from app.channels.rest.dependencies import RestDependencies
from app.channels.rest.documents import generate_documents
from app.channels.stream.changes import ROUTES as CHANGES
from app.channels.stream.server import ROUTES as STREAM
from app.channels.stream.server import StreamServer
from app.channels.stream.subscriptions import Subscriptions
from app.claims.request import ClaimService
from app.combinations.request import CombinationService
from app.commands.command_service import CommandService
from app.files.daily import make_daily
from app.http import errors
from app.http.handlers import handlers_in
from app.http.headers import complete_response
from app.http.health import FEED_PROCESS, INGEST_QUEUES, Health, database_responds
from app.http.listeners import Application, Listener, ListenerFilter, Ports, listener_of
from app.http.request_data import StrictRequest
from app.http.request_guard import RequestGuard
from app.http.response import ResponseCache, ViewResponse
from app.http.server import Listening
from app.ingest import worker as ingest_health
from app.ingest.queues import IngestQueues, QueueConfig
from app.ingest.routes import ROUTES as LOG_SINK
from app.ingest.routes import LogSink
from app.kit import logging
from app.kit.background import run_forever
from app.kit.clock import Clock, system_clock
from app.operations.api.alerts import AlertMonitor, alerts_state
from app.operations.api.dependencies import OperatorDependencies
from app.operations.restoration.failover import DatabaseFailover
from app.recovery.request import RecoveryService
from app.replay.request import ReplayService
from app.settings import Settings, load
from app.sites.board.routes import Board
from app.sites.console.live_tables import LiveReader
from app.sites.console.match_tables import MatchReader
from app.sites.console.moving_pages import render
from app.sites.console.row_feed import MatchFeeds, RowFeed
from app.sites.console.site import CONSOLE, ConsoleDependencies
from app.sites.pages import error_pages
from app.sites.pages.event_streams import OpenStreams
from app.sites.pages.router import site_router
from app.sites.portal.dependencies import DeliveryReader, PortalDependencies
from app.sites.portal.site import PORTAL
from app.sites.status.routes import StatusPages
from app.status.monitor import StatusConfig, StatusMonitor
from app.status.publication import StatusTexts
from app.store.connections import Store, open_store
from app.store.counters import Counters
from app.store.server_state import end_stalled_regularly
from app.trading.pricing import PricingConfig
from app.wire.views.meta import ALERTS

#: What is served over HTTP and documented; the WebSocket stream, the board, the portal and the console are
#: beside it.
ROUTES = (
    *handlers_in("app.channels.rest"),
    *CHANGES,
    *handlers_in("app.channels.facade"),
    *handlers_in("app.operations.api"),
    *LOG_SINK,
)
#: How long the event loop waits at most for another Python thread at each step; Python's default is 5 ms.
_SWITCH_SECONDS = 0.0005


def create_app(settings: Settings, clock: Clock = system_clock) -> Litestar:
    """The application; it connects when it starts and disconnects when it stops. Its `state.parts` can be
    configured anew while it is stopped: tests need not register all routes a thousand times."""
    parts = Parts(settings, clock)
    products = str(settings.producer_id), PRODUCER
    provided = {
        "rest": provide(lambda: parts.rest),
        "sink": provide(lambda: parts.sink),
        "recoveries": provide(lambda: parts.recoveries),
        "replays": provide(lambda: parts.replays),
        "combinations": provide(lambda: parts.combinations),
        "claims": provide(lambda: parts.claims),
        "facade": Provide(parts.facade_of, sync_to_thread=False),
        "ops": provide(lambda: parts.operators),
        "board": provide(lambda: parts.board),
        "portal": provide(lambda: parts.portal),
        "console": provide(lambda: parts.console),
        "subscriptions": provide(lambda: parts.subscriptions),
        "stream_server": provide(lambda: parts.stream_server),
        "openapi_documents": made_on_request(
            lambda: generate_documents(ROUTES, frozenset(provided), products)
        ),
        "asyncapi_document": made_on_request(lambda: parts.asyncapi_document()),
        "status_texts": provide(lambda: parts.status_texts),
        "status_pages": provide(lambda: parts.status_pages),
    }

    def limiter() -> UnauthenticatedLimiter:
        return parts.unauthenticated_limiter

    listeners = ListenerFilter(limiter, lambda: parts.ports)
    unrouted = errors.unrouted(limiter, listeners.serves)
    return Application(
        route_handlers=(
            *ROUTES,
            *STREAM,
            *handlers_in("app.sites.board"),
            *handlers_in("app.sites.status"),
            site_router(PORTAL, "app.sites.portal", lambda: parts.portal.people),
            site_router(CONSOLE, "app.sites.console", lambda: parts.console.people),
        ),
        middleware=[listeners, RequestGuard(parts)],
        request_class=StrictRequest,
        response_class=ViewResponse,
        before_send=[complete_response],
        exception_handlers=errors.HANDLERS
        | {HTTPException: error_pages.unrouted((PORTAL, CONSOLE), unrouted, listeners.serves)},
        state=State({"parts": parts}),
        dependencies=provided,
        request_max_body_size=settings.log_batch_bytes,
        lifespan=[parts.lifespan],
        logging_config=None,
        openapi_config=None,
    )


class Parts:
    """The dependencies of the routes, from start to stop."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self.configure(settings, clock)
        self.listening = Listening()
        self.counters: Counters
        self.grants: Grants
        self.response_cache: ResponseCache
        self.rest: RestDependencies
        self.sink: LogSink
        self.recoveries: RecoveryService
        self.replays: ReplayService
        self.combinations: CombinationService
        self.commands: CommandService
        self.claims: ClaimService
        self.refused_recoveries: RefusedRecoveries
        self.facades: dict[Listener, FacadeDependencies]
        self.operators: OperatorDependencies
        self.portal: PortalDependencies
        self.console: ConsoleDependencies
        self.subscriptions: Subscriptions
        self.stream_server: StreamServer
        self.status_texts: StatusTexts
        self.status_pages: StatusPages

    def configure(self, settings: Settings, clock: Clock) -> None:
        """Set what the next start uses. The size of log batches and the producer's id stay those that the
        application was created with."""
        self._settings, self._clock = settings, clock
        self.ports = Ports(settings.operator_port, settings.sdk_port)
        self.board = Board(settings.board_report)
        self.unauthenticated_limiter = UnauthenticatedLimiter(clock)
        self.asyncapi_document = partial(
            asyncapi_document,
            settings.exchange,
            settings.rabbitmq_public_host,
            settings.public_url,
            settings.contact_email,
        )

    @asynccontextmanager
    async def lifespan(self, _: Litestar) -> AsyncIterator[None]:
        """Connect; at the end disconnect in reverse order."""
        settings = self._settings
        async with (
            await open_store(
                settings.database_url, settings.database_pool_size, failover=DatabaseFailover(self._clock)
            ) as store,
            IngestQueues(msgspec.convert(settings, QueueConfig, from_attributes=True)) as queues,
            Counters(settings.redis_url) as counters,
            Management(settings.rabbitmq_api_url) as management,
        ):
            self.counters = counters
            self.grants = Grants(store, settings.secret_key, self._clock)
            self.response_cache = ResponseCache(store, settings.response_cache_bytes)
            broker = _broker(settings, management)
            access_config = broker_sync.BrokerAccessConfig(settings.exchange, settings.broker_authorisation)
            pricing = msgspec.convert(settings, PricingConfig, from_attributes=True)
            self.commands = CommandService(store, pricing, settings.consent_seconds)
            self.operators = self._operators(store, broker)
            self.sink = LogSink(queues, self._clock, settings.secret_key)
            self.refused_recoveries = RefusedRecoveries(store)
            self.recoveries = RecoveryService(store, self._clock, settings.recovery_window_minutes * 60_000)
            self.replays = ReplayService(store, self._clock)
            self.combinations = CombinationService(store, self._clock)
            self.claims = ClaimService(
                store, self._clock, settings.claim_deadline_minutes, settings.claims_per_tenant
            )
            self.portal = self._portal(store, broker)
            self.console = self._console(store, management)
            self.facades = facades(settings, store, self._clock)
            health = self._health(store, queues)
            self.rest = rest_dependencies(settings, store, self._clock, health)
            self.subscriptions = Subscriptions(store, self.grants, self._clock, stream_config(settings))
            self.stream_server = StreamServer(self.subscriptions, self.unauthenticated_limiter)
            alert_monitor = AlertMonitor(store, self._clock, dead_seconds=settings.ingest_dead_seconds)
            status_monitor = self._status_monitor(store)
            # Feed processes do this, too; a revocation must not wait until one is started.
            jobs: dict[str, Callable[[], Awaitable[None]]] = {
                "following changes of keys": self.grants.run,
                "following changes for the cache": self.response_cache.run,
                "updating alerts": alert_monitor.run,
                "observing the health of components": health.observe,
                "observing the status of the service": status_monitor.run,
                "closing streams of ended keys": self.subscriptions.run,
                "ending stalled sessions": partial(end_stalled_regularly, store),
                "announcing that this process listens": partial(self.listening.announce, store, health),
                "synchronising the broker": partial(broker_sync.run, store, management, access_config),
            }
            if self.rest.files:
                jobs["making daily files"] = partial(make_daily, self.rest.files, self._clock)
            await status_monitor.observe()  # what is requested at once is known
            background = [asyncio.create_task(run_forever(title, job)) for title, job in jobs.items()]
            try:
                yield
            finally:
                for task in background:
                    task.cancel()
                await asyncio.wait(background)
                await self.portal.delivery.close()
                await self.subscriptions.close()

    def facade_of(self, scope: Scope) -> FacadeDependencies:
        """What the facade's handlers depend on at the address that received this request."""
        return self.facades[listener_of(scope)]

    def _operators(self, store: Store, broker: BrokerConfig) -> OperatorDependencies:
        settings = self._settings
        return OperatorDependencies(
            store=store,
            grants=self.grants,
            clock=self._clock,
            secret=settings.secret_key,
            broker=broker,
            internal_vhost=settings.rabbitmq_internal_vhost,
            pricing=self.commands.pricing,
            commands=self.commands,
            public_url=settings.public_url.rstrip("/"),
            sandbox=settings.sandbox,
        )

    def _status_monitor(self, store: Store) -> StatusMonitor:
        config = msgspec.convert(self._settings, StatusConfig, from_attributes=True)
        monitor = StatusMonitor(store, self._clock, config)
        self.status_texts = StatusTexts(monitor)
        self.status_pages = StatusPages(monitor, self._settings.public_url.rstrip("/"))
        return monitor

    def _open_streams(self, store: Store) -> OpenStreams:
        return OpenStreams(lambda sessions: valid_sessions(store, sessions, now=self._clock()))

    def _portal(self, store: Store, broker: BrokerConfig) -> PortalDependencies:
        return PortalDependencies(
            store=store,
            grants=self.grants,
            counters=self.counters,
            recoveries=self.recoveries,
            replays=self.replays,
            claims=self.claims,
            clock=self._clock,
            secret=self._settings.secret_key,
            broker=broker,
            public_url=self._settings.public_url.rstrip("/"),
            renderer=EnvelopeRenderer(self._settings.exchange, self._settings.producer_id),
            delivery=DeliveryReader(
                lambda tenant_id: tenant_delivery(store, broker.management, tenant_id, self._clock())
            ),
            streams=self._open_streams(store),
        )

    def _console(self, store: Store, management: Management) -> ConsoleDependencies:
        settings, clock = self._settings, self._clock
        return ConsoleDependencies(
            store=store,
            counters=self.counters,
            management=management,
            clock=clock,
            secret=settings.secret_key,
            url=settings.console_url,
            pricing=self.commands.pricing,
            commands=self.commands,
            live=RowFeed(LiveReader(store, clock).read, render, clock),
            matches=MatchFeeds(
                lambda match_id: RowFeed(MatchReader(store, clock, match_id).read, render, clock)
            ),
            streams=self._open_streams(store),
        )

    def _health(self, store: Store, queues: IngestQueues) -> Health:
        dead = self._settings.ingest_dead_seconds
        return Health(
            {
                "database": partial(database_responds, store),
                INGEST_QUEUES: partial(ingest_health.queues_respond, queues),
                "feed": partial(feed_state, store, self._clock, self._settings.alive_seconds),
                "ingest_worker": partial(ingest_health.worker_beats, store, self._clock, dead),
                "log_batches": partial(ingest_health.nothing_parked, store),
                "rate_limits": partial(rate_state, self.counters),
                ALERTS: partial(alerts_state, store),
            },
            {FEED_PROCESS: partial(process_state, store, self._clock)},
        )


def _broker(settings: Settings, management: Management) -> BrokerConfig:
    return BrokerConfig(
        management,
        settings.exchange,
        settings.rabbitmq_public_host,
        settings.broker_authorisation,
        parse(settings.rabbitmq_url),
    )


def provide(part: Callable[[], object]) -> Provide:
    """Inject a part into the handlers that name it; most parts exist only after the start."""
    return Provide(part, sync_to_thread=False)


def made_on_request(make: Callable[[], object]) -> Provide:
    """Inject a document that `make` makes once, in a thread: it takes a second, for which neither a start nor
    other requests wait. Few processes ever receive such a request."""
    return Provide(make, sync_to_thread=True)


def app() -> Litestar:
    """What the server runs: `uvicorn --factory app.main:app`."""
    settings = load()
    logging.configure("web", level=settings.log_level)
    sys.setswitchinterval(_SWITCH_SECONDS)
    return create_app(settings)

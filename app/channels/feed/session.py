"""One lifetime of a feed process: its name, its broker user, its lease, and the tenants that it serves.

It ends when the lease has expired, the broker no longer knows the user, or this process cannot reach the
broker while another one can; the process then begins another one under a new name, and never publishes a byte
of the former one.
"""

import asyncio
import math
import os
import secrets
import socket
import time
from collections.abc import Mapping
from functools import partial
from uuid import UUID

import msgspec

from app.amqp.alive import AlivePublisher, FeedStatus, QueueLosses
from app.amqp.binding_tracker import BindingTracker
from app.amqp.delivery_samples import DeliverySamples
from app.amqp.envelope import EnvelopeRenderer
from app.amqp.lease import LeaseDeadline, LeaseLost, LoginRefused, PublisherLogin
from app.amqp.loss_notice import LossNotice
from app.amqp.publishers import FeedPublishers
from app.amqp.reconnect import keep_connected
from app.amqp.relay import Relay
from app.amqp.tenant_publisher import TenantPublisher
from app.broker.address import Address
from app.broker.broker_users import create_publisher_user, expel_publisher, permit_publisher, publisher_user
from app.broker.management import Management
from app.broker.violations import TenantLimits
from app.channels.feed.enforcement import Enforcement
from app.channels.feed.gauges import update_connected, update_gauges
from app.channels.feed.jobs import TenantJobs
from app.channels.feed.process_watch import IngestWatchdog, RestWatch
from app.kit.background import retry_while_unavailable
from app.kit.clock import Clock, system_clock
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.kit.metrics import feed_tenants
from app.store import cursors, heartbeats, recovery_jobs, tenants
from app.store.connections import Store
from app.store.cursors import LeasedTenant, TenantReport
from app.store.transaction import Tx

_DRAIN_SECONDS = 3.0
#: The broker sends a heartbeat each five seconds on a connection that has nothing else.
_HEARD_SECONDS = 8.0
#: For so many leases another process must have reached the broker before ours ends its session: after the
#: broker's restart every process needs a moment to connect.
_PATIENCE_LEASES = 2
#: With its lease a process loses its share of the tenants, by a heartbeat that it wrote a moment later.
_AFTER_EXPIRY_SECONDS = 0.05
log = get_logger(__name__)


class FeedConfig(msgspec.Struct, frozen=True):
    """How the feed is published; see `settings` for each."""

    exchange: str
    product: int
    window: int
    lease_millis: int
    alive_seconds: float
    lag_millis: int = 600_000
    event_vhost: str = "/"


class FeedSession:
    """Run it once, with `run`; `watchdog` knows whether an ingest worker is alive, `rest` whether a web
    process listens; `samples` counts what is published."""

    def __init__(
        self,
        store: Store,
        management: Management,
        broker: Address,
        config: FeedConfig,
        watchdog: IngestWatchdog,
        rest: RestWatch,
        clock: Clock = system_clock,
        samples: DeliverySamples | None = None,
    ) -> None:
        self.holder = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        self._store, self._management, self._broker = store, management, broker
        self._config, self._clock = config, clock
        self._watchdog, self._rest = watchdog, rest
        self._lease = LeaseDeadline(config.lease_millis)
        self._renderer = EnvelopeRenderer(config.exchange, config.product)
        self._feed = FeedPublishers(config.exchange)
        self.relay = Relay(
            store,
            self._renderer,
            self._lease,
            self.holder,
            config.window,
            self._feed,
            lag_millis=config.lag_millis,
            clock=clock,
            samples=samples,
        )
        self._status = FeedStatus(lambda: self.relay.age, lambda: watchdog.dead_heartbeat, rest)
        self._bindings = BindingTracker(
            management, broker, config.event_vhost, config.exchange, self.relay.publishers
        )
        self._jobs = TenantJobs(
            store,
            self.holder,
            self._renderer,
            self._feed,
            self._lease,
            self.relay.publishers,
            clock,
        )
        self._until_expiry = math.inf  #: of the first lease of another process, in seconds
        self._without_broker_since: float | None = None
        self._tasks: dict[UUID, asyncio.Task[None]] = {}
        self._fences: dict[str, asyncio.Task[None]] = {}

    async def run(self, stopping: asyncio.Event) -> None:
        """Serve tenants until `stopping`, then release them in good order. Raises `LeaseLost` when this
        session is over, anything else when something is wrong with the program."""
        work = asyncio.create_task(self._work())
        stop = asyncio.create_task(stopping.wait())
        try:
            await asyncio.wait({work, stop}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                await self._release_all()
        finally:
            self._lease.expire()
            stop.cancel()
            for fence in self._fences.values():
                fence.cancel()
            work.cancel()
            await asyncio.wait({work})
            feed_tenants.set(0)
        if not work.cancelled():
            await work
        await self._delete_broker_user()

    async def _work(self) -> None:
        login = await self._create_login()
        await retry_while_unavailable("reading the change log", self.relay.start)
        log.info("the feed session has begun", holder=self.holder)
        try:
            async with asyncio.TaskGroup() as group:
                for loop in (self.relay.listen, self.relay.read, self.relay.catch_up, self.relay.save):
                    group.create_task(loop())
                group.create_task(self._bindings.run())
                group.create_task(self._jobs.run())
                group.create_task(update_connected(self.relay))
                group.create_task(update_gauges(self._store, self._management, self.relay))
                group.create_task(self._enforcement().run())
                for change in (self._watchdog.died, self._rest.changed):
                    group.create_task(self.relay.wake_at(change))
                group.create_task(self._renew_leases(group, login))
        except ExceptionGroup as group:
            if group.split((LeaseLost, LoginRefused))[1]:
                raise
            raise LeaseLost("this session is over") from group

    def _enforcement(self) -> Enforcement:
        return Enforcement(
            self._store,
            self._management,
            self._config.exchange,
            lambda: {each.vhost: each.slug for each in self.relay.publishers.values()},
            TenantLimits(),
            self._clock,
        )

    async def _create_login(self) -> PublisherLogin:
        """How we connect to vhosts, with a new broker user."""
        password = await retry_while_unavailable(
            "creating our broker user", lambda: create_publisher_user(self._management, self.holder)
        )
        user = publisher_user(self.holder)
        address = msgspec.structs.replace(self._broker, user=user, password=password)
        return PublisherLogin(address, f"matchfeed-feed/{self.holder}", self._config.exchange)

    async def _renew_leases(self, group: asyncio.TaskGroup, login: PublisherLogin) -> None:
        """Three times a lease, and when one expires whose holder has died: renew, acquire what is free, drop
        what we no longer hold. A renewal that took long is followed by the next one at once: the lease counts
        from its beginning."""
        while True:
            due = self._lease.now() + self._lease.millis / 3000
            self._until_expiry = math.inf  # a renewal that fails is not tried again sooner
            try:
                for tenant in await self._renew():
                    self._tasks[tenant.tenant_id] = group.create_task(self._serve(tenant, login))
            except Unavailable as error:
                log.warning("renewing leases failed", error=error.detail)
            await asyncio.sleep(min(due - self._lease.now(), self._until_expiry))

    async def _renew(self) -> list[LeasedTenant]:
        """The tenants that were acquired."""
        relay, mine = self.relay, self.holder
        self._require_lease()
        drained = [each.tenant_id for each in relay.publishers.values() if each.releasing and each.drained]
        async with relay.lock, self._store.transaction() as tx:
            relay.require_same_history(tx)
            self._require_lease()  # a statement to a database that does not answer may hold the lock for long
            started_at = self._lease.now()
            await cursors.release(tx, mine, drained)
            held = await cursors.renew(tx, mine, self._lease.millis)
            # Acquired in a transaction whose commit was never confirmed to us: ours, but not served.
            unserved = held.keys() - self._tasks.keys()
            await cursors.release(tx, mine, unserved)
            await cursors.save_reports(tx, mine, self._reports())
            await cursors.create_missing(tx)
            reaches = self._reaches_broker()
            await heartbeats.record(tx, mine, heartbeats.FEED, self._clock(), reaches_broker=reaches)
            share = await self._share(tx)
            free = max(0, share - len(held) + len(unserved))
            acquired = await cursors.acquire(tx, mine, free, self._lease.millis)
            remaining = await cursors.until_expiry(tx, mine)
            await recovery_jobs.delete_refused(tx, self._notified_of_refused())
            refused = await recovery_jobs.due_refused(tx, mine, list(relay.publishers))
            await relay.read_bookings(tx)
            relay.with_probabilities = await tenants.with_probabilities(tx)
            relay.with_bet_stop = await tenants.with_bet_stop(tx)
        self._until_expiry = math.inf if remaining is None else remaining / 1000 + _AFTER_EXPIRY_SECONDS
        self._lease.renewed(started_at)
        self._require_lease()
        self._notify_refused(refused)
        for tenant_id in set(self._tasks) - set(held):
            self._drop(tenant_id)
        self._release_surplus(share)
        feed_tenants.set(len(held) - len(unserved) + len(acquired))
        return acquired

    def _require_lease(self) -> None:
        """Raise `LeaseLost` if it has expired: another process may have expelled our broker user."""
        if self._tasks and not self._lease.held:
            raise LeaseLost("our lease expired")

    def _notify_refused(self, due: Mapping[UUID, int]) -> None:
        """Have the clients of these tenants request the recovery again that their key's rate refused."""
        for tenant_id in due.keys() & self.relay.publishers.keys():
            self.relay.publishers[tenant_id].notice.record_refused_recovery(due[tenant_id])

    def _notified_of_refused(self) -> dict[UUID, int]:
        """The tenants that were notified of refused recoveries, and of which ones."""
        notices = {tenant_id: each.notice for tenant_id, each in self.relay.publishers.items()}
        return {tenant_id: at for tenant_id, each in notices.items() if (at := each.notified_refused_at)}

    def _reports(self) -> dict[UUID, TenantReport]:
        return {tenant_id: publisher.report for tenant_id, publisher in self.relay.publishers.items()}

    async def _share(self, tx: Tx) -> int:
        """How many tenants are ours to serve, by the number of feed processes that reach the broker. Raises
        `LeaseLost` when only others have reached it for a while."""
        since = self._clock() - self._lease.millis
        alive = await heartbeats.alive_since(tx, heartbeats.FEED, since)
        reaching = [holder for holder, reaches in alive.items() if reaches]
        if reaching and self.holder not in reaching:
            self._wait_for_broker()
            return len(self._tasks)
        self._without_broker_since = None
        return math.ceil(await cursors.tenant_count(tx) / max(1, len(reaching)))

    def _wait_for_broker(self) -> None:
        now = time.monotonic()
        self._without_broker_since = self._without_broker_since or now
        if now - self._without_broker_since > _PATIENCE_LEASES * self._lease.millis / 1000:
            log.warning("another feed process reaches the broker, this one does not", holder=self.holder)
            raise LeaseLost("the broker is not reached")

    def _reaches_broker(self) -> bool:
        connections = [each.connection for each in self.relay.publishers.values() if each.connection]
        return self._bindings.reached or any(each.silent_seconds < _HEARD_SECONDS for each in connections)

    def _release_surplus(self, share: int) -> None:
        """Stop publishing to what is more than our share; it is released once it is drained."""
        serving = [each for each in self.relay.publishers.values() if not each.releasing]
        for publisher in serving[share:]:
            log.info("releasing a tenant to another process", tenant=publisher.slug)
            publisher.releasing = True

    async def _serve(self, tenant: LeasedTenant, login: PublisherLogin) -> None:
        """Publish to one tenant until it is dropped."""
        if tenant.former_holders:
            tenant = await self._fenced(tenant)
        config = self._config
        publisher = self.relay.add(tenant, LossNotice(tenant, config.alive_seconds))
        losses = QueueLosses(
            self._management,
            tenant.slug,
            tenant.vhost,
            config.exchange,
            tenant.dropped,
            config.alive_seconds,
            on_record=lambda: self._persist_loss_flag(publisher),
        )
        alive = AlivePublisher(publisher, losses, self._status, self._renderer, self._feed, self._clock)
        former = ", ".join(tenant.former_holders)
        log.info("serving a tenant", tenant=tenant.slug, seq=tenant.seq, epoch=tenant.epoch, former=former)
        async with asyncio.TaskGroup() as group:
            prepare = partial(self._prepare, publisher)
            on_restart = partial(self._broker_restarted, publisher, tenant)
            group.create_task(keep_connected(publisher, login, prepare, self.relay.live_delay, on_restart))
            group.create_task(alive.run())

    async def _broker_restarted(self, publisher: TenantPublisher, tenant: LeasedTenant) -> None:
        """The odds that waited in the tenant's durable queues are lost, for they are transient messages.
        Nothing is lost to a tenant that never had a queue."""
        if tenant.bound_queues or (publisher.served and publisher.bindings.ever_live):
            log.warning("the broker was restarted", tenant=publisher.slug)
            publisher.notice.record_loss()
            await self._persist_loss_flag(publisher)

    async def _persist_loss_flag(self, publisher: TenantPublisher) -> None:
        """Record in the store that the tenant has lost something; raises `Unavailable` if another process
        holds the tenant and must count it."""
        publisher.notice.withheld = True
        async with self.relay.lock, self._store.autocommit() as tx:
            saved = await cursors.save_reports(tx, self.holder, {publisher.tenant_id: publisher.report})
        if not saved or not self._lease.held:
            raise Unavailable("Another process has the tenant.")

    async def _prepare(self, publisher: TenantPublisher) -> None:
        """Before anything is published, the tenant's bindings are known. Raises `LoginRefused` where the
        broker no longer knows our user: its permissions cannot be set, and no login would be tried."""
        try:
            await permit_publisher(self._management, self.holder, publisher.vhost, self._config.exchange)
        except Unavailable as error:
            user = publisher_user(self.holder)
            if await self._management.credentials(user) is None:
                raise LoginRefused(f"the broker does not know the user {user}") from error
            raise
        await self._bindings.read(publisher)

    async def _fenced(self, tenant: LeasedTenant) -> LeasedTenant:
        """Expel the tenant's former holders; returns the tenant, its silence longer by the time that this
        took."""
        begun = time.monotonic()
        for former in tenant.former_holders:
            await asyncio.shield(self._fence(former))
        await retry_while_unavailable("recording an expulsion", lambda: self._forget_former_holders(tenant))
        fenced = round((time.monotonic() - begun) * 1000)
        return msgspec.structs.replace(tenant, silent=tenant.silent + fenced)

    async def _forget_former_holders(self, tenant: LeasedTenant) -> None:
        async with self.relay.lock, self._store.autocommit() as tx:
            await cursors.forget_former_holders(tx, self.holder, tenant)

    def _fence(self, former: str) -> asyncio.Task[None]:
        """Expel the former holder; one attempt for all of its tenants, which ends only with success."""
        if former not in self._fences:
            log.warning("taking over from another process", former=former)
            expel = retry_while_unavailable(
                "expelling a former holder", lambda: expel_publisher(self._management, former)
            )
            self._fences[former] = asyncio.create_task(expel)
        return self._fences[former]

    def _drop(self, tenant_id: UUID) -> None:
        self.relay.remove(tenant_id)
        self._tasks.pop(tenant_id).cancel()

    async def _release_all(self) -> None:
        """Leave nothing unconfirmed and release the leases; if that fails, they expire."""
        try:
            drained = await self.relay.drain(_DRAIN_SECONDS)
            async with self.relay.lock, self._store.transaction() as tx:
                await cursors.save_reports(tx, self.holder, self._reports())
                await cursors.release(tx, self.holder, drained)
                await heartbeats.remove(tx, self.holder)
            log.info("tenants are released", count=len(drained), of=len(self.relay.publishers))
        except Unavailable as error:
            log.warning("releasing tenants failed, their leases expire", error=error.detail)

    async def _delete_broker_user(self) -> None:
        """If this fails the user stays, and can do no harm: nobody has its password any more."""
        try:
            await expel_publisher(self._management, self.holder)
        except Unavailable as error:
            log.warning(
                "deleting our broker user failed", user=publisher_user(self.holder), error=error.detail
            )

"""One life of a feed process: its name, its user on the broker, its lease, and the tenants it tells.

A life ends when the lease has run out or the broker does not know the user any more; the process then
begins another one under a new name, and never publishes a byte of the old one.
"""

import asyncio
import math
import os
import secrets
import socket
import time
from uuid import UUID

import msgspec

from app.amqp.binding_tracker import Bindings
from app.amqp.envelope import Press
from app.amqp.heartbeat import Heartbeat, Tidings
from app.amqp.lease import Lease
from app.amqp.loss_notice import Word
from app.amqp.queue_losses import Losses
from app.amqp.reconnect import Login, ShutOut, keep_linked
from app.amqp.relay import Relay
from app.amqp.tenant_publisher import Delivery
from app.broker.address import Address
from app.broker.management import Management
from app.broker.publisher_users import (
    create_publisher_user,
    expel_publisher,
    permit_publisher,
    publisher_user,
)
from app.broker.violations import TenantLimits
from app.channels.feed.enforcement import Enforcement
from app.channels.feed.gauges import keep_gauges
from app.channels.feed.ingest_watchdog import Watch
from app.kit.clock import Clock, system_clock
from app.kit.errors import Unavailable
from app.kit.logging import get_logger
from app.kit.metrics import feed_tenants
from app.kit.retry import retry_while_unavailable
from app.recovery.runner import Replayer
from app.store import cursors, heartbeats, tenants
from app.store.connections import Store
from app.store.cursors import LeasedTenant, TenantReport
from app.store.transaction import Tx

_DRAIN_SECONDS = 3.0
log = get_logger(__name__)


class Terms(msgspec.Struct, frozen=True):
    """How the feed is told; see `settings` for each."""

    exchange: str
    product: int
    window: int
    lease_millis: int
    alive_seconds: float
    lag_millis: int = 600_000
    event_vhost: str = "/"


class Lapsed(Exception):
    """This life is over: our lease ran out before we renewed it, or we were shut out of the broker."""


class Session:
    """Run it once, with `run`; `watch` says whether anybody tends the prices."""

    def __init__(
        self,
        store: Store,
        management: Management,
        broker: Address,
        terms: Terms,
        watch: Watch,
        clock: Clock = system_clock,
    ) -> None:
        self.holder = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        self._store, self._management, self._broker = store, management, broker
        self._terms, self._watch, self._clock = terms, watch, clock
        self._lease = Lease(terms.lease_millis)
        press = Press(terms.exchange, terms.product)
        self.relay = Relay(
            store, press, self._lease, self.holder, terms.window, lag_millis=terms.lag_millis, clock=clock
        )
        self._tidings = Tidings(age=lambda: self.relay.age, dead=lambda: watch.dead)
        self._bindings = Bindings(
            management, broker, terms.event_vhost, terms.exchange, self.relay.deliveries
        )
        self._tasks: dict[UUID, asyncio.Task[None]] = {}
        self._fences: dict[str, asyncio.Task[None]] = {}

    async def run(self, stopping: asyncio.Event) -> None:
        """Tell tenants until `stopping`, then let go of them in good order. Raises `Lapsed` when
        this life is over, anything else when something is wrong with the program."""
        work = asyncio.create_task(self._work())
        stop = asyncio.create_task(stopping.wait())
        try:
            await asyncio.wait({work, stop}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                await self._let_go()
        finally:
            self._lease.lost()
            stop.cancel()
            for fence in self._fences.values():
                fence.cancel()
            work.cancel()
            await asyncio.wait({work})
            feed_tenants.set(0)
        if not work.cancelled():
            await work
        await self._vanish()

    async def _work(self) -> None:
        login = await self._enlisted()
        await retry_while_unavailable("reading the change log", self.relay.start)
        log.info("the feed works", holder=self.holder)
        try:
            async with asyncio.TaskGroup() as group:
                for loop in (self.relay.listen, self.relay.read, self.relay.catch_up, self.relay.save):
                    group.create_task(loop())
                group.create_task(self._bindings.run())
                group.create_task(self._replayer(login).run())
                group.create_task(keep_gauges(self._store, self._management, self.relay))
                group.create_task(self._enforcement().run())
                group.create_task(self._hurry())
                group.create_task(self._rounds(group, login))
        except ExceptionGroup as group:
            if group.split((Lapsed, ShutOut))[1]:
                raise
            raise Lapsed("this life is over") from group

    def _enforcement(self) -> Enforcement:
        return Enforcement(
            self._store,
            self._management,
            self._terms.exchange,
            lambda: {delivery.slug for delivery in self.relay.deliveries.values()},
            TenantLimits(),
            self._clock,
        )

    async def _hurry(self) -> None:
        """Have every tenant told of a death of ingest at once."""
        while True:
            await self._watch.died.wait()
            self._watch.died.clear()
            for delivery in self.relay.deliveries.values():
                delivery.word.hurried.set()

    async def _enlisted(self) -> Login:
        """How we enter vhosts, with a user of our own."""
        password = await retry_while_unavailable(
            "making our user", lambda: create_publisher_user(self._management, self.holder)
        )
        user = publisher_user(self.holder)
        address = msgspec.structs.replace(self._broker, user=user, password=password)
        return Login(address, f"matchfeed-feed/{self.holder}", self._terms.exchange)

    def _replayer(self, login: Login) -> Replayer:
        return Replayer(
            self._store,
            login,
            self.holder,
            self._terms.product,
            reachable=self._reachable,
            held=self._holds,
            clock=self._clock,
        )

    def _reachable(self) -> dict[UUID, str]:
        """The slugs of the tenants that are ours, and to whom what we say comes through: to a broker that
        takes nothing no recovery is told, and none before the word about an outage."""
        return {
            each.tenant_id: each.slug
            for each in self.relay.deliveries.values()
            if each.healthy and not each.held_back and self._holds(each.tenant_id)
        }

    def _holds(self, tenant_id: UUID) -> bool:
        delivery = self.relay.deliveries.get(tenant_id)
        return self._lease.held and delivery is not None and not delivery.closing

    async def _rounds(self, group: asyncio.TaskGroup, login: Login) -> None:
        """Three times a lease: renew, take what is free, drop what is not ours any more."""
        while True:
            try:
                for taken in await self._round():
                    self._tasks[taken.tenant_id] = group.create_task(self._serve(taken, login))
            except Unavailable as error:
                log.warning("leases cannot be renewed", error=error.detail)
            await asyncio.sleep(self._lease.millis / 3000)

    async def _round(self) -> list[LeasedTenant]:
        relay, mine = self.relay, self.holder
        if self._tasks and not self._lease.held:
            raise Lapsed("our lease ran out")
        released = [each.tenant_id for each in relay.deliveries.values() if each.closing and each.quiet]
        async with relay.lock, self._store.transaction() as tx:
            asked_at = self._lease.asking()
            await cursors.release(tx, mine, released)
            held = await cursors.renew(tx, mine, self._lease.millis)
            # Leased in a round whose commit was never confirmed to us: ours in the store, served by nobody.
            strays = held.keys() - self._tasks.keys()
            await cursors.release(tx, mine, strays)
            await cursors.save_reports(tx, mine, self._notes())
            await cursors.create_missing(tx)
            await heartbeats.record(tx, mine, heartbeats.FEED, self._clock())
            share = await self._share(tx)
            free = max(0, share - len(held) + len(strays))
            taken = await cursors.acquire(tx, mine, free, self._lease.millis)
            relay.unbooked = await tenants.unbooked(tx)
        self._lease.renewed(asked_at)
        for tenant_id in set(self._tasks) - set(held):
            self._drop(tenant_id)
        self._shed(share)
        feed_tenants.set(len(held) - len(strays) + len(taken))
        return taken

    def _notes(self) -> dict[UUID, TenantReport]:
        return {tenant_id: delivery.note for tenant_id, delivery in self.relay.deliveries.items()}

    async def _share(self, tx: Tx) -> int:
        """How many tenants are ours to tell, as many feed processes as there are."""
        others = await cursors.holder_count(tx, heartbeats.FEED, self._clock() - self._lease.millis)
        return math.ceil(await cursors.tenant_count(tx) / max(1, others))

    def _shed(self, share: int) -> None:
        """Stop publishing to what is more than our share; it is released once it is quiet."""
        kept = [each for each in self.relay.deliveries.values() if not each.closing]
        for delivery in kept[share:]:
            log.info("letting another process have a tenant", tenant=delivery.slug)
            delivery.closing = True

    async def _serve(self, taken: LeasedTenant, login: Login) -> None:
        """Tell one tenant until it is dropped."""
        if taken.former and taken.former != self.holder:
            begun = time.monotonic()
            await asyncio.shield(self._fence(taken.former))
            fenced = round((time.monotonic() - begun) * 1000)
            taken = msgspec.structs.replace(taken, silent=taken.silent + fenced)
        terms = self._terms
        delivery = self.relay.adopt(taken, Word(taken, terms.alive_seconds))
        losses = Losses(
            self._management,
            taken.slug,
            terms.exchange,
            taken.dropped,
            terms.alive_seconds,
            on_record=lambda: self._owe(delivery),
        )
        heartbeat = Heartbeat(login, delivery, losses, self._tidings, terms.product, self._clock)
        log.info("telling a tenant", tenant=taken.slug, seq=taken.seq, epoch=taken.epoch, former=taken.former)
        async with asyncio.TaskGroup() as group:
            group.create_task(keep_linked(delivery, login, lambda: self._enter(delivery)))
            group.create_task(heartbeat.run())

    async def _owe(self, delivery: Delivery) -> None:
        """Have the store know that the tenant has lost something; raises `Unavailable` where it is another
        process that must count it."""
        delivery.word.withheld = True
        async with self.relay.lock, self._store.reading() as tx:
            taken = await cursors.save_reports(tx, self.holder, {delivery.tenant_id: delivery.note})
        if not taken or not self._lease.held:
            raise Unavailable("Another process has the tenant.")

    async def _enter(self, delivery: Delivery) -> None:
        """Before anything is published, who receives it is known."""
        await permit_publisher(self._management, self.holder, delivery.slug, self._terms.exchange)
        await self._bindings.read(delivery)

    def _fence(self, former: str) -> asyncio.Task[None]:
        """Shut the former holder out; one attempt for all of its tenants, which ends only with success."""
        if former not in self._fences:
            log.warning("taking over from another process", former=former)
            expel = retry_while_unavailable(
                "shutting a former holder out", lambda: expel_publisher(self._management, former)
            )
            self._fences[former] = asyncio.create_task(expel)
        return self._fences[former]

    def _drop(self, tenant_id: UUID) -> None:
        self.relay.drop(tenant_id)
        self._tasks.pop(tenant_id).cancel()

    async def _let_go(self) -> None:
        """Leave nothing in flight and free the leases; where that fails, they run out by themselves."""
        try:
            quiet = await self.relay.drain(_DRAIN_SECONDS)
            async with self.relay.lock, self._store.transaction() as tx:
                await cursors.save_reports(tx, self.holder, self._notes())
                await cursors.release(tx, self.holder, quiet)
                await heartbeats.remove(tx, self.holder)
            log.info("let go of tenants", count=len(quiet), of=len(self.relay.deliveries))
        except Unavailable as error:
            log.warning("the leases are left to run out", error=error.detail)

    async def _vanish(self) -> None:
        """Take our user away; one that stays can do no harm, for nobody has its password any more."""
        try:
            await expel_publisher(self._management, self.holder)
        except Unavailable as error:
            log.warning("our user on the broker stays", user=publisher_user(self.holder), error=error.detail)

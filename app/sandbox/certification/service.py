"""The service that a client is certified against: the real processes, on a database, an internal vhost and a
tenant's vhost of their own, on the servers of this installation. No customer's traffic or data is touched;
everything is removed afterwards.
"""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID

import httpx

from app.access import admin
from app.access.admin import BrokerConfig, IssuedKey
from app.access.api_keys import KeyProperties
from app.broker import provisioning
from app.broker.management import Management
from app.domain.scopes import OPERATOR_BUNDLE
from app.kit.clock import system_clock
from app.kit.errors import Conflict, Unavailable
from app.sandbox.certification.ending import requiring_broker, undisturbed
from app.store import changes, cursors, log_state
from app.store.connections import Store, open_store
from app.store.migrations import drop_database, migrate
from app.store.transaction import Tx

TENANT = "certification"
_BUNDLES = ("cs2.odds.basic", "cs2.odds.scoreboard-addon")
_BY = "certification"
_RPM = 6_000
_READY_SECONDS, _END_SECONDS = 150.0, 20.0
#: A match is played step by step, and stands still while a client is looked at: silence says nothing.
_STILL = {
    "SOURCE_SILENCE_SECONDS": "36000",
    "SILENCE_LIVE_SECONDS": "36000",
    "SILENCE_CLUTCH_SECONDS": "36000",
    "SILENCE_FREEZE_SECONDS": "36000",
    "STREAM_POLL_ALL_MILLIS": "500",
}
_ALONE = {
    "INGEST_QUEUE_TYPE": "classic",
    "DEPLOYMENT": "development",
    "PUBLIC_URL": "http://127.0.0.1",
    "OPERATOR_PORT": "0",
    "SDK_PUBLIC_URL": "https://127.0.0.1",
    "SDK_CERTIFICATE_FILE": "",
    "SDK_PRIVATE_KEY_FILE": "",
    "METRICS_PORT": "0",
    "BOARD_REPORT": "",
    "REFERENCE_DIRECTORY": "",
    "FILES_DIRECTORY": "",
    "CONSENT_SECONDS": "0",
    "DATABASE_POOL_SIZE": "4",
}


@dataclass(frozen=True)
class ServiceConfig:
    """An installation's settings: those that are needed here, and all as its processes read them."""

    database_url: str
    secret_key: str
    exchange: str
    environment: Mapping[str, str]

    def of_its_own(self, tenant: str) -> "ServiceConfig":
        """The same, but for everything in which two services on the same servers would meet."""
        parts = urlsplit(self.database_url)
        url = urlunsplit(parts._replace(path=f"/matchfeed_{tenant.replace('-', '_')}"))
        own = {"DATABASE_URL": url, "RABBITMQ_INTERNAL_VHOST": _internal_vhost(tenant)}
        return replace(self, database_url=url, environment={**self.environment, **own, **_ALONE, **_STILL})


@dataclass(frozen=True)
class Access:
    """What a client needs: its key, and its login at the broker."""

    api_key: str
    key_id: UUID
    amqp_url: str


class CertifiedService:
    """`base_url` is its own address, `sdk_port` the port of its SDK address, without TLS. `processes` are by
    name: `serve`, `ingest`, `feed`. `keys_log_in`: whether a key is a login at the broker."""

    def __init__(
        self, config: ServiceConfig, broker: BrokerConfig, directory: Path, tenant: str, store: Store
    ) -> None:
        self.config, self.tenant, self.store = config, tenant, store
        self._broker, self._directory = broker, directory
        self.port, self.sdk_port = _free_ports(2)
        self.keys_log_in = broker.mode == "http"
        self.base_url = f"http://127.0.0.1:{self.port}"
        self.processes: dict[str, asyncio.subprocess.Process] = {}
        self.access = Access("", UUID(int=0), "")
        self.tenant_id = UUID(int=0)

    async def prepare(self) -> str:
        """The tenant, its key and vhost, and an operator's key, which is returned."""
        async with self.store.transaction() as tx:
            tenant = await admin.create_tenant(tx, self.tenant, "Certification", by=_BY, now=system_clock())
            await admin.create_tenant(tx, "operations", "Operations", by=_BY, now=system_clock())
            operator = await self._issue_key(tx, "operations", (OPERATOR_BUNDLE,), system_clock())
        self.tenant_id = tenant.id
        await self.grant()
        return operator.raw

    async def grant(self) -> None:
        """Give the tenant a new key and a new login at the broker; those from before end."""
        now = system_clock()
        async with self.store.transaction() as tx:
            if self.access.api_key:
                await admin.revoke_key(tx, self.access.key_id, by=_BY, now=now)
            issued = await self._issue_key(tx, self.tenant, _BUNDLES, now)
        url = await admin.provision_amqp(self.store, self.tenant, self._broker, by=_BY, now=now)
        self.access = Access(issued.raw, issued.key.id, url)

    async def _issue_key(self, tx: Tx, slug: str, bundles: tuple[str, ...], now: int) -> IssuedKey:
        rights = KeyProperties(bundles=bundles, sports=("cs2",), rate_limit_rpm=_RPM)
        return await admin.issue_key(tx, slug, rights, secret=self.config.secret_key, by=_BY, now=now)

    async def start(self, name: str) -> None:
        """Start a process; its log is in the directory."""
        await undisturbed(self._start(name))

    async def _start(self, name: str) -> None:
        arguments = (name, "--port", str(self.port)) if name == "serve" else (name,)
        with (self._directory / f"{name}.log").open("ab") as log:
            self.processes[name] = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "app.cli", *arguments),
                env={**os.environ, **self.config.environment, "SDK_PORT": str(self.sdk_port)},
                stdout=log,
                stderr=log,
            )

    async def kill(self, name: str) -> None:
        process = self.processes.pop(name)
        process.send_signal(signal.SIGKILL)
        await process.wait()

    async def end(self) -> None:
        for process in self.processes.values():
            if process.returncode is None:
                process.terminate()
        for process in self.processes.values():
            try:
                await asyncio.wait_for(process.wait(), _END_SECONDS)
            except TimeoutError:
                process.kill()
                await process.wait()

    async def ready(self) -> None:
        """Wait until it answers. Raises `Unavailable` if a process has ended, or it takes too long."""
        deadline = asyncio.get_running_loop().time() + _READY_SECONDS
        async with httpx.AsyncClient(base_url=self.base_url, trust_env=False) as client:
            while True:
                for name, process in self.processes.items():
                    if process.returncode is not None:
                        raise Unavailable(f"{name} has ended; see {self._directory / name}.log")
                try:
                    answer = await client.get("/v1/alive", headers={"X-Api-Key": self.access.api_key})
                    if answer.is_success:
                        return
                except httpx.TransportError:
                    pass
                if asyncio.get_running_loop().time() > deadline:
                    raise Unavailable(f"the service does not answer; see the logs in {self._directory}")
                await asyncio.sleep(0.2)

    async def has_applied(self, match_id: str, run: str, offset: int) -> bool:
        """Whether the lines of this run of a match's server are applied up to this byte."""
        async with self.store.autocommit() as tx:
            state = await log_state.get(tx, UUID(match_id))
        return not offset or (state.instance, state.next_offset) == (run, offset)

    async def caught_up(self) -> bool:
        """Whether everything that was committed is published to the tenant."""
        async with self.store.autocommit() as tx:
            return await cursors.position(tx, self.tenant_id) >= await changes.head(tx)


@asynccontextmanager
async def serving(
    config: ServiceConfig, broker: BrokerConfig, directory: Path, tenant: str
) -> AsyncIterator[tuple[CertifiedService, str]]:
    """The service, ready, and an operator's key. Raises `Conflict` where the tenant's vhost is somebody
    else's, `Unavailable` when the broker is gone."""
    own = config.of_its_own(tenant)
    async with requiring_broker(broker.management.check):
        await _claim(broker.management, tenant)
        try:
            await drop_database(own.database_url)
            await migrate(own.database_url)
            async with await open_store(own.database_url, 2) as store:
                service = CertifiedService(own, broker, directory, tenant, store)
                operator_key = await service.prepare()
                try:
                    for name in ("serve", "ingest", "feed"):
                        await service.start(name)
                    await service.ready()
                    yield service, operator_key
                finally:
                    await undisturbed(service.end())
        finally:
            await undisturbed(_remove(own.database_url, broker.management, tenant))


async def _remove(database_url: str, management: Management, tenant: str) -> None:
    await drop_database(database_url)
    await provisioning.deprovision(management, tenant)
    await management.delete_vhost(_internal_vhost(tenant))


async def _claim(management: Management, tenant: str) -> None:
    """The internal vhost says that the tenant's vhost is ours: a run that was killed leaves both."""
    there = await management.vhosts()
    if _internal_vhost(tenant) not in there and tenant in there:
        raise Conflict(
            f"the vhost {tenant!r} exists already, and no certification made it: choose another --tenant",
            code="vhost_name",
            slug=tenant,
        )
    await management.put_vhost(_internal_vhost(tenant))


def _internal_vhost(tenant: str) -> str:
    return f"matchfeed-{tenant}"


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]

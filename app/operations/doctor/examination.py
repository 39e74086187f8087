"""The whole examination, with the checks of this machine (its disk, the certificate, which addresses answer
to whom) and of our processes, as the database knows them: heartbeats, parked batches, the delivery to
each tenant.
"""

import shutil
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import httpx
import msgspec
from cryptography import x509

from app.access.broker_sync import BrokerAccessConfig
from app.access.rate_limit import health as rate_limits
from app.amqp.delivery_status import CONNECTED, TenantStatus, tenant_statuses
from app.broker.management import Management
from app.broker.permissions import AuthorisationMode
from app.channels.feed.process_watch import process_state
from app.http.health import OK
from app.ingest import worker as ingest_health
from app.kit.clock import Clock, system_clock, to_datetime
from app.operations.doctor import broker, database
from app.operations.doctor.findings import Finding, State, examined, ill, judged, unknown, well
from app.store.connections import Store
from app.store.counters import Counters

_BEHIND_SECONDS = 30.0
_OF_PROCESSES = ("ingest process", "feed process", "log batches", "tenants' delivery")


async def examine_processes(
    store: Store, management: Management, clock: Clock, dead_seconds: int, *, broker_answers: bool
) -> list[Finding]:
    ingest = await ingest_health.worker_beats(store, clock, dead_seconds)
    feed = await process_state(store, clock)
    parked = await ingest_health.nothing_parked(store)
    return [
        _beats("ingest process", ingest, "Start `matchfeed ingest`; read its log."),
        _beats("feed process", feed, "Start `matchfeed feed`; read its log."),
        judged(
            "log batches",
            [] if parked == OK else [parked],
            "all could be applied",
            "`matchfeed alerts --kind parked_batch` names the matches; ingest's log has the error.",
        ),
        _delivery(await tenant_statuses(store, management), feeds=feed == OK and broker_answers),
    ]


def _beats(part: str, state: str, action: str) -> Finding:
    return judged(part, [] if state == OK else [state], "it sends heartbeats", action)


def _delivery(tenants: Sequence[TenantStatus], *, feeds: bool) -> Finding:
    """Without a feed process, or without the broker, nothing is delivered, which has findings of its own."""
    if not feeds:
        return unknown(
            "tenants' delivery", "nothing is published now", "See the broker and the feed process."
        )
    wrong = [f"{each.tenant}: {reason}" for each in tenants if (reason := _trouble(each))]
    action = "`matchfeed feed status` shows all tenants; read the feed process's log."
    return judged("tenants' delivery", wrong, f"{len(tenants)} tenants are up to date", action)


def _trouble(tenant: TenantStatus) -> str:
    if tenant.state != CONNECTED:
        return tenant.state
    if tenant.behind_seconds > _BEHIND_SECONDS:
        return f"{tenant.behind} messages, {tenant.behind_seconds:.0f} s behind"
    return ""


_EXPIRY = timedelta(days=14)
_FREE_SHARE = 0.05
_SECONDS = 5.0
_TCP = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_LISTENING = "0A"
_ANY_ADDRESS = {"0" * 8, "0" * 32}
_REFUSED = {401, 403}  #: what an address of operators answers without a key


def disk() -> Finding:
    """The file system on which this command runs; others' are theirs to watch."""
    usage = shutil.disk_usage("/")
    free = f"{usage.free / 2**30:.1f} GiB of {usage.total / 2**30:.1f} are free on this machine"
    wrong = [free] if usage.free < _FREE_SHARE * usage.total else ()
    return judged("disk", wrong, free, "Free some space: logs, old backups.")


def certificate(file: str, now: datetime) -> Finding:
    """The certificate of the SDK address."""
    if not file:
        return well("certificate", "the SDK address has none of its own: a proxy adds TLS, if it is used")
    action = "Renew the certificate and restart `matchfeed serve`; clients refuse an expired one."
    try:
        found = x509.load_pem_x509_certificate(Path(file).read_bytes())
    except (OSError, ValueError) as error:
        return ill("certificate", f"SDK_CERTIFICATE_FILE cannot be read: {error}", action)
    until = found.not_valid_after_utc
    wrong = [f"it expires on {until:%Y-%m-%d}"] if until - now < _EXPIRY else ()
    return judged("certificate", wrong, f"valid until {until:%Y-%m-%d}", action)


async def web_process(public_url: str) -> Finding:
    """Whether a web process answers at the public address: any response will do."""
    action = "Start `matchfeed serve`; read its log; see the proxy and PUBLIC_URL."
    try:
        async with httpx.AsyncClient(timeout=_SECONDS, trust_env=False) as client:
            response = await client.get(f"{public_url.rstrip('/')}/v1/alive")
    except httpx.HTTPError as error:
        return ill(
            "web process", f"{public_url} does not answer: {str(error) or type(error).__name__}", action
        )
    wrong = [f"{public_url} answers {response.status_code}"] if response.is_server_error else ()
    return judged("web process", wrong, f"{public_url} answers", action)


async def operator_exposure(public_url: str, operator_port: int, *, production: bool) -> Finding:
    """Whether others than operators reach the operators' addresses."""
    part, action = "operators' listener", "Set OPERATOR_PORT and restart `matchfeed serve` (docs/deploy.md)."
    if not operator_port:
        if production:
            return ill(part, "operators have no listener of their own", action)
        return well(part, "none of its own, as in development")
    wrong = []
    if operator_port in listening_everywhere():
        wrong.append(f"port {operator_port} listens on every address of this machine")
        action = "Give `matchfeed serve` an --operator-host that only operators reach, or a firewall's rule."
    try:
        async with httpx.AsyncClient(timeout=_SECONDS, trust_env=False) as client:
            response = await client.get(f"{public_url.rstrip('/')}/ops/v1/alerts")
    except httpx.HTTPError:
        return judged(part, wrong, "", action) if wrong else unknown(part, f"{public_url} is silent", action)
    if response.status_code in _REFUSED:
        wrong.append(f"{public_url}/ops/v1 answers")
    return judged(part, wrong, f"port {operator_port}; {public_url} does not know its addresses", action)


def listening_everywhere() -> set[int]:
    """The ports on which something on this machine listens on every address; none where that is unknown."""
    lines = [line.split() for file in _TCP if file.exists() for line in file.read_text().splitlines()[1:]]
    addresses = [words[1].split(":") for words in lines if words[3] == _LISTENING]
    return {int(port, 16) for address, port in addresses if address in _ANY_ADDRESS}


class DoctorConfig(msgspec.Struct, frozen=True):
    """The settings that the examination needs; see `settings` for each."""

    deployment: str
    database_url: str
    redis_url: str
    rabbitmq_url: str
    rabbitmq_api_url: str
    rabbitmq_internal_vhost: str
    broker_authorisation: AuthorisationMode
    exchange: str
    public_url: str
    operator_port: int
    sdk_port: int
    sdk_certificate_file: str
    ingest_dead_seconds: int
    feed_lag_minutes: int
    change_log_minutes: int

    @property
    def retained_millis(self) -> int:
        """For how long the change log is retained."""
        return max(self.feed_lag_minutes, self.change_log_minutes) * 60_000


async def examine(config: DoctorConfig) -> list[Finding]:
    """Every finding, well ones too, causes before what depends on them."""
    production = config.deployment == "production"
    found = [
        judged("settings", (), f"they fit; DEPLOYMENT is {config.deployment}", ""),
        disk(),
        certificate(config.sdk_certificate_file if config.sdk_port else "", to_datetime(system_clock())),
        await web_process(config.public_url),
        await operator_exposure(config.public_url, config.operator_port, production=production),
        await _redis(config.redis_url),
    ]
    async with Management(config.rabbitmq_api_url) as management:
        broker_findings = await _broker(config, management)
        broker_answers = all(each.state is not State.ILL for each in broker_findings)
        store, about = await database.opened(config.database_url)
        found += [*broker_findings, about]
        if store is None:
            return [*found, *_dependent("the database", ("migrations", *_OF_DATABASE))]
        async with store:
            found.append(await database.migrations(store))
            if State.ILL in (about.state, found[-1].state):
                return [*found, *_dependent("a migrated database", _OF_DATABASE)]
            return found + await _stored(config, store, management, broker_answers=broker_answers)


_AT_BROKER = "tenants at the broker"
_OF_DATABASE = (*database.DEPENDENT, *_OF_PROCESSES, _AT_BROKER)


async def _redis(redis_url: str) -> Finding:
    async with Counters(redis_url) as counters:
        state = await rate_limits(counters)
    action = "Start Redis, or set REDIS_URL; until then requests are served without rate limits."
    return judged("redis", [] if state == OK else [state], "it answers", action)


async def _broker(config: DoctorConfig, management: Management) -> list[Finding]:
    found = [await broker.answers(management)]
    if found[0].state is not State.WELL:
        return [*found, *_dependent("RabbitMQ", ("broker login", *broker.DEPENDENT))]
    vhost = config.rabbitmq_internal_vhost
    found.append(await broker.login(config.rabbitmq_url, vhost))
    return found + await broker.examine(management, vhost, config.broker_authorisation)


async def _stored(
    config: DoctorConfig, store: Store, management: Management, *, broker_answers: bool
) -> list[Finding]:
    """What a migrated database tells, with the broker or without."""
    found = await database.examine(store, system_clock, config.retained_millis)
    found += await examine_processes(
        store, management, system_clock, config.ingest_dead_seconds, broker_answers=broker_answers
    )
    if not broker_answers:
        return [*found, *_dependent("RabbitMQ", (_AT_BROKER,))]
    access = BrokerAccessConfig(config.exchange, config.broker_authorisation)
    check = partial(broker.tenants_in_step, store, management, access)
    return [*found, await examined(_AT_BROKER, check, "See RabbitMQ's log.")]


def _dependent(what: str, parts: Iterable[str]) -> list[Finding]:
    return [unknown(part, f"it needs {what}", f"See {what} first.") for part in parts]

"""The whole examination: every part, and what depends on which."""

from collections.abc import Iterable

import msgspec

from app.access.broker_sync import BrokerAccessConfig
from app.access.rate_limit import health as rate_limits
from app.broker.management import Management
from app.broker.permissions import AuthorisationMode
from app.http.health import OK
from app.kit.clock import system_clock, to_datetime
from app.kit.errors import Refusal
from app.operations.doctor import broker, database, machine
from app.operations.doctor.findings import Finding, State, ill, judged, unknown
from app.store.connections import Store
from app.store.counters import Counters

_AT_BROKER = "tenants at the broker"
_OF_DATABASE = (*database.DEPENDENT, *database.OF_PROCESSES, _AT_BROKER)


class DoctorConfig(msgspec.Struct, frozen=True):
    """The settings that the examination needs; see `settings` for each."""

    deployment: str
    database_url: str
    redis_url: str
    rabbitmq_url: str
    rabbitmq_api_url: str
    rabbitmq_internal_vhost: str
    rabbitmq_public_host: str
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
    certificate_file = config.sdk_certificate_file if config.sdk_port else ""
    addresses = machine.with_tls(config.public_url, config.rabbitmq_public_host)
    found = [
        judged("settings", (), f"they fit; DEPLOYMENT is {config.deployment}", ""),
        machine.disk(),
        await machine.certificates(certificate_file, addresses, to_datetime(system_clock())),
        await machine.web_process(config.public_url),
        await machine.operator_exposure(config.public_url, config.operator_port, production=production),
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
    """The findings about a migrated database, with the broker or without."""
    found = await database.examine(store, system_clock, config.retained_millis)
    found += await database.examine_processes(
        store, management, system_clock, config.ingest_dead_seconds, broker_answers=broker_answers
    )
    if not broker_answers:
        return [*found, *_dependent("RabbitMQ", (_AT_BROKER,))]
    access = BrokerAccessConfig(config.exchange, config.broker_authorisation)
    try:
        in_step = await broker.tenants_in_step(store, management, access)
    except (Refusal, OSError, TimeoutError) as error:
        in_step = ill(_AT_BROKER, str(error) or type(error).__name__, "See RabbitMQ's log.")
    return [*found, in_step]


def _dependent(what: str, parts: Iterable[str]) -> list[Finding]:
    return [unknown(part, f"it needs {what}", f"See {what} first.") for part in parts]

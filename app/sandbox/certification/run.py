"""A run of certification: everything is started, each accident happens in its turn, and is judged."""

import random
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import httpx

from app.access.admin import BrokerConfig
from app.kit.errors import Refusal
from app.sandbox.certification import tls
from app.sandbox.certification.accidents import ACCIDENTS, Accident
from app.sandbox.certification.amqp_proxy import AmqpProxy
from app.sandbox.certification.clients import Clients
from app.sandbox.certification.ending import undisturbed
from app.sandbox.certification.evidence import Evidence
from app.sandbox.certification.game import Games
from app.sandbox.certification.http_proxy import REPORT_PATH, HttpProxy
from app.sandbox.certification.reports import Difference, Truth
from app.sandbox.certification.service import CertifiedService, ServiceConfig, serving
from app.sandbox.certification.stage import BRIEFLY, Inconclusive, Stage, WrongBook
from app.sandbox.certification.verdicts import Run, Verdict, Wrong
from app.sandbox.simulator.service_client import OperatorRequestFailed, SinkRefused

_SHOWN = 20  #: wrong markets of an accident
_HOST = "127.0.0.1"  #: where the proxies listen
#: What the service or its operators' API raises.
_NOT_THE_CLIENT = (OperatorRequestFailed, SinkRefused, httpx.HTTPError)
_CONNECT_SECONDS = 600.0  #: in which somebody starts a client that we do not start


@dataclass(frozen=True)
class Wanted:
    """What is to be run: `command` starts the client, "" if others do; `only` names accidents, all of the
    channel if empty; `directory` gets logs and reports."""

    channel: str
    command: str
    seed: int
    only: tuple[str, ...]
    tenant: str
    patience: float
    directory: Path
    service: str
    announce: Callable[[Mapping[str, str]], None]
    notify: Callable[[Verdict], None]


def chosen(wanted: Wanted) -> list[Accident]:
    """The accidents of a run, in its order."""
    found = [
        each
        for each in ACCIDENTS.values()
        if wanted.channel in each.channels and (not wanted.only or each.name in wanted.only)
    ]
    random.Random(wanted.seed).shuffle(found)
    return found


async def certify(config: ServiceConfig, broker: BrokerConfig, wanted: Wanted) -> Run:
    """Run the accidents against the client. Raises `Refusal` where the service cannot be started, or when
    the broker is gone."""
    async with serving(config, broker, wanted.directory, wanted.tenant) as (service, operator_key):
        return await certify_on(service, operator_key, wanted)


async def certify_on(service: CertifiedService, operator_key: str, wanted: Wanted) -> Run:
    """The same, on a service that runs."""
    begun, verdicts = _now(), []
    async with staged(service, operator_key, wanted) as stage:
        for accident in chosen(wanted):
            verdicts.append(await judged(stage, accident))
            wanted.notify(verdicts[-1])
        name, version = stage.clients.name, stage.clients.version
    return Run(
        name or "a client without a name",
        version,
        wanted.channel,
        wanted.seed,
        wanted.service,
        begun,
        _now(),
        tuple(verdicts),
        not wanted.only,
    )


@asynccontextmanager
async def staged(service: CertifiedService, operator_key: str, wanted: Wanted) -> AsyncIterator[Stage]:
    """Both proxies, the client that follows through them, and the matches."""
    evidence, rng = Evidence(), random.Random(wanted.seed)
    ca_file = wanted.directory / "ca.pem"
    secured = tls.server_context(ca_file)
    broker = urlsplit(service.access.amqp_url)
    secure = broker.scheme == "amqps"
    amqp = AmqpProxy(
        broker.hostname or "",
        broker.port or (5671 if secure else 5672),
        evidence,
        tls=secure,
        present=lambda: (service.access.api_key, service.access.amqp_url),
    )

    def environment(number: int) -> dict[str, str]:
        return _addresses(service, amqp, http, ca_file) | {
            "CERTIFY_CHANNEL": wanted.channel,
            "CERTIFY_REPORT_URL": f"http://{_HOST}:{http.port}{REPORT_PATH}?process={number}",
            "CERTIFY_REPORT_FILE": str(clients.file(number)),
            "CERTIFY_STATE": str(clients.state(number)),
        }

    clients = Clients(wanted.command, wanted.directory, environment, service.config.environment)
    ports = service.port, service.sdk_port
    http = HttpProxy(_HOST, ports, evidence, clients.take, clients.take_digest)
    async with (
        httpx.AsyncClient(
            base_url=service.base_url, headers={"X-Api-Key": service.access.api_key}, trust_env=False
        ) as as_tenant,
        httpx.AsyncClient(trust_env=False) as as_operator,
    ):
        await amqp.start(secured)
        await http.start(secured)
        games = Games(as_operator, service.base_url, operator_key, service.has_applied, rng, evidence)
        stage = Stage(
            wanted.channel,
            service,
            games,
            amqp,
            http,
            clients,
            Truth(as_tenant),
            evidence,
            rng,
            wanted.patience,
        )
        try:
            await stage.truth.begin()
            if not wanted.command:
                wanted.announce(environment(1))
            await _begun(stage, wanted)
            yield stage
        finally:
            await undisturbed(clients.stop_all())
            await http.stop()
            await amqp.stop()


async def _begun(stage: Stage, wanted: Wanted) -> None:
    """Start the client, and wait until it follows its channel and reports. Raises `Refusal` with what it did
    instead."""
    patience = wanted.patience if wanted.command else _CONNECT_SECONDS

    def once(there: Callable[[], bool]) -> Callable[[], bool]:
        def found() -> bool:
            stage.require_running()
            return there()

        return found

    try:
        await stage.clients.start()
        await stage.until("the client follows the channel", once(stage.following), patience)
        await stage.until("the client reports", once(lambda: stage.reported), patience)
    except OSError as error:
        raise Refusal(f"the client cannot be started: {wanted.command!r}: {error.strerror}") from error
    except (WrongBook, Inconclusive) as error:
        log = f"; what it said is in {wanted.directory / 'client-1.log'}" if wanted.command else ""
        raise Refusal(f"certification has not begun: {error}{log}") from error


def _addresses(service: CertifiedService, amqp: AmqpProxy, http: HttpProxy, ca_file: Path) -> dict[str, str]:
    """Where the client finds the service, and how it logs in."""
    parts = urlsplit(service.access.amqp_url)
    login = parts.netloc.rpartition("@")[0]
    found = {
        "CERTIFY_AMQP_URL": urlunsplit(parts._replace(scheme="amqp", netloc=f"{login}@{_HOST}:{amqp.port}")),
        "CERTIFY_BASE_URL": f"http://{_HOST}:{http.port}",
        "CERTIFY_API_KEY": service.access.api_key,
        "CERTIFY_EXCHANGE": service.config.exchange,
    }
    if service.keys_log_in:
        found |= {
            "CERTIFY_SDK_API": f"{_HOST}:{http.sdk_port}",
            "CERTIFY_SDK_MQ_HOST": _HOST,
            "CERTIFY_SDK_MQ_PORT": str(amqp.tls_port),
            "CERTIFY_CA_FILE": str(ca_file),
        }
    return found


async def judged(stage: Stage, accident: Accident) -> Verdict:
    """Bring the accident about, and judge what the client makes of it."""
    if accident.restarts and not stage.clients.can_restart:
        return Verdict(accident.name, "not run", text="the client must be started by --client")
    began = time.monotonic()

    def after() -> float:
        return round(time.monotonic() - began, 1)

    try:
        try:
            await stage.prepare()
            await stage.connected()
            await stage.agree(still=BRIEFLY)
        except WrongBook as error:
            verdict = _failed(stage, accident, after(), error, "before it: ")
            await stage.forget()
            return verdict
        stage.evidence.begin()
        await accident.act(stage)
        stage.reset()
        await stage.agree()
    except WrongBook as error:
        verdict = _failed(stage, accident, after(), error)
        await stage.forget()
        return verdict
    except (Inconclusive, *_NOT_THE_CLIENT) as error:
        with suppress(*_NOT_THE_CLIENT):  # what does not answer now is reported by the next accident
            await stage.forget()  # what was lost halfway would be noticed by that one alone
        return Verdict(accident.name, "inconclusive", after(), _said(error))
    return Verdict(accident.name, "passed", after())


def _failed(stage: Stage, accident: Accident, seconds: float, error: WrongBook, when: str = "") -> Verdict:
    wrong = tuple(_wrong(stage, each) for each in error.differences[:_SHOWN])
    return Verdict(accident.name, "failed", seconds, f"{when}{error}", wrong, len(error.differences))


def _wrong(stage: Stage, difference: Difference) -> Wrong:
    items = stage.evidence.about(*stage.texts(difference)) if difference.match else []
    return Wrong(difference.name, difference.yours, difference.ours, _lines(items))


def _said(error: Exception) -> str:
    """What the error says; of a refused request what the service has answered."""
    if isinstance(error, httpx.HTTPStatusError):
        return f"the service has answered {error.response.status_code}: {error.response.text[:300]}"
    return str(error) or type(error).__name__


def _lines(items: Sequence[object]) -> tuple[str, ...]:
    return tuple(str(item) for item in items)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")

"""PostgreSQL, Redis and RabbitMQ for the demo and the tests: found where the settings point, else private.

.venv/bin/python scripts/services.py start --dir var/dev     prints the settings to use
.venv/bin/python scripts/services.py stop  --dir var/dev     ends exactly what `start` started
"""

import argparse
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from app import settings
from app.broker.permissions import AuthorisationMode
from scripts.local_services import postgresql, processes, rabbitmq, valkey
from scripts.local_services import state as states
from scripts.local_services.certificates import ensure_certificate
from scripts.local_services.output import print_line
from scripts.local_services.processes import ServiceError
from scripts.local_services.state import State

Notify = Callable[[str], None]
#: Set where the settings lead to servers that somebody else looks after: nothing is started or ended then.
SHARED = "MATCHFEED_SERVICES"
#: For what these scripts and tests start; the service has no such settings.
AMQPS_URL, TLS_DIRECTORY = "MATCHFEED_AMQPS_URL", "MATCHFEED_TLS_DIRECTORY"
#: Where benchmarks start what does not run yet; they run one after the other.
BENCHMARKS = Path(__file__).resolve().parents[1] / "var" / "bench"


class Services(msgspec.Struct, frozen=True):
    """Where the three servers are. `database_url` names a database that exists, to create others from.

    `amqps_url` is where existing odds-feed clients reach the broker, without a login; empty where the broker
    is somebody else's. `tls_directory` has the certificate of this machine (`certificates`).
    """

    database_url: str
    redis_url: str
    rabbitmq_url: str
    rabbitmq_api_url: str
    broker_authorisation: AuthorisationMode = "http"
    amqps_url: str = ""
    tls_directory: str = ""

    def environment(self) -> dict[str, str]:
        """The settings' variables that lead a process of ours to these servers."""
        broker = urlsplit(self.rabbitmq_url)
        return {
            "DATABASE_URL": self.database_url,
            "REDIS_URL": self.redis_url,
            "RABBITMQ_URL": self.rabbitmq_url,
            "RABBITMQ_API_URL": self.rabbitmq_api_url,
            "RABBITMQ_PUBLIC_HOST": f"{broker.hostname}:{broker.port or 5672}",
            "BROKER_AUTHORISATION": self.broker_authorisation,
            AMQPS_URL: self.amqps_url,
            TLS_DIRECTORY: self.tls_directory,
        }


class KeyStore(msgspec.Struct, frozen=True):
    """Where API keys are: the name of the database, and the secret of their hashes."""

    database: str
    secret_key: str

    def environment(self, server_url: str) -> dict[str, str]:
        """The settings' variables that lead to them on this PostgreSQL."""
        url = postgresql.named(server_url, self.database)
        return {"DATABASE_URL": url, "SECRET_KEY": self.secret_key}


def start(
    directory: Path,
    wanted: Services,
    notify: Notify = print_line,
    *,
    keys: KeyStore | None = None,
    schedulers: int | None = None,
) -> Services:
    """The servers to use: the wanted ones where they answer, private ones under `directory` elsewhere.

    What an earlier call started there and still runs is used again. With `keys`, those may log in at a
    private broker; `schedulers` are its own (0: Erlang's default; None: half of the cores). Raises
    `ServiceError` with one clear line; then nothing that this call started is left running.
    """
    with starting(directory, wanted, notify, keys=keys, schedulers=schedulers) as found:
        return found


@contextmanager
def starting(
    directory: Path,
    wanted: Services,
    notify: Notify = print_line,
    *,
    keys: KeyStore | None = None,
    schedulers: int | None = None,
) -> Iterator[Services]:
    """As `start`, for a caller that has something to do which needs no broker: a private one boots during the
    block, and answers when it ends. A block that fails is a failed start."""
    directory = directory.resolve()
    with states.locked(directory):
        state = states.load(directory)
        state.processes = [started for started in state.processes if processes.find(started)]
        states.save(directory, state)
        before = list(state.processes)
        try:
            certificate = ensure_certificate(directory / "tls")
            database_url = _postgresql(directory, wanted, state, notify)
            redis_url = _redis(directory, wanted, state, notify)
            options = rabbitmq.Options(certificate, keys.environment(database_url) if keys else {})
            if schedulers is not None:
                options = msgspec.structs.replace(options, schedulers=schedulers)
            broker = _rabbitmq(directory, wanted, state, options, notify)
            urls = broker.urls if isinstance(broker, rabbitmq.Booting) else broker
            yield Services(
                database_url,
                redis_url,
                urls.url,
                urls.api_url,
                amqps_url=urls.amqps_url,
                tls_directory=str(certificate.authority.parent),
            )
            if isinstance(broker, rabbitmq.Booting):
                broker.wait()
        except BaseException:
            processes.stop(started for started in state.processes if started not in before)
            state.processes = before
            states.save(directory, state)
            raise


def stop(directory: Path, notify: Notify = print_line) -> None:
    """End what `start` started under `directory`, and nothing else."""
    directory = directory.resolve()
    if not (directory / "services.json").exists():
        return
    with states.locked(directory):
        state = states.load(directory)
        running = [started for started in state.processes if processes.find(started)]
        if running:
            notify(f"stopping {', '.join(started.name for started in running)}")
        for name in processes.stop(running):
            notify(f"{name} did not end by itself and was killed")
        state.processes = []
        states.save(directory, state)


@contextmanager
def running(directory: Path) -> Iterator[None]:
    """For a benchmark: within the block the settings of this process, and of those that it starts, lead to
    servers that answer. Those that had to be started under `directory` end with it, by SIGTERM too."""
    if os.environ.get(SHARED):
        yield
        return
    before = dict(os.environ)
    ended = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        os.environ.update(start(directory, wanted(), _on_stderr).environment())
        yield
    except ServiceError as error:
        raise SystemExit(f"services: {error}") from error
    finally:
        with _uninterrupted():
            stop(directory, _on_stderr)
        signal.signal(signal.SIGTERM, ended)
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Within the block SIGTERM and Ctrl-C change nothing: a second one would leave what is being ended."""
    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _on_stderr(line: str) -> None:
    """Lines about started servers go to standard error, tables to standard output."""
    print(line, file=sys.stderr, flush=True)


def lost(directory: Path) -> list[str]:
    """The names of private servers that were started under `directory` and have died."""
    return [started.name for started in states.load(directory).processes if not processes.find(started)]


def _private(state: State, name: str) -> bool:
    return any(started.name == name for started in state.processes)


def _postgresql(directory: Path, wanted: Services, state: State, notify: Notify) -> str:
    if _private(state, "postgresql"):
        return state.private["DATABASE_URL"]
    if postgresql.usable(wanted.database_url):
        notify(f"PostgreSQL: using the one at {_where(wanted.database_url)}")
        return wanted.database_url
    return postgresql.start(directory, state, notify)


def _redis(directory: Path, wanted: Services, state: State, notify: Notify) -> str:
    if _private(state, "redis"):
        return state.private["REDIS_URL"]
    if valkey.usable(wanted.redis_url):
        notify(f"Redis: using the one at {_where(wanted.redis_url)}")
        return wanted.redis_url
    return valkey.start(directory, state, notify)


def _rabbitmq(
    directory: Path, wanted: Services, state: State, options: rabbitmq.Options, notify: Notify
) -> rabbitmq.BrokerUrls | rabbitmq.Booting:
    if _private(state, "rabbitmq"):
        private = state.private
        urls = rabbitmq.BrokerUrls(
            private["RABBITMQ_URL"], private["RABBITMQ_API_URL"], private.get(AMQPS_URL, "")
        )
        rabbitmq.authorise(directory, state, urls.api_url, options.keys)
        return urls
    if rabbitmq.usable(wanted.rabbitmq_url, wanted.rabbitmq_api_url, wanted.broker_authorisation, notify):
        notify(f"RabbitMQ: using the one at {_where(wanted.rabbitmq_url)}")
        return rabbitmq.BrokerUrls(wanted.rabbitmq_url, wanted.rabbitmq_api_url, wanted.amqps_url)
    return rabbitmq.begin(directory, state, options, notify)


def _where(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2]


def main(arguments: list[str] | None = None) -> None:
    """The command line; exits 1 with one line when something must be done by a person first."""
    parser = argparse.ArgumentParser(description="Servers for the demo and the tests")
    parser.add_argument("command", choices=("start", "stop"))
    parser.add_argument("--dir", type=Path, required=True, help="where private servers keep their files")
    options = parser.parse_args(arguments)
    try:
        if options.command == "stop":
            stop(options.dir)
            return
        found = start(options.dir, wanted(), _on_stderr)
    except ServiceError as error:
        raise SystemExit(f"services: {error}") from error
    for name, value in found.environment().items():
        print(f"{name}={value}")


def wanted() -> Services:
    """The servers that the settings name."""
    present = settings.load()
    return Services(
        present.database_url,
        present.redis_url,
        present.rabbitmq_url,
        present.rabbitmq_api_url,
        present.broker_authorisation,
        os.environ.get(AMQPS_URL, ""),
        os.environ.get(TLS_DIRECTORY, ""),
    )


if __name__ == "__main__":
    main()

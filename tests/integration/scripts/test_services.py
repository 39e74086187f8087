"""Private servers of a directory: started where nothing answers, used again, ended without a trace."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from socketserver import BaseRequestHandler, TCPServer
from threading import Thread

import msgspec
import pytest
import redis

from scripts import services as servers
from scripts.local_services import ports, postgresql, processes, rabbitmq
from scripts.local_services import state as states
from scripts.local_services.processes import ServiceError
from scripts.services import Services

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def wanted(services: Services) -> Services:
    """PostgreSQL and Redis where nothing answers; the broker of this run."""
    [database, counters] = ports.free_ports([0, 0])
    return Services(
        f"postgresql://postgres@127.0.0.1:{database}/matchfeed",
        f"redis://127.0.0.1:{counters}/0",
        services.rabbitmq_url,
        services.rabbitmq_api_url,
    )


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "servers"
    servers.stop(tmp_path / "servers")


def test_private_servers_live_and_die_with_their_directory(wanted: Services, directory: Path) -> None:
    printed: list[str] = []
    found = servers.start(directory, wanted, printed.append)
    running = states.load(directory).processes
    assert [started.name for started in running] == ["postgresql", "redis"]
    assert found.rabbitmq_url == wanted.rabbitmq_url
    assert asyncio.run(postgresql.value(found.database_url, "SELECT 1")) == 1
    with redis.Redis.from_url(found.redis_url) as client:
        assert client.ping()

    assert servers.start(directory, wanted, printed.append) == found
    assert states.load(directory).processes == running
    assert servers.lost(directory) == []

    servers.stop(directory, printed.append)
    assert [started.name for started in running if processes.find(started)] == []
    assert printed[-1] == "stopping postgresql, redis"


_BENCHMARK = """
import signal, sys
from pathlib import Path
from scripts import services

with services.running(Path(sys.argv[1])):
    print("running", flush=True)
    signal.pause()
"""


def test_servers_of_a_benchmark_end_when_it_is_ended(wanted: Services, directory: Path) -> None:
    environment = os.environ | wanted.environment() | {"PYTHONPATH": str(ROOT)}
    environment.pop(servers.SHARED, None)
    command = [sys.executable, "-c", _BENCHMARK, str(directory)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as benchmark:
        assert benchmark.stdout is not None
        assert benchmark.stdout.readline() == "running\n"
        started = states.load(directory).processes
        benchmark.terminate()
    assert [each.name for each in started] == ["postgresql", "redis"]
    assert [each.name for each in started if processes.find(each)] == []


def test_a_server_that_died_is_missed_and_started_again_at_its_place(
    wanted: Services, directory: Path
) -> None:
    found = servers.start(directory, wanted, print)
    [_, counters] = states.load(directory).processes
    processes.stop([counters])
    assert servers.lost(directory) == ["redis"]
    assert servers.start(directory, wanted, print) == found
    assert servers.lost(directory) == []


def test_a_failed_start_leaves_nothing(
    wanted: Services, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nowhere() -> Path:
        raise ServiceError("no Redis found")

    monkeypatch.setattr("scripts.local_services.valkey.binary", nowhere)
    with pytest.raises(ServiceError, match="no Redis found"):
        servers.start(directory, wanted, print)
    state = states.load(directory)
    assert state.processes == []
    assert ports.is_free(state.ports["postgresql"])


def test_what_a_caller_does_meanwhile_is_a_part_of_the_start(wanted: Services, directory: Path) -> None:
    with pytest.raises(ZeroDivisionError), servers.starting(directory, wanted, print):
        assert [started.name for started in states.load(directory).processes] == ["postgresql", "redis"]
        raise ZeroDivisionError
    state = states.load(directory)
    assert state.processes == []
    assert ports.is_free(state.ports["postgresql"])


def test_a_private_broker_is_waited_for_after_what_a_caller_does_meanwhile(
    services: Services, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []
    urls = rabbitmq.BrokerUrls(services.rabbitmq_url, services.rabbitmq_api_url, "")
    ourselves = processes.Started("rabbitmq", os.getpid(), processes.start_ticks(os.getpid()))
    booting = rabbitmq.Booting(urls, ourselves, 0, directory / "log")
    monkeypatch.setattr(rabbitmq, "usable", lambda *_: False)
    monkeypatch.setattr(rabbitmq, "begin", lambda *_: booting)
    monkeypatch.setattr(rabbitmq.Booting, "wait", lambda _: happened.append("answers"))
    with servers.starting(directory, services, print) as found:
        happened.append(found.rabbitmq_url)
    assert happened == [services.rabbitmq_url, "answers"]


def test_a_broker_that_ends_while_it_boots_is_one_clear_line(directory: Path) -> None:
    log = directory / "rabbitmq.log"
    ended = processes.launch("rabbitmq", ["false"], log)
    booting = rabbitmq.Booting(rabbitmq.BrokerUrls("", "http://127.0.0.1:1", ""), ended, 1, log)
    with pytest.raises(ServiceError, match="RabbitMQ did not start"):
        booting.wait()


def test_a_server_that_is_no_postgresql_is_one_clear_line(wanted: Services, directory: Path) -> None:
    with TCPServer((ports.LOOPBACK, 0), BaseRequestHandler) as stranger:
        Thread(target=stranger.serve_forever, args=(0.05,)).start()
        port = stranger.server_address[1]
        other = msgspec.structs.replace(wanted, database_url=f"postgresql://postgres@127.0.0.1:{port}/x")
        with pytest.raises(ServiceError, match=f"PostgreSQL at 127.0.0.1:{port} refuses us"):
            servers.start(directory, other, print)
        stranger.shutdown()

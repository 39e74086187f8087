"""RabbitMQ for an ordinary user: Debian's packages, downloaded and unpacked, run as those of the machine."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import aio_pika
import pytest

from scripts import services as servers
from scripts.local_services import ports, rabbitmq, rabbitmq_package
from scripts.services import Services

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not shutil.which("dpkg-deb"), reason="no dpkg-deb: not a Debian"),
]


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(rabbitmq_package, "_SERVER", tmp_path / "not" / "installed")
    monkeypatch.setattr(rabbitmq_package, "_UNPACKED", tmp_path / "packages")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    yield tmp_path / "servers"
    servers.stop(tmp_path / "servers")


def test_an_unpacked_broker_runs_from_where_it_was_unpacked(
    services: Services, directory: Path, tmp_path: Path
) -> None:
    [amqp, api] = ports.free_ports([0, 0])
    wanted = Services(
        services.database_url,
        services.redis_url,
        f"amqp://guest:guest@127.0.0.1:{amqp}",
        f"http://guest:guest@127.0.0.1:{api}",
    )
    found = servers.start(directory, wanted, print)

    async def log_in() -> None:
        async with await aio_pika.connect(found.rabbitmq_url) as connection:
            await connection.channel()

    asyncio.run(log_in())
    programs = Path(rabbitmq.control(directory, "eval", "code:root_dir().").strip().strip('"'))
    assert tmp_path in programs.parents

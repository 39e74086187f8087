"""A certification that is ended while it runs leaves nothing behind: no process, no database, no vhost."""

import asyncio
import sys
from pathlib import Path
from secrets import token_hex
from urllib.parse import urlsplit

import asyncpg
import psutil
import pytest

from app.broker.management import Management
from app.settings import Settings
from scripts import services
from tests.certification.runs import CLIENT, client_environment
from tests.support.eventually import eventually
from tests.support.lengths import short_then_long
from tests.support.processes import ROOT, environment

_SERVICE = {"serve", "ingest", "feed"}
_CLIENT = "matchfeed_client.reporting"
_START_SECONDS, _END_SECONDS = 180.0, 120.0
_COMMAND = ("scripts/certify.py", "--channel", "http", "--client", CLIENT, "--only", "play")
_SESSION = ("-m", "tests.certification", "--seeds", "1", "--channels", "http")


def _started(process: asyncio.subprocess.Process) -> list[psutil.Process]:
    if process.returncode is not None:
        return []
    return list(psutil.Process(process.pid).children(recursive=True))


def _names(processes: list[psutil.Process]) -> set[str]:
    """Which of the service's processes and of the client's there are."""
    found = set[str]()
    for each in processes:
        try:
            found |= {*each.cmdline()} & {*_SERVICE, _CLIENT}
        except psutil.NoSuchProcess:
            continue
    return found


def _made(processes: list[psutil.Process]) -> set[str]:
    """The names of the database and of the vhosts that the certification has made."""
    [serve] = [each for each in processes if "serve" in each.cmdline()]
    variables = serve.environ()
    vhost = variables["RABBITMQ_INTERNAL_VHOST"]
    return {urlsplit(variables["DATABASE_URL"]).path[1:], vhost, vhost.removeprefix("matchfeed-")}


async def _present(settings: Settings) -> set[str]:
    """The names of all databases and vhosts."""
    connection = await asyncpg.connect(settings.database_url)
    try:
        rows = await connection.fetch("SELECT datname FROM pg_database")
    finally:
        await connection.close()
    async with Management(settings.rabbitmq_api_url) as management:
        return {row["datname"] for row in rows} | set(await management.vhosts())


@pytest.mark.parametrize(
    "command", short_then_long([_COMMAND, _SESSION], ids=["scripts/certify", "tests.certification"])
)
async def test_sigterm_ends_the_service_and_the_client(
    settings: Settings, tmp_path: Path, command: tuple[str, ...]
) -> None:
    log = tmp_path / "log"
    if command is _COMMAND:
        tenant = f"certification-{token_hex(3)}"
        command = (*command, "--tenant", tenant, "--output", str(tmp_path / "output"))
    with log.open("wb") as sink:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, *command),
            cwd=ROOT,
            env=client_environment({**environment(settings), services.SHARED: "1"}),
            stdout=sink,
            stderr=sink,
        )
    started = list[psutil.Process]()
    try:
        started = await eventually(
            lambda: _started(process),
            lambda found: _names(found) == {*_SERVICE, _CLIENT} or process.returncode is not None,
            _START_SECONDS,
            every=0.5,  # all processes of the machine are looked at
        )
        assert process.returncode is None, log.read_text()
        made = _made(started)
        assert made <= await _present(settings)
        process.terminate()
        async with asyncio.timeout(_END_SECONDS):
            status = await process.wait()
        _, left = psutil.wait_procs(started, timeout=0)
    finally:
        for each in [*started, *_started(process)]:
            if each.is_running():
                each.kill()
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert (status, left) == (1, []), log.read_text()
    assert "certification was ended by SIGTERM" in log.read_text()
    assert made.isdisjoint(await _present(settings))

"""A PostgreSQL primary and a standby that follows it, of a test's own: the standby can lag and take over.

Both are started from copies of two directories that are made once in a session (`made_data`).
"""

import asyncio
import shutil
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import asyncpg
import psutil

from app.store.migrations import migrate
from scripts.local_services import ports, postgresql
from scripts.local_services.processes import Started, find, identity, last_words, launch, stop

_PASSWORD = "of-this-test"
#: Nothing here survives a crash of the machine, or has to.
_OPTIONS = ("fsync=off", "full_page_writes=off", "unix_socket_directories=", "log_min_messages=warning")
_STANDBY = "standby"
#: Where a connection is cancelled while it asks for TLS, asyncpg leaves an error that nobody retrieves, and
#: the test fails with it.
_WITHOUT_TLS = "sslmode=disable"
_SECONDS = 30.0


class Server:
    """One server, with its data under `directory`."""

    def __init__(self, directory: Path) -> None:
        self.home, self._log = directory / "data", directory / "server.log"
        [self.port] = ports.free_ports([0])
        self._user, self._binaries = postgresql.owner(), postgresql.program_directory()
        self._prefix = postgresql.command_prefix(self._user, self.home, self._binaries)
        self._started: Started | None = None

    def url(self, database: str = "matchfeed") -> str:
        return f"postgresql://postgres:{_PASSWORD}@127.0.0.1:{self.port}/{database}?{_WITHOUT_TLS}"

    def initialise(self) -> None:
        postgresql.initialise(self.home, self._binaries, _PASSWORD, self._prefix, self._user)

    def copy_from(self, home: Path) -> None:
        shutil.copytree(home, self.home)
        if self._user is not None:
            for each in (self.home, *self.home.rglob("*")):
                shutil.chown(each, self._user)

    async def start(self) -> None:
        command = [*self._prefix, self._binaries / "postgres", "-D", self.home]
        for option in (f"port={self.port}", "listen_addresses=127.0.0.1", *_OPTIONS):
            command += ["-c", option]
        user = None if self._prefix else self._user
        self._started = launch(
            f"postgresql on {self.port}", command, self._log, user=user, ending=signal.SIGINT
        )
        async with asyncio.timeout(_SECONDS):
            while not await self._answers():
                assert find(self._started), last_words(self._log)
                await asyncio.sleep(0.05)

    def kill(self) -> None:
        """At once, and every process of it."""
        if self._started and (process := find(self._started)):
            for each in (process, *process.children(recursive=True)):
                with suppress(psutil.NoSuchProcess):
                    each.kill()
            self.end()

    def end(self) -> None:
        """In good order: its data may be copied then."""
        if self._started:
            stop([self._started])

    def run(self, program: str, *arguments: str) -> None:
        """One of PostgreSQL's programs, as the server's user."""
        command = [*map(str, self._prefix), str(self._binaries / program), *arguments]
        options: dict[str, Any] = identity(None if self._prefix else self._user)
        done = subprocess.run(command, capture_output=True, text=True, cwd="/", check=False, **options)
        assert done.returncode == 0, done.stderr

    async def execute(self, statement: str) -> object:
        connection = await asyncpg.connect(self.url("postgres"), timeout=5)
        try:
            return await connection.fetchval(statement)
        finally:
            await connection.close()

    async def until(self, true: str) -> None:
        async with asyncio.timeout(_SECONDS):
            while not await self.execute(true):
                await asyncio.sleep(0.02)

    async def _answers(self) -> bool:
        with suppress(OSError, asyncpg.PostgresError):
            await self.execute("SELECT 1")
            return True
        return False


class Pair:
    """The servers, made from `data` (see `made_data`). `url` names both, `primary` first."""

    def __init__(self, data: Path, directory: Path) -> None:
        self.primary, self.standby = Server(directory / "primary"), Server(directory / "standby")
        self._data = data

    @property
    def url(self) -> str:
        servers = f"127.0.0.1:{self.primary.port},127.0.0.1:{self.standby.port}"
        return f"postgresql://postgres:{_PASSWORD}@{servers}/matchfeed?{_WITHOUT_TLS}"

    async def start(self, *, synchronous: bool) -> None:
        """With synchronous replication commits wait for the standby."""
        self.primary.copy_from(self._data / "primary" / "data")
        self.standby.copy_from(self._data / "standby" / "data")
        with (self.standby.home / "postgresql.auto.conf").open("a") as file:
            file.write(f"primary_conninfo = '{_connection(self.primary)}'\n")
        await self.primary.start()
        await self.standby.start()
        if synchronous:
            await self.primary.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{_STANDBY}'")
            await self.primary.execute("SELECT pg_reload_conf()")
            await self.primary.until("SELECT sync_state = 'sync' FROM pg_stat_replication")

    async def lag(self) -> None:
        """The standby has everything so far, and receives nothing more."""
        await self.primary.until(
            "SELECT replay_lsn = pg_current_wal_lsn() FROM pg_stat_replication WHERE state = 'streaming'"
        )
        await self.standby.execute("ALTER SYSTEM SET primary_conninfo = ''")
        await self.standby.execute("SELECT pg_reload_conf()")
        await self.primary.until("SELECT count(*) = 0 FROM pg_stat_replication")

    async def promote(self) -> None:
        """The standby becomes a primary."""
        await self.standby.execute("SELECT pg_promote(true, 30)")


@contextmanager
def made_data() -> Iterator[Path]:
    """A migrated primary's data, and that of a standby of it."""
    with _directory() as directory:
        asyncio.run(_make_data(directory))
        yield directory


@asynccontextmanager
async def pair(data: Path, *, synchronous: bool) -> AsyncIterator[Pair]:
    """Both servers, running; gone afterwards."""
    with _directory() as directory:
        found = Pair(data, directory)
        try:
            await found.start(synchronous=synchronous)
            yield found
        finally:
            found.primary.kill()
            found.standby.kill()


async def _make_data(directory: Path) -> None:
    primary, standby = Server(directory / "primary"), Server(directory / "standby")
    primary.initialise()
    await primary.start()
    try:
        await migrate(primary.url())
        standby.home.mkdir(parents=True, mode=0o700)
        if (user := postgresql.owner()) is not None:
            shutil.chown(standby.home, user)
        how = ("--write-recovery-conf", "--checkpoint=fast", "--no-sync")
        standby.run("pg_basebackup", "-D", str(standby.home), "-d", _connection(primary), *how)
    finally:
        primary.end()


def _connection(primary: Server) -> str:
    where = f"host=127.0.0.1 port={primary.port} user=postgres password={_PASSWORD}"
    return f"{where} application_name={_STANDBY}"


@contextmanager
def _directory() -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(prefix="matchfeed-standby-"))
    directory.chmod(0o755)
    try:
        yield directory
    finally:
        shutil.rmtree(directory)

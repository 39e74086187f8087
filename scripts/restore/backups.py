"""The two ways to back up PostgreSQL, with its own programs: a dump, and a base backup with archived WAL."""

import asyncio
import os
import shutil
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from scripts.local_services import postgresql
from scripts.local_services import state as states
from scripts.local_services.output import print_line
from scripts.local_services.processes import output_of

ARCHIVE_SECONDS = 5  #: so much of the WAL may be in no archive yet


class Backup(Protocol):
    """One way. `seconds` it took, `size` in bytes."""

    seconds: float
    size: int

    async def take(self) -> None: ...

    async def mark_end(self) -> None:
        """What is committed from now on need not be restored."""

    async def restore(self) -> str:
        """Restore into another database; its URL."""


def archiving(directory: Path) -> Sequence[str]:
    """Settings of a server that archives its WAL there."""
    directory.mkdir(parents=True, exist_ok=True)
    _give(directory)
    return (
        "archive_mode=on",
        f"archive_timeout={ARCHIVE_SECONDS}",
        f"archive_command=test ! -f {directory}/%f && cp %p {directory}/%f",
    )


class Dump:
    """`pg_dump` and `pg_restore`, into another database of the same server."""

    def __init__(self, database_url: str, directory: Path) -> None:
        self._url, self._file = database_url, directory / "matchfeed.dump"
        self.seconds, self.size = 0.0, 0

    async def take(self) -> None:
        began = time.monotonic()
        await _run("pg_dump", "--format=custom", f"--file={self._file}", self._url)
        self.seconds, self.size = time.monotonic() - began, self._file.stat().st_size

    async def mark_end(self) -> None:
        """A dump has one moment, when it begins."""

    async def restore(self) -> str:
        name = f"{urlsplit(self._url).path.lstrip('/')}_restored"
        await postgresql.value(postgresql.named(self._url, "postgres"), f'CREATE DATABASE "{name}"')
        url = postgresql.named(self._url, name)
        await _run(
            "pg_restore", "--exit-on-error", "--no-owner", "--jobs=2", f"--dbname={url}", str(self._file)
        )
        return url


class BaseBackup:
    """`pg_basebackup`, and recovery from the archived WAL to a moment after it, by another server under
    `directory`."""

    def __init__(self, database_url: str, archive: Path, directory: Path) -> None:
        self._url, self._archive, self._directory = database_url, archive, directory
        self._home = directory / "postgresql"
        self._until: datetime | None = None
        self.seconds, self.size = 0.0, 0

    async def take(self) -> None:
        began = time.monotonic()
        server = postgresql.named(self._url, "postgres")
        await _run(
            "pg_basebackup", "--checkpoint=fast", f"--pgdata={self._home}", f"--dbname={server}", "--no-sync"
        )
        self.seconds = time.monotonic() - began
        self.size = sum(each.stat().st_size for each in self._home.rglob("*") if each.is_file())

    async def mark_end(self) -> None:
        self._until = (await postgresql.value(self._url, "SELECT clock_timestamp()")).astimezone(UTC)

    async def restore(self) -> str:
        assert self._until
        (self._home / "recovery.signal").touch()
        _give(self._home)
        with states.locked(self._directory):
            state = states.load(self._directory)
            state.passwords["postgresql"] = urlsplit(self._url).password or ""
            settings = (
                f"restore_command=cp {self._archive}/%f %p",
                f"recovery_target_time={self._until.isoformat()}",
                "recovery_target_action=promote",
                "archive_mode=off",
            )
            server = await asyncio.to_thread(postgresql.start, self._directory, state, print_line, settings)
        url = postgresql.named(server, urlsplit(self._url).path.lstrip("/"))
        async with asyncio.timeout(60):
            while await postgresql.value(url, "SELECT pg_is_in_recovery()"):
                await asyncio.sleep(0.1)
        return url


async def _run(program: str, *arguments: str) -> None:
    """Run one of PostgreSQL's programs; raises `ServiceError` with its complaint when it fails."""
    await asyncio.to_thread(output_of, program, [str(postgresql.program_directory() / program), *arguments])


def _give(directory: Path) -> None:
    """Give a directory to the user that PostgreSQL runs as, where that is not ours."""
    user = postgresql.owner()
    if user is None:
        return
    for path in (directory, *directory.rglob("*")):
        shutil.chown(path, user)
    os.chmod(directory, 0o700)

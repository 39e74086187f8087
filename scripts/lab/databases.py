"""PostgreSQL: a primary and a standby that follows it by streaming replication, and its promotion."""

import os
import pwd
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

from scripts.lab.hosts import DATABASES, Hosts
from scripts.lab.record import HOME, Record, log_of
from scripts.local_services.postgresql import command_prefix, initialise, owner, program_directory
from scripts.local_services.processes import ServiceError, await_start, output_of

_PORT = 5432
_NAME = "matchfeed"
_SECONDS = 60.0
#: No host of this cluster ever loses power.
_OPTIONS = (
    "fsync=off",
    "full_page_writes=off",
    "max_connections=200",
    "unix_socket_directories=",
    "wal_keep_size=512MB",
    "log_min_messages=warning",
)


def url(record: Record) -> str:
    """The service's `DATABASE_URL`, which names both servers."""
    servers = ",".join(f"{record.hosts.address(host)}:{_PORT}" for host in DATABASES)
    return f"postgresql://postgres:{record.passwords['postgresql']}@{servers}/{_NAME}"


def start(record: Record, host: str, notify: Callable[[str], None]) -> None:
    """Start a server with the data that it has. Without any, the primary's is made, and the standby's is a
    copy of the primary's."""
    binaries, user, home = program_directory(), owner(), _data(host)
    prefix = _as_user(user, home, binaries)
    if not (home / "PG_VERSION").exists():
        if host == record.primary:
            initialise(home, binaries, record.passwords["postgresql"], prefix, user)
            _admit(home, record.hosts)
        else:
            notify(f"copying {record.primary}'s database to {host}")
            copy(record, host)
    options = [f"listen_addresses={record.hosts.address(host)}", f"port={_PORT}", *_OPTIONS]
    options.append(f"cluster_name={host}")
    command: list[str | Path] = [*prefix, binaries / "postgres", "-D", home]
    for option in options:
        command += ["-c", option]
    started = record.launch(host, "postgresql", command, ending=signal.SIGINT)
    name = f"PostgreSQL on {host}"
    await_start(name, started, log_of(host), lambda: _answers(record, host), seconds=_SECONDS)
    if record.synchronous and host != record.primary:
        _wait_for(record, record.primary, host)


def promote(record: Record) -> str:
    """Make the standby the primary; the host that it is on. The former primary must be down or cut off, and
    no commit waits for it; with synchronous replication commits wait again once it follows."""
    (standby,) = [host for host in DATABASES if host != record.primary]
    if record.synchronous:
        _wait_for(record, standby, "")
    run(record, standby, "SELECT pg_promote(true, 60)")
    record.primary = standby
    record.save()
    return standby


def follow(record: Record, notify: Callable[[str], None]) -> None:
    """Have the other host follow the primary, with a copy of its data; what runs there is killed."""
    (former,) = [host for host in DATABASES if host != record.primary]
    record.kill(former)
    copy(record, former)
    start(record, former, notify)


def _wait_for(record: Record, host: str, standby: str) -> None:
    """Have commits on a host's server wait for that standby, "" for none."""
    run(record, host, f"ALTER SYSTEM SET synchronous_standby_names = '{standby}'")
    run(record, host, "SELECT pg_reload_conf()")


def copy(record: Record, host: str) -> None:
    """Copy the primary's data to `host`, which is to follow it."""
    binaries, user, home = program_directory(), owner(), _data(host)
    shutil.rmtree(home, ignore_errors=True)
    home.parent.mkdir(parents=True, exist_ok=True)
    home.mkdir(mode=0o700)
    if user is not None:
        shutil.chown(home, user)
    prefix = _as_user(user, home, binaries)
    primary = record.hosts.address(record.primary)
    where = f"host={primary} port={_PORT} user=postgres application_name={host}"
    command: list[str | Path] = [*prefix, binaries / "pg_basebackup", "-D", home, "-d", where]
    command += ["--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast", "--no-sync"]
    _run(record, host, command)


def run(record: Record, host: str, statement: str, database: str = "postgres") -> str:
    """Run a statement on a host's server; its output, unaligned."""
    server = f"host={record.hosts.address(host)} port={_PORT} user=postgres"
    where = f"{server} dbname={database} connect_timeout=3"
    command: list[str | Path] = [program_directory() / "psql", "--no-psqlrc", "--no-align", "--tuples-only"]
    command += ["-v", "ON_ERROR_STOP=1", "-d", where, "-c", statement]
    return _run(record, host, command).strip()


def _answers(record: Record, host: str) -> bool:
    try:
        return run(record, host, "SELECT 1") == "1"
    except ServiceError:
        return False


def _run(record: Record, host: str, command: list[str | Path]) -> str:
    return output_of(
        f"{Path(command[-1]).name} on {host}",
        record.hosts.inside(host, command),
        environment={**os.environ, "PGPASSWORD": record.passwords["postgresql"]},
        directory="/",
    )


def _admit(home: Path, hosts: Hosts) -> None:
    """Let every host log in, and replicate."""
    network = f"{hosts.address(DATABASES[0]).rpartition('.')[0]}.0/24"
    with (home / "pg_hba.conf").open("a") as file:
        for database in ("all", "replication"):
            file.write(f"host {database} all {network} scram-sha-256\n")


def _as_user(user: str | None, *paths: Path) -> list[str]:
    """The command prefix with which root runs PostgreSQL's programs as `user`, on whichever host."""
    if user is None:
        return []
    plain = ["setpriv", "--reuid", user, "--regid", str(pwd.getpwnam(user).pw_gid), "--clear-groups", "--"]
    return command_prefix(user, *paths) or plain


def _data(host: str) -> Path:
    return HOME / host / "data"

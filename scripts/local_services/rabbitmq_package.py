"""RabbitMQ's binaries: Debian's package, installed here when we are root and it is missing."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from .processes import ServiceError

_SERVER = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
_POLICY = Path("/usr/sbin/policy-rc.d")
_HOW = (
    "install it (Debian, as root: apt-get install rabbitmq-server) or set RABBITMQ_URL and RABBITMQ_API_URL"
)


def ensure_installed(notify: Callable[[str], None]) -> Path:
    """The broker's start script; installs Debian's package first when that is possible and needed."""
    if not _SERVER.exists():
        if os.geteuid() != 0 or shutil.which("apt-get") is None:
            raise ServiceError(f"RabbitMQ is not on this machine; {_HOW}")
        notify("installing RabbitMQ (Debian package rabbitmq-server), about a minute")
        _install()
    if not list(_SERVER.parents[1].glob("lib/rabbitmq_server-*/plugins/rabbitmq_management*")):
        raise ServiceError(
            f"RabbitMQ at {_SERVER.parents[1]} has no management plugin; install it with the plugin"
        )
    return _SERVER


def _install() -> None:
    before = set(psutil.pids())
    with _services_stay_down():
        done = _apt("install", "--no-install-recommends", "rabbitmq-server")
        if done.returncode:
            _apt("update")
            done = _apt("install", "--no-install-recommends", "rabbitmq-server")
    _end_strays(before)
    if done.returncode or not _SERVER.exists():
        errors = [line for line in done.stderr.splitlines() if line.strip()]
        raise ServiceError(
            f"apt-get could not install rabbitmq-server ({' '.join(errors[-2:])[-300:]}); {_HOW}"
        )


def _apt(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive", "ERL_EPMD_ADDRESS": "127.0.0.1"}
    return subprocess.run(
        ["apt-get", "-y", "-qq", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        start_new_session=True,  # a Ctrl-C meant for us must not leave a package half installed
        check=False,
    )


@contextmanager
def _services_stay_down() -> Iterator[None]:
    """Debian's own way to install a daemon without starting it, unless the machine has a policy already."""
    if _POLICY.exists():
        yield
        return
    _POLICY.write_text("#!/bin/sh\nexit 101\n")
    _POLICY.chmod(0o755)
    try:
        yield
    finally:
        _POLICY.unlink()


def _end_strays(before: set[int]) -> None:
    """End what the package's own scripts left running (an epmd, a broker), newer than `before`."""
    strays = [
        process
        for process in psutil.process_iter(["name", "pid"])
        if process.info["pid"] not in before and process.info["name"] in ("epmd", "beam.smp")
    ]
    for process in strays:
        process.terminate()
    _, stubborn = psutil.wait_procs(strays, timeout=20)
    for process in stubborn:
        process.kill()

"""RabbitMQ's programs: Debian's packages, installed here when we are root, else unpacked below `var/packages`
for this checkout alone."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import psutil

from . import debian_packages
from .processes import ServiceError

_SERVER = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
_ERLANG = Path("usr/lib/erlang")
_UNPACKED = Path(__file__).resolve().parents[2] / "var" / "packages" / "rabbitmq"
_OURS = re.compile(r"(rabbitmq-server|erlang-.*)$")
_POLICY = Path("/usr/sbin/policy-rc.d")
_HOW = (
    "install it (Debian, as root: apt-get install rabbitmq-server) or set RABBITMQ_URL and RABBITMQ_API_URL"
)


class Programs(msgspec.Struct, frozen=True):
    """Where RabbitMQ's scripts are, Erlang's programs, and libraries that the machine lacks; the last two are
    empty where they are the machine's own."""

    scripts: Path
    erlang: tuple[Path, ...] = ()
    libraries: tuple[Path, ...] = ()

    def environment(self) -> dict[str, str]:
        """The variables with which they find each other."""
        path = [*map(str, self.erlang), os.environ.get("PATH", os.defpath)]
        libraries = {"LD_LIBRARY_PATH": os.pathsep.join(map(str, self.libraries))} if self.libraries else {}
        return {"PATH": os.pathsep.join(path), **libraries}

    def port_mapper(self) -> Path:
        """Erlang's epmd."""
        if found := shutil.which("epmd", path=self.environment()["PATH"]):
            return Path(found)
        for found_at in Path("/usr/lib/erlang").glob("erts-*/bin/epmd"):
            return found_at
        raise ServiceError("RabbitMQ is installed, but Erlang's epmd is not to be found; install erlang-base")


def programs(notify: Callable[[str], None]) -> Programs:
    """RabbitMQ's programs on this machine, installed or unpacked first when they are missing."""
    if _SERVER.exists():
        found = Programs(_SERVER.parent)
    elif not debian_packages.available():
        raise ServiceError(f"RabbitMQ is not on this machine; {_HOW}")
    elif os.geteuid() == 0:
        notify("installing RabbitMQ (Debian package rabbitmq-server), about a minute")
        _install()
        found = Programs(_SERVER.parent)
    else:
        found = _unpacked(notify)
    if not list(found.scripts.parent.glob("lib/rabbitmq_server-*/plugins/rabbitmq_management*")):
        raise ServiceError(
            f"RabbitMQ at {found.scripts.parent} has no management plugin; install it with the plugin"
        )
    return found


def _unpacked(notify: Callable[[str], None]) -> Programs:
    """The programs of packages that are unpacked, not installed: an ordinary user's."""
    if not (_UNPACKED / "root").exists():
        notify(f"downloading RabbitMQ and Erlang (Debian packages, 34 MB) into {_UNPACKED}, about a minute")
    try:
        names = [] if (_UNPACKED / "root").exists() else _names()
        root = debian_packages.unpacked(_UNPACKED, names)
    except (debian_packages.PackageError, OSError) as error:
        raise ServiceError(
            f"RabbitMQ is not on this machine and cannot be downloaded ({error}); {_HOW}"
        ) from error
    erlang = root / _ERLANG
    binaries = (erlang / "bin", *erlang.glob("erts-*/bin"))
    for script in (path for directory in binaries for path in directory.iterdir()):
        _lead_to(script, erlang)
    libraries = sorted({path.parent for path in root.glob("**/*.so*") if erlang not in path.parents})
    return Programs(root / "usr/lib/rabbitmq/bin", binaries, tuple(libraries))


def _names() -> list[str]:
    names = debian_packages.missing(_UNPACKED, "rabbitmq-server", _OURS)
    if "rabbitmq-server" not in names:
        raise debian_packages.PackageError("apt-get knows no package rabbitmq-server")
    return names


def _lead_to(script: Path, erlang: Path) -> None:
    """Erlang's start scripts contain the place where its package installs it."""
    if script.is_symlink() or not script.is_file() or script.read_bytes()[:2] != b"#!":
        return
    text = script.read_text()
    changed = text.replace(f"ROOTDIR=/{_ERLANG}\n", f'ROOTDIR="{erlang}"\n')
    if changed != text:
        script.write_text(changed)


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

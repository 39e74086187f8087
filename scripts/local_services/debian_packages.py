"""Debian packages for an ordinary user: downloaded and unpacked below a directory, not installed.

apt verifies what it downloads as it does for an installation. Nothing outside the directory changes, and no
script of a package runs. Standard library only: `scripts/environment.sh` runs this file before there is a
`.venv`.

    python3 scripts/local_services/debian_packages.py DIRECTORY PACKAGE...
"""

import fcntl
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_STATUS = Path("/var/lib/dpkg/status")
_PACKAGE = re.compile(r"^Package: (.+)$", re.MULTILINE)
_TO_INSTALL = re.compile(r"^Inst (\S+)", re.MULTILINE)


class PackageError(Exception):
    """A package cannot be had; the text says why."""


def available() -> bool:
    """Whether this machine has Debian's tools."""
    return all(shutil.which(name) for name in ("apt-get", "dpkg-deb"))


def unpacked(directory: Path, packages: Sequence[str]) -> Path:
    """The root below `directory` with the files of these packages; downloads them once.

    Raises `PackageError`, and leaves nothing that looks complete.
    """
    root = directory / "root"
    with _locked(directory):
        if not root.exists():
            half = directory / "half"
            for leftover in (half, directory / "archives"):
                shutil.rmtree(leftover, ignore_errors=True)
            for archive in _downloaded(directory, packages):
                _run(["dpkg-deb", "--extract", str(archive), str(half)])
            half.rename(root)
            shutil.rmtree(directory / "archives")
    return root


def missing(directory: Path, package: str, ours: re.Pattern[str]) -> list[str]:
    """What an installation of `package` would install here if no package were installed whose name matches
    `ours`: those, and libraries that the machine lacks."""
    status = directory / "status"
    directory.mkdir(parents=True, exist_ok=True)
    status.write_text(without(_STATUS.read_text(errors="replace"), ours))
    arguments = ["install", "--simulate", "--no-install-recommends", package]
    shown = _apt(directory, [*arguments, "-o", f"Dir::State::status={status}"])
    names = _TO_INSTALL.findall(shown)
    return [name for name in names if ours.match(name) or name.startswith("lib")]


def without(status: str, ours: re.Pattern[str]) -> str:
    """dpkg's record of installed packages without those whose name matches."""
    entries = status.split("\n\n")
    kept = [entry for entry in entries if not ((name := _PACKAGE.search(entry)) and ours.match(name[1]))]
    return "\n\n".join(kept)


def _downloaded(directory: Path, packages: Sequence[str]) -> Iterator[Path]:
    archives = directory / "archives"
    archives.mkdir(parents=True)
    _apt(directory, ["download", *packages], archives)
    found = sorted(archives.glob("*.deb"))
    if len(found) != len(packages):
        raise PackageError(f"apt-get downloaded {len(found)} of {len(packages)} packages")
    yield from found


def _apt(directory: Path, arguments: Sequence[str], into: Path | None = None) -> str:
    """Run apt-get with the machine's package lists; with lists of our own when those are missing or old."""
    try:
        return _run(["apt-get", "-qq", "-y", *arguments], into)
    except PackageError:
        own = [
            *("-o", f"Dir::State={directory / 'lists'}", "-o", f"Dir::Cache={directory / 'cache'}"),
            *("-o", f"Dir::State::status={_STATUS}", "-o", "Debug::NoLocking=true"),
            *("-o", "APT::Sandbox::User="),
        ]
        for part in ("lists/lists/partial", "cache/archives/partial"):
            (directory / part).mkdir(parents=True, exist_ok=True)
        _run(["apt-get", "-qq", *own, "update"])
        return _run(["apt-get", "-qq", "-y", *own, *arguments], into)


def _run(command: Sequence[str], into: Path | None = None) -> str:
    done = subprocess.run(
        command,
        cwd=into,
        capture_output=True,
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode:
        raise PackageError(f"{command[0]} failed: {_reason(done.stderr)}")
    return done.stdout


def _reason(output: str) -> str:
    errors = [line for line in output.splitlines() if line.startswith(("E:", "dpkg"))]
    return " ".join(errors or output.split())[-300:] or "no output"


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """The demo and the tests may come at the same time."""
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _main(arguments: Iterable[str]) -> None:
    directory, *packages = arguments
    try:
        print(unpacked(Path(directory).resolve(), packages))
    except PackageError as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    _main(sys.argv[1:])

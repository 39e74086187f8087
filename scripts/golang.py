"""`python -m scripts.golang` builds the Go client's programs into `var/go/bin`. Where the machine has no
recent toolchain, a wheel provides one; the AMQP package is what Debian packages.
"""

import argparse
import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from scripts.local_services import debian_packages

ROOT = Path(__file__).resolve().parents[1]
CLIENT = ROOT / "scripts" / "clients" / "go"
_HERE = Path(__file__).parent
_PLACE = ROOT / "var" / "go"
_PROGRAMS = _PLACE / "bin"
_WHEEL = _PLACE / "python" / "go"
#: Most of the time goes into compiling Go's library, a third of that into optimisations that no test sees.
_UNOPTIMISED = "'-gcflags=all=-N -l' '-ldflags=-s -w'"
_OLDEST = (1, 23)  #: what go.mod says
_AMQP = "github.com/rabbitmq/amqp091-go"
_PACKAGE = f"golang-{_AMQP.replace('.com', '').replace('/', '-')}-dev"
_SOURCES = Path("usr/share/gocode/src")


def call(program: str, *arguments: str) -> str:
    """What `go` or `gofmt` prints in the client's directory. Raises `RuntimeError` with the end of it if it
    fails."""
    tool, modules = _prepared()
    environment = {
        "GOFLAGS": f"-modfile={modules} {_UNOPTIMISED}",
        "GOPROXY": "off",
        "GOTOOLCHAIN": "local",
        "GOPATH": str(_PLACE / "path"),
        "CGO_ENABLED": "0",  # with C, what is compiled depends on where the toolchain lies
        **_cache(),
    }
    with _alone():  # what one has compiled the next need not
        return _run(str(Path(tool).with_name(program)), *arguments, environment=environment)


def _cache() -> dict[str, str]:
    """Where compiled packages are kept: in the user's cache, so that a machine compiles Go's library once,
    and not once a checkout."""
    return {} if {"HOME", "XDG_CACHE_HOME"} & os.environ.keys() else {"GOCACHE": str(_PLACE / "cache")}


def built(packages: str = "./cmd/reporting") -> Path:
    """The directory with the client's programs, of which those in `packages` are built: `reporting`, which
    `matchfeed certify` runs, and the examples."""
    _PROGRAMS.mkdir(parents=True, exist_ok=True)
    call("go", "build", "-o", f"{_PROGRAMS}/", packages)
    return _PROGRAMS


@cache
def _prepared() -> tuple[str, Path]:
    """The tool, and a go.mod of ours that names the AMQP package where it is unpacked."""
    with _alone():
        return _tool(), _modules()


@contextmanager
def _alone() -> Iterator[None]:
    """Tests run side by side."""
    _PLACE.mkdir(parents=True, exist_ok=True)
    with (_PLACE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _tool() -> str:
    found = shutil.which("go")
    if found and _is_recent(_run(found, "env", "GOVERSION")):
        return found
    wanted, marker = _HERE / "golang.txt", _PLACE / "installed"
    if not marker.exists() or marker.read_text() != wanted.read_text():
        into = ("--upgrade", "--target", str(_PLACE / "python"))
        _run(sys.executable, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", str(wanted), *into)
        for program in (*(_WHEEL / "bin").iterdir(), *(_WHEEL / "pkg" / "tool").rglob("*")):
            program.chmod(0o755)
        marker.write_text(wanted.read_text())
    return str(_WHEEL / "bin" / "go")


def _is_recent(version: str) -> bool:
    """Whether the client can be built with it: `go1.27.3`."""
    major, minor = version.strip().removeprefix("go").split(".")[:2]
    return (int(major), int(minor)) >= _OLDEST


def _modules() -> Path:
    package, found = _PLACE / "amqp091-go", _PLACE / "go.mod"
    if not (package / "go.mod").exists():
        source = Path("/") / _SOURCES / _AMQP
        if not source.exists():
            source = debian_packages.unpacked(_PLACE / "debian", [_PACKAGE]) / _SOURCES / _AMQP
        shutil.copytree(
            source, package, ignore=shutil.ignore_patterns("*_test.go", "go.*"), dirs_exist_ok=True
        )
        # Its own go.mod requires what its tests alone need.
        (package / "go.mod").write_text(f"module {_AMQP}\n\ngo 1.16\n")
    found.write_text(f"{(CLIENT / 'go.mod').read_text()}\nreplace {_AMQP} => {package}\n")
    return found


def _run(*command: str, environment: dict[str, str] | None = None) -> str:
    variables = os.environ | (environment or {})
    done = subprocess.run(command, cwd=CLIENT, env=variables, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[:3])} …: {(done.stdout + done.stderr).strip()[-4000:]}")
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m scripts.golang", description="Build the Go client's programs."
    )
    parser.parse_args()
    print("\n".join(str(program.relative_to(ROOT)) for program in sorted(built("./...").iterdir())))


if __name__ == "__main__":
    main()

"""The model checker spin: Debian's package, unpacked under `var/` where the machine has none, and with it a C
compiler for the checkers that it writes.
"""

import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import msgspec
import pytest

from scripts.local_services import debian_packages
from scripts.local_services.debian_packages import PackageError

_PACKAGES = Path(__file__).resolve().parents[2] / "var" / "packages"
_TCC = ("tcc", "libc6-dev", "linux-libc-dev")
_CHECKER = ("-DSAFETY", "-DCOLLAPSE", "-DMEMLIM=3000")
_FOUND = re.compile(r"depth reached (\d+), errors: (\d+)\s+(\d+) states, stored")
_VIOLATED = re.compile(r"assertion violated (.+) \(at depth")


class Verdict(msgspec.Struct, frozen=True):
    """What a search found: how many states it saw, how deep it went; `violated`: the assertion that does not
    hold, "" when all do."""

    states: int
    depth: int
    violated: str


def require() -> None:
    """Skip the test, with the reason, unless spin and a C compiler are here or can be unpacked."""
    try:
        _tools()
    except PackageError as why:
        pytest.skip(f"needs the Debian package spin: {why}")


def check(model: Path, *definitions: str) -> Verdict:
    """Search all states of a model with these preprocessor definitions, up to the first violated assertion;
    raises `RuntimeError` for a model that is no Promela, or a search that is not complete."""
    spin, compiler = _tools()
    with tempfile.TemporaryDirectory() as directory:
        preprocessor = f"-P{' '.join(compiler)} -E -x c"
        _run(
            directory, spin, preprocessor, *(f"-D{each}" for each in definitions), "-a", str(model.resolve())
        )
        _run(directory, *compiler, *_CHECKER, "-o", "pan", "pan.c")
        output = _run(directory, "./pan", "-m20000", "-w22")
    found, violated = _FOUND.search(output), _VIOLATED.search(output)
    if found is None or "max search depth too small" in output or (not violated and int(found[2])):
        raise RuntimeError(f"{model.name}: the search is not complete: {output[-1500:]}")
    return Verdict(int(found[3]), int(found[1]), violated[1] if violated else "")


@cache
def _tools() -> tuple[str, tuple[str, ...]]:
    """The commands of spin and of a C compiler; raises `PackageError`."""
    spin = shutil.which("spin") or str(_unpacked("spin", ("spin",)) / "usr" / "bin" / "spin")
    if compiler := shutil.which("cc"):
        return spin, (compiler, "-O1", "-w")
    usr = _unpacked("tcc", _TCC) / "usr"
    libraries = next((usr / "lib").glob("*-linux-gnu*"))
    includes = (libraries / "tcc" / "include", usr / "include", usr / "include" / libraries.name)
    places = (f"-B{libraries / 'tcc'}", f"-L{libraries}", f"-L/lib/{libraries.name}", "-nostdinc")
    return spin, (str(usr / "bin" / "tcc"), *places, *(f"-I{each}" for each in includes), "-w")


def _unpacked(name: str, packages: tuple[str, ...]) -> Path:
    if not debian_packages.available():
        raise PackageError("this machine has no apt-get")
    return debian_packages.unpacked(_PACKAGES / name, packages)


def _run(directory: str, *command: str) -> str:
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[:2])} …: {(done.stdout + done.stderr).strip()[-1500:]}")
    return done.stdout

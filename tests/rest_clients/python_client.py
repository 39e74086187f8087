"""The Python client: an environment of its own, the generator, mypy, and the program."""

import json
import os
import shutil
import sys
import venv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.rest_clients.counting import Counts, of_python
from tests.support.npm import run

_SOURCE = Path(__file__).parent / "python"
_PLACE = Path(__file__).resolve().parents[2] / "var" / "rest_clients" / "python"
_BINARIES, _GENERATED = _PLACE / "venv" / "bin", _PLACE / "generated"
_PACKAGE = _GENERATED / "matchfeed_rest"


def generate(document: Path) -> Counts:
    """Generate the client anew; raises `RuntimeError` for any warning."""
    _install()
    shutil.rmtree(_GENERATED, ignore_errors=True)
    _GENERATED.mkdir()
    given = _PLACE / "openapi.json"
    given.write_text(json.dumps(prepared(json.loads(document.read_text()))))
    run(
        *(str(_BINARIES / "openapi-python-client"), "generate", "--meta", "none", "--fail-on-warning"),
        *("--path", str(given), "--output-path", str(_PACKAGE), "--config", str(_SOURCE / "generator.yaml")),
        environment={"PATH": f"{_BINARIES}{os.pathsep}{os.environ['PATH']}"},
    )
    return of_python(_PACKAGE)


def check() -> None:
    """Check the types of the program, and of the client as far as it uses that."""
    mypy = (str(_BINARIES / "python"), "-m", "mypy", "--strict", "--cache-dir", str(_PLACE / "mypy"))
    run(*mypy, str(_SOURCE / "tour.py"), environment={"MYPYPATH": str(_GENERATED)})


def tour(environment: Mapping[str, str]) -> str:
    """Run the program; what it prints."""
    found = {"PYTHONPATH": str(_GENERATED)} | environment
    return run(str(_BINARIES / "python"), str(_SOURCE / "tour.py"), environment=found)


def prepared(document: Any) -> Any:
    """The document without what the generator does not know: operations with bodies of XML, and 304, as it
    makes `Any` of an answer without a body. The client's answer to an `If-None-Match` has that status all the
    same, and nothing parsed."""
    for path, methods in document["paths"].items():
        known = {name: one for name, one in methods.items() if not _sends_xml(one)}
        for operation in known.values():
            operation["responses"].pop("304", None)
        document["paths"][path] = known
    return document


def _sends_xml(operation: Any) -> bool:
    return "application/xml" in operation.get("requestBody", {}).get("content", {})


def _install() -> None:
    wanted, marker = (_SOURCE / "requirements.txt").read_text(), _PLACE / "installed"
    if marker.exists() and marker.read_text() == wanted:
        return
    shutil.rmtree(_PLACE, ignore_errors=True)
    venv.create(_PLACE / "venv", symlinks=True)
    pip = (sys.executable, "-m", "pip", "--isolated", "--disable-pip-version-check")
    into = ("--python", str(_BINARIES / "python"), "install", "--quiet", "--require-hashes")
    run(*pip, *into, "-r", str(_SOURCE / "requirements.txt"))
    marker.write_text(wanted)

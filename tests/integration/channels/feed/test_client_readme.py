"""The client package as its documentation shows it: over a real network it holds a book that equals REST,
after a cut of its connection and after a restart from its file."""

import ast
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import CodeType
from typing import Any

import httpx
import pytest
from matchfeed_client import Client

from app.broker.permissions import tenant_user
from app.domain.ids import match_urn
from app.domain.tenant import Tenant
from app.store.connections import Store
from tests.faults.keys import issue
from tests.faults.rig import Rig, until
from tests.integration.channels.feed.test_client_package import shown
from tests.integration.channels.feed.test_consistency import Open, truth
from tests.support.life import Life, Living
from tests.support.meanwhile import meanwhile
from tests.support.processes import ROOT
from tests.support.story import Story
from tests.support.wire import serving_http

_BLOCK = re.compile(r"```python\n(from matchfeed_client .+?)```", re.DOTALL)


def program(page: str) -> CodeType:
    """The page's program, which awaits at the top as `python -m asyncio` lets it."""
    [text] = _BLOCK.findall((ROOT / page).read_text())
    code: CodeType = compile(text, page, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    return code


@asynccontextmanager
async def running(page: str, urls: dict[str, str]) -> AsyncIterator[Client]:
    """The client of the page's program, which runs beside the block."""
    names: dict[str, Any] = dict(urls)
    async with meanwhile(eval(program(page), names)) as [task]:
        await until("it is connected", lambda: "client" in names or task.done())
        yield names["client"]


@asynccontextmanager
async def addresses(rig: Rig) -> AsyncIterator[tuple[Tenant, dict[str, str]]]:
    """A tenant, and what the programs are given: `amqp_url`, `base_url`, `api_key`."""
    tenant, url = await rig.tenant()
    key = (await issue(rig, tenant.slug)).raw
    async with serving_http(rig.settings) as port:
        yield tenant, {"amqp_url": url, "base_url": f"http://127.0.0.1:{port}", "api_key": key}


async def rest(urls: dict[str, str], life: Life) -> Open:
    """The open markets of all matches as REST has them."""
    found: Open = {}
    async with httpx.AsyncClient(base_url=urls["base_url"], headers={"X-API-Key": urls["api_key"]}) as http:
        for match in life.matches:
            urn = match_urn(match.number)
            rows = (await http.get(f"/cs2/v1/matches/{urn}/markets")).raise_for_status().json()["data"]
            if rows:
                found[urn] = {
                    (str(row["id"]), row["specifiers"]): "suspended" if row["suspended"] else str(row["odds"])
                    for row in rows
                }
    return found


async def check_equal(client: Client, urls: dict[str, str], life: Life, store: Store) -> None:
    """The book becomes that of the store, of REST and of the self-check."""
    expected = await truth(store, life.matches)
    await until(
        "the book is that of the store",
        lambda: not (client.book.recovery or client.book.due) and shown(client.book) == expected,
    )
    assert await rest(urls, life) == expected
    comparison = await client.compare()
    assert (comparison.count, comparison.markets) == (0, sum(map(len, expected.values())))


async def test_the_five_lines_hold_a_live_book_through_a_cut_and_a_restart(
    rig: Rig, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "var").mkdir()
    monkeypatch.chdir(tmp_path)
    await rig.feed()
    async with addresses(rig) as (tenant, urls):
        living = Living(Life(Story(store), 3))
        async with running("README.md", urls) as client:
            await living.more(20)
            await until(
                "the first recovery is complete", lambda: client.book.after and not client.book.recovery
            )
            user = tenant_user(tenant.slug)
            await until("the broker lists it", lambda: rig.management.connection_count(user))
            await rig.management.ensure_disconnected(user, "a cut")
            await living.more(20)
            await living.end()
            await check_equal(client, urls, living.life, store)
        assert (tmp_path / "var" / "book.json").exists()
        await living.life.step(20)
        async with running("README.md", urls) as resumed:
            assert resumed.book.offers.keys() == client.book.offers.keys(), (
                "it begins with the book of its file"
            )
            await check_equal(resumed, urls, living.life, store)


@pytest.mark.long
async def test_the_program_on_the_page_of_the_package_runs(rig: Rig, store: Store) -> None:
    await rig.feed()
    async with addresses(rig) as (_, urls), running("scripts/client/README.md", urls) as client:
        life = Life(Story(store), 4)
        await life.step(10)
        await check_equal(client, urls, life, store)

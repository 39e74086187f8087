"""The page at `/` and what it may load and read."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from msgspec.structs import replace

from app.domain import catalogue
from app.settings import Settings
from app.trading.registry import RULES
from tests.support.web import IssueKey, serving

ASSETS = Path(__file__).resolve().parents[4] / "app" / "sites" / "board" / "assets"


@pytest.fixture
def report(tmp_path: Path) -> Path:
    return tmp_path / "report.json"


@pytest.fixture
async def client(private: Settings, report: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(replace(private, board_report=str(report))) as client:
        yield client


async def test_the_page_loads_its_own_assets_only(client: httpx.AsyncClient) -> None:
    page = await client.get("/")
    assert page.status_code == 200 and page.headers["content-type"] == "text/html; charset=utf-8"
    policy = dict(part.split(" ", 1) for part in page.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert set(policy.values()) == {"'none'", "'self'"}
    loaded = set(re.findall(r'(?:src|href)="(/board/[^"]+)"', page.text))
    assert loaded == {"/board/tokens.css", "/board/board.css", "/board/main.js", "/board/icon.svg"}
    for asset in {*loaded, *(f"/board/{path.name}" for path in ASSETS.glob("*.js"))}:
        response = await client.get(asset)
        assert response.status_code == 200, asset
        assert response.headers["content-type"].count("charset=utf-8") == 1, asset


def test_nothing_is_inline_and_nothing_comes_from_elsewhere() -> None:
    page = (ASSETS / "index.html").read_text()
    assert not re.search(r"\son\w+=|\sstyle=|<style|<script(?![^>]*\ssrc=)", page)
    for path in ASSETS.iterdir():
        addresses = set(re.findall(r"https?://[^\s\"'`)]+", path.read_text()))
        assert addresses <= {"http://www.w3.org/2000/svg"}, path.name
        assert "innerHTML" not in path.read_text() and "eval(" not in path.read_text()


def test_both_languages_say_the_same_things() -> None:
    """Every word of the page exists in both, with the same places to fill."""
    text = (ASSETS / "words.js").read_text()
    english, russian = text.split("\n  ru: {")
    said = [dict(re.findall(r'\b(\w+): "((?:[^"\\]|\\.)*)"', part)) for part in (english, russian)]
    assert set(said[0]) - set(said[1]) == set()
    for name, words in said[0].items():
        assert set(re.findall(r"\{\d\}", words)) == set(re.findall(r"\{\d\}", said[1][name])), name
    named = set(re.findall(r'data-word="(\w+)"', (ASSETS / "index.html").read_text()))
    assert named <= set(said[0])


async def test_the_report_is_for_its_own_tenant(
    client: httpx.AsyncClient, issue: IssueKey, report: Path
) -> None:
    mine = {"X-API-Key": await issue("board", bundles=("cs2.odds.basic",))}
    other = {"X-API-Key": await issue("beta", bundles=("cs2.odds.basic",))}
    assert (await client.get("/board/report", headers=mine)).status_code == 204
    await asyncio.to_thread(report.write_text, '{"tenant":"board","state":"following"}')
    assert (await client.get("/board/report", headers=mine)).json()["state"] == "following"
    hidden = await client.get("/board/report", headers=other)
    assert hidden.status_code == 204 and hidden.content == b""
    assert (await client.get("/board/report")).status_code == 401


def test_every_group_of_markets_and_every_side_has_a_word() -> None:
    """Otherwise a row would be headed by the name of one of its sides, or by a code."""
    words = (ASSETS / "words.js").read_text()
    families = {rule.family for rule in RULES.values()}
    assert {family for family in families if f"group_{family}:" not in words} == set()
    groups = (ASSETS / "groups.js").read_text()
    sides = dict(re.findall(r'(\d+): "(\w+)"', groups))
    assert {side for side in sides.values() if not re.search(rf"\b{side}: ", words)} == set()
    named = {each.id for each in catalogue.load().markets if not each.placeholders & {"team", "home_maps"}}
    assert {str(each) for each in named} <= sides.keys()

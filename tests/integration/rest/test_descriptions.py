"""The market catalogue in both formats and languages."""

import httpx
import pytest
from lxml import etree

from app.domain import catalogue
from app.settings import Settings
from tests.support.web import IssueKey

PATH = "/cs2/v1/markets/descriptions"
TYPES = catalogue.load().markets


@pytest.fixture
async def headers(issue: IssueKey) -> dict[str, str]:
    return {"X-API-Key": await issue("stats", bundles=("cs2.stats",))}


@pytest.mark.parametrize("locale", ["en", "ru"])
async def test_every_type_is_described(
    client: httpx.AsyncClient, headers: dict[str, str], locale: catalogue.Locale
) -> None:
    answer = (await client.get(PATH, params={"locale": locale}, headers=headers)).json()
    assert answer["meta"] == {"count": len(TYPES)}
    for row, known in zip(answer["data"], TYPES, strict=True):
        assert (row["id"], row["key"], row["name"]) == (known.id, known.key, known.name.get(locale))
        assert row["description"] == known.description
        assert row["outcomes"] == [{"id": 1, "name": known.outcome.get(locale)}]
        assert [one["name"] for one in row["specifiers"]] == [one.name for one in known.specifiers]


async def test_english_is_the_default(client: httpx.AsyncClient, headers: dict[str, str]) -> None:
    plain, english = [(await client.get(PATH + query, headers=headers)) for query in ("", "?locale=en")]
    assert plain.content == english.content
    assert plain.headers["etag"] == english.headers["etag"]


async def test_xml_has_the_feeds_shape_and_the_same_content(
    client: httpx.AsyncClient, headers: dict[str, str]
) -> None:
    wish = {"Accept": "application/xml"}
    negotiated = await client.get(f"{PATH}?locale=ru", headers=headers | wish)
    sibling = await client.get(f"{PATH}.xml?locale=ru", headers=headers)
    assert negotiated.content == sibling.content
    root = etree.fromstring(sibling.content)
    assert root.tag == "market_descriptions"
    rows = (await client.get(f"{PATH}?locale=ru", headers=headers)).json()["data"]
    assert [(int(one.get("id")), one.get("name")) for one in root.findall("market")] == [
        (row["id"], row["name"]) for row in rows
    ]


async def test_another_language_is_refused(client: httpx.AsyncClient, headers: dict[str, str]) -> None:
    refused = await client.get(f"{PATH}?locale=de", headers=headers)
    assert refused.status_code == 422 and refused.json()["detail"][0]["loc"] == ["query", "locale"]


async def test_codes_of_suspensions_are_described(client: httpx.AsyncClient, headers: dict[str, str]) -> None:
    path = "/cs2/v1/markets/suspension-reasons"
    english, russian = [
        (await client.get(f"{path}?locale={locale}", headers=headers)).json() for locale in ("en", "ru")
    ]
    assert english["meta"] == {"count": len(english["data"])}
    assert [row["code"] for row in english["data"]] == [row["code"] for row in russian["data"]]
    silent = next(row for row in russian["data"] if row["code"] == "silent_source")
    assert silent["description"].startswith("Игровой сервер молчит")


async def test_the_delay_that_prices_assume_is_published(
    client: httpx.AsyncClient, headers: dict[str, str], settings: Settings
) -> None:
    answer = await client.get("/cs2/v1/markets/pricing", headers=headers)
    assert answer.json() == {"data": {"bet_delay_seconds": settings.bet_delay_seconds}}

"""The same resource as JSON and as XML: which one is sent, and what both may show."""

import gzip
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from lxml import etree

from app.domain import scopes
from app.domain.match import Match
from tests.support.web import Headers, IssueKey

XML = {"Accept": "application/xml"}
SCHEMAS = Path(__file__).resolve().parents[3] / "schemas"
#: Path, root of its XML, schema file; `{id}` is the match.
SIBLINGS = [
    ("/v1/alive", "alive", "feed"),
    ("/v1/whoami", "bookmaker_details", "facade"),
    ("/cs2/v1/matches", "schedule", "facade"),
    ("/cs2/v1/matches/{id}", "fixtures_fixture", "facade"),
    ("/cs2/v1/matches/{id}/summary", "match_summary", "facade"),
    ("/cs2/v1/matches/{id}/markets", "odds_change", "feed"),
]
MECHANICAL = [
    "/v1/health",
    "/v1/sports",
    "/cs2/v1/matches/{id}/rounds",
    "/cs2/v1/matches/{id}/timeline",
    "/cs2/v1/matches/{id}/settlements",
]


async def test_seven_paths_have_a_feed_style_sibling(
    client: httpx.AsyncClient, live: Match, basic: Headers
) -> None:
    for path, root, schema in SIBLINGS:
        address = path.format(id=live.id)
        by_accept = await client.get(address, headers=basic | XML)
        sibling = await client.get(f"{address}.xml", headers=basic | {"Accept": "application/json"})
        assert by_accept.status_code == sibling.status_code == 200, by_accept.text
        assert by_accept.headers["content-type"] == sibling.headers["content-type"] == "application/xml"
        document = etree.fromstring(by_accept.content)
        assert document.tag == root
        etree.XMLSchema(etree.parse(SCHEMAS / f"{schema}.xsd")).assertValid(document)
        if path != "/v1/alive":  # it has the time
            assert by_accept.content == sibling.content
            assert by_accept.headers["etag"] == sibling.headers["etag"]


async def test_every_other_path_has_mechanical_xml(
    client: httpx.AsyncClient, live: Match, basic: Headers
) -> None:
    for path in MECHANICAL:
        address = path.format(id=live.id)
        answer = await client.get(address, headers=basic | XML)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/xml"), path
        document = etree.fromstring(answer.content)
        shown = (await client.get(address, headers=basic)).json()
        assert document.tag == "response" and [child.tag for child in document] == list(shown), path
        if "meta" in shown:
            assert document.find("meta").get("count") == str(shown["meta"]["count"]), path
            assert len(document.find("data")) == shown["meta"]["count"], path
        assert (await client.get(f"{address}.xml", headers=basic)).status_code == 404, path


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        (None, "json"),
        ("*/*", "json"),
        ("application/xml;q=0.5, application/json;q=0.4", "xml"),
        ("application/json;q=0, */*", "xml"),
        ("text/xml", "xml"),
    ],
)
async def test_accept_decides(
    client: httpx.AsyncClient, basic: Headers, accept: str | None, kind: str
) -> None:
    headers = basic | ({"Accept": accept} if accept else {})
    if accept is None:
        del client.headers["accept"]
    answer = await client.get("/v1/sports", headers=headers)
    assert answer.headers["content-type"] == f"application/{kind}"


async def test_neither_format_is_refused_before_any_work(client: httpx.AsyncClient, basic: Headers) -> None:
    for path in ("/v1/sports", "/cs2/v1/matches/unknown", "/cs2/v1/matches?limit=0"):
        answer = await client.get(path, headers=basic | {"Accept": "text/html, image/*;q=0.5"})
        assert answer.status_code == 406
        assert "application/xml" in answer.json()["detail"]
        assert answer.headers["content-type"] == "application/json"
    posted = await client.post(
        "/cs2/v1/recovery/initiate_request?request_id=1", headers=basic | {"Accept": "text/html"}
    )
    assert posted.status_code == 406


def attributes(document: etree._Element) -> set[str]:
    return {name for element in document.iter() for name in element.attrib}


async def test_xml_shows_no_field_outside_the_scopes(
    client: httpx.AsyncClient, live: Match, issue: IssueKey
) -> None:
    async def seen(path: str, *granted: str) -> Any:
        headers = {"X-API-Key": await issue(scopes=granted)} | XML
        answer = await client.get(f"/cs2/v1/matches{path}", headers=headers)
        assert answer.status_code == 200, answer.text
        return etree.fromstring(answer.content)

    assert live.started_at is not None and live.started_at != live.scheduled_at
    listed = await seen(f"/{live.id}", scopes.LIST)
    read = await seen(f"/{live.id}", scopes.READ)
    assert listed.find("fixture").get("start_time") == listed.find("fixture").get("scheduled")
    assert read.find("fixture").get("start_time") != read.find("fixture").get("scheduled")
    priced = await seen(f"/{live.id}/markets", scopes.MARKETS)
    both = await seen(f"/{live.id}/markets", scopes.MARKETS, scopes.READ)
    assert priced.find("sport_event_status") is None and both.find("sport_event_status") is not None
    assert len(priced.find("odds")) == len(both.find("odds")) > 0
    rows = await seen("", scopes.LIST)
    assert not attributes(rows) & {"start_time", "home_score", "winner_id"}


async def test_a_current_etag_is_answered_304(client: httpx.AsyncClient, live: Match, basic: Headers) -> None:
    path = f"/cs2/v1/matches/{live.id}"
    tags = set()
    for accept in ("application/json", "application/xml"):
        for coding in ("identity", "gzip"):
            accepting = basic | {"Accept": accept, "Accept-Encoding": coding}
            first = await client.get(path, headers=accepting)
            tag = first.headers["etag"]
            tags.add(tag)
            for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
                again = await client.get(path, headers=accepting | {"If-None-Match": known})
                assert (again.status_code, again.content) == (304, b"")
                assert again.headers["etag"] == tag and "content-type" not in again.headers
                assert again.headers["vary"] == first.headers["vary"]
            changed = await client.get(path, headers=accepting | {"If-None-Match": '"other"'})
            assert changed.status_code == 200
    assert len(tags) == 3  # the compact fixture is too small to be worth zipping
    others = await client.get(path, headers=basic | {"Accept-Encoding": "identity"})
    assert others.headers["etag"] in tags and not others.headers["etag"].startswith("W/")


async def test_vary_names_what_a_response_depends_on(client: httpx.AsyncClient, basic: Headers) -> None:
    answer = await client.get("/v1/sports", headers=basic | {"Origin": "https://elsewhere.example"})
    named = {name.strip().lower() for name in answer.headers["vary"].split(",")}
    assert named == {"accept", "accept-encoding", "x-api-key", "x-access-token", "$x$access-token"}
    assert "private" in answer.headers["cache-control"]
    assert not [name for name in answer.headers if name.startswith("access-control-")]


async def test_large_bodies_are_compressed_for_clients_that_accept_it(
    client: httpx.AsyncClient, live: Match, basic: Headers
) -> None:
    path = f"/cs2/v1/matches/{live.id}"
    for coding, zipped in [
        ("gzip", True),
        ("br, gzip;q=0.5", True),
        ("*", True),
        ("gzip;q=0, *", False),
        ("identity", False),
        ("br;q=1.0", False),
    ]:
        async with client.stream("GET", path, headers=basic | {"Accept-Encoding": coding}) as answer:
            raw = b"".join([part async for part in answer.aiter_raw()])
        assert (answer.headers.get("content-encoding") == "gzip") is zipped, coding
        assert int(answer.headers["content-length"]) == len(raw)
        assert json.loads(gzip.decompress(raw) if zipped else raw)["data"]["id"] == str(live.id)
    small = await client.get("/v1/alive", headers=basic | {"Accept-Encoding": "gzip"})
    assert "content-encoding" not in small.headers


async def test_head_is_get_without_its_body(client: httpx.AsyncClient, live: Match, basic: Headers) -> None:
    varying = {"x-request-id", "ratelimit"}
    for path, _, _ in SIBLINGS[1:]:
        address = path.format(id=live.id)
        for url in (address, f"{address}.xml"):
            head, full = await client.head(url, headers=basic), await client.get(url, headers=basic)
            assert (head.status_code, head.content) == (200, b"")
            assert {k: v for k, v in head.headers.items() if k not in varying} == {
                k: v for k, v in full.headers.items() if k not in varying
            }
    missing = await client.head("/cs2/v1/matches/od:match:404404", headers=basic)
    assert (missing.status_code, missing.content) == (404, b"")
    assert (await client.head("/v1/sports")).status_code == 401
    posting = await client.head("/cs2/v1/recovery/initiate_request", headers=basic)
    assert posting.status_code == 405
    wrong = await client.delete("/v1/sports", headers=basic)
    assert {"GET", "HEAD"} <= set(wrong.headers["allow"].split(", "))


async def test_posts_and_operators_paths_are_answered_in_xml_too(
    client: httpx.AsyncClient, basic: Headers, operator: Headers
) -> None:
    body = {"matches": []}
    checked = await client.post("/cs2/v1/selfcheck", json=body, headers=basic | XML)
    assert (checked.status_code, checked.headers["content-type"]) == (200, "application/xml")
    assert etree.fromstring(checked.content).find("data").get("count") == "0"
    assert "etag" not in checked.headers
    tenants = await client.get("/ops/v1/tenants", headers=operator | XML)
    rows = etree.fromstring(tenants.content).find("data").findall("item")
    assert {row.get("slug") for row in rows} == {"acme", "house"}

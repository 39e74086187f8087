"""The documents: valid, whole, true to their examples, as recorded, and served to whom they are for."""

import re
from html.parser import HTMLParser
from itertools import zip_longest
from typing import Any

import httpx
import msgspec
import pytest
from litestar.routes import HTTPRoute
from openapi_spec_validator import validate

from app.domain.entrants import FIRST_STAND_IN, MAX_FILE_NUMBER
from app.domain.ids import competitor_urn, player_urn, tournament_urn
from app.main import create_app
from app.settings import Settings
from tests.contract.openapi.breaks import breaks
from tests.contract.openapi.present import RECORDED, Json, faults, followed, made, operations
from tests.support.web import IssueKey

#: Addresses that are no part of what clients may rely on, and why.
UNDOCUMENTED = {
    "/": "the page that shows matches, for people",
    "/board/{name}": "what that page is made of",
    "/board/report": "what that page requests",
    "/console": "pages for operators, as is all below it",
    "/portal": "pages for a tenant's people, as is all below it",
    "/status": "the status of the service, for people",
    "/status.atom": "the same as a feed",
    "/status/assets/{version}/{name}": "what that page is made of",
    "/v1/docs/console/{version}/{name}": "what the console is made of",
}
#: Operations whose answers show themselves, or are no JSON and no XML.
WITHOUT_EXAMPLE = {"get_docs", "get_openapi", "get_ops_v1_openapi_json"}
WITHOUT_EXAMPLE |= {"get_docs_pushed", "get_docs_console", "get_asyncapi", "get_file"}
WITHOUT_EXAMPLE |= {"get_ops_v1_metrics", "post_ops_v1_matches_match_id_log", "get_category_icon"}


@pytest.fixture(scope="module")
def documents() -> dict[str, Json]:
    return made()


@pytest.fixture(scope="module")
def everything(documents: dict[str, Json]) -> list[tuple[Json, str, str, Json]]:
    """Every operation with its document."""
    return [(document, *one) for document in documents.values() for one in operations(document)]


def test_the_documents_are_valid(documents: dict[str, Json]) -> None:
    for document in documents.values():
        validate(document)
        assert document["openapi"] == "3.1.0"


def test_every_route_is_documented_and_every_documented_path_exists(everything: Any) -> None:
    routes = [route for route in create_app(Settings()).routes if isinstance(route, HTTPRoute)]
    served = {
        (route.path_format, method.lower())
        for route in routes
        for method in route.methods
        if method not in ("OPTIONS", "HEAD")
        and route.path_format not in UNDOCUMENTED
        and not route.path_format.startswith(("/console/", "/portal/"))
    }
    assert all("HEAD" in route.methods for route in routes if "GET" in route.methods)
    # This one is answered by the route without the ending.
    served.add(("/cs2/v1/matches/{match_id}.xml", "get"))
    documented = [(path, method) for _, path, method, _ in everything]
    assert len(set(documented)) == len(documented)
    assert set(documented) <= served
    assert {one for one in served if not any(_covers(described, one) for described in documented)} == set()
    assert {route.path_format for route in routes} >= set(UNDOCUMENTED)


def _covers(documented: tuple[str, str], served: tuple[str, str]) -> bool:
    """Whether a documented path is the served one, with parameters in place of segments."""
    (described, method), (path, other) = documented, served
    pairs = list(zip_longest(described.split("/"), path.split("/")))
    known = all(
        segment == one or None not in (segment, one) and "{" in segment + one for segment, one in pairs
    )
    return method == other and known


def test_every_number_that_is_returned_may_be_requested(everything: Any) -> None:
    """Numbers of files, of entrants known from a match, and of generated ones."""
    urns = {"tournament_id": tournament_urn, "player_id": player_urn}
    urns |= dict.fromkeys(("competitor_id", "team_id", "opponent_id"), competitor_urn)
    seen = set()
    for document, path, _, operation in everything:
        for parameter in (followed(document, one) for one in operation["parameters"]):
            name = parameter["name"]
            if name in urns and path.startswith(("/cs2/", "/v1/")):
                seen.add(name)
                for number in (1, MAX_FILE_NUMBER + 1, FIRST_STAND_IN + 2 * 10**9):
                    for text in (str(number), urns[name](number)):
                        assert not faults(document, parameter["schema"], text), (path, name, text)
    assert seen == set(urns)


def test_each_document_has_its_own_paths(documents: dict[str, Json]) -> None:
    assert all(path.startswith("/ops/") for path in documents["operators"]["paths"])
    assert not any(path.startswith("/ops/") for path in documents["public"]["paths"])


def test_everything_is_described(everything: Any) -> None:
    for document, path, method, operation in everything:
        assert operation["summary"] and operation["tags"], path
        for reference in operation["parameters"]:
            parameter = followed(document, reference)
            assert parameter.get("description"), (path, method, parameter["name"])
            if parameter["in"] == "path":
                assert "example" in parameter, (path, parameter["name"])
        for status, reference in operation["responses"].items():
            answer = followed(document, reference)
            assert answer["description"], (path, status)
            for name, header in answer.get("headers", {}).items():
                assert followed(document, header)["description"], name


def test_every_example_matches_its_schema(everything: Any) -> None:
    for document, path, method, operation in everything:
        for parameter in (followed(document, one) for one in operation["parameters"]):
            if "example" in parameter:
                wrong = faults(document, parameter["schema"], parameter["example"])
                assert not wrong, (path, parameter["name"], wrong)
        answers = [followed(document, one) for one in operation["responses"].values()]
        for holder in (operation.get("requestBody", {}), *answers):
            for kind, content in holder.get("content", {}).items():
                if "example" in content:
                    wrong = faults(document, content["schema"], content["example"])
                    assert not wrong, (path, method, kind, wrong)


def test_every_request_body_and_response_has_an_example(everything: Any) -> None:
    for _, path, method, operation in everything:
        if operation["operationId"] not in WITHOUT_EXAMPLE:
            success = operation["responses"][min(operation["responses"])]
            shown = [kind for kind, content in success["content"].items() if "example" in content]
            # What ends something cannot be requested twice.
            assert shown == list(success["content"]) or (shown and method != "get"), (path, method)
            for kind, content in operation.get("requestBody", {}).get("content", {}).items():
                assert "example" in content, (path, method, kind)


def test_every_operation_lists_its_errors(everything: Any) -> None:
    for _, path, method, operation in everything:
        statuses = set(operation["responses"])
        assert {"422", "503"} <= statuses, path
        if operation["security"]:
            assert {"400", "401", "403", "429"} <= statuses, path
        if "{" in path:
            assert "404" in statuses, path
        success = operation["responses"][min(statuses)]
        if method == "get" and {"application/json", "application/xml"} & set(success["content"]):
            assert "304" in statuses and "ETag" in success["headers"], path
        if {"application/json", "application/xml"} <= set(success["content"]):
            assert "406" in statuses, path


def test_the_xml_siblings_and_the_facade_return_xml_only(documents: dict[str, Json]) -> None:
    siblings = 0
    for path, _, operation in operations(documents["public"]):
        kinds = set(operation["responses"][min(operation["responses"])]["content"])
        siblings += path.endswith(".xml")
        if path.endswith(".xml") or operation["tags"] == ["Compatibility facade"]:
            assert kinds in ({"application/xml"}, {"image/svg+xml"}), path
    assert siblings == 9  # two of them without a JSON form


@pytest.mark.parametrize("name", RECORDED)
def test_no_client_is_broken(documents: dict[str, Json], name: str) -> None:
    """Against the document recorded last: `nox -s documents` records it anew."""
    assert breaks(msgspec.json.decode(RECORDED[name].read_bytes()), documents[name]) == [[]]


@pytest.mark.parametrize("name", RECORDED)
def test_what_is_recorded_is_what_is_served(documents: dict[str, Json], name: str) -> None:
    recorded = msgspec.json.decode(RECORDED[name].read_bytes())
    changed = {
        path
        for path in recorded["paths"] | documents[name]["paths"]
        if _at(recorded, path) != _at(documents[name], path)
    }
    assert recorded == documents[name], f"run nox -s documents; changed: {sorted(changed)}"


def _at(document: Json, path: str) -> Any:
    return document["paths"].get(path)


async def test_documents_need_a_key_and_those_for_operators_one_of_theirs(
    client: httpx.AsyncClient, issue: IssueKey, documents: dict[str, Json]
) -> None:
    any_key = {"X-API-Key": await issue(scopes=("cs2:maps:read",), sports=())}
    operator = {"X-API-Key": await issue("house", bundles=("cs2.operator",))}
    assert (await client.get("/v1/openapi.json")).status_code == 401
    assert (await client.get("/ops/v1/openapi.json", headers=any_key)).status_code == 403
    for path, headers, name in (
        ("/v1/openapi.json", any_key, "public"),
        ("/ops/v1/openapi.json", operator, "operators"),
    ):
        answer = await client.get(path, headers=headers | {"Accept": "*/*"})
        assert answer.json() == documents[name]
        same = await client.get(path, headers=headers | {"If-None-Match": answer.headers["ETag"]})
        assert same.status_code == 304


class Page(HTMLParser):
    """What a page refers to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.tags.add(tag)
        self.ids |= {values["id"]} if "id" in values else set()
        self.links |= {values[name] for name in ("href", "src", "action") if name in values}


async def test_the_page_is_open_and_fetches_nothing(
    client: httpx.AsyncClient, documents: dict[str, Json]
) -> None:
    answer = await client.get("/v1/docs")
    assert answer.status_code == 200 and answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    page = Page(answer.text)
    assert not page.tags & {"script", "img", "link", "iframe", "form"}
    assert not re.search(r"url\(|@import", answer.text)
    within = {link for link in page.links if link.startswith("#")}
    assert within and {link.removeprefix("#") for link in within} <= page.ids
    assert page.links - within == {"/v1/docs/console", "/v1/docs/pushed"}
    assert {operation["operationId"] for _, _, operation in operations(documents["public"])} <= page.ids

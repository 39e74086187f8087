"""Every documented address, in every format, with every key: each requires its scope and its sport, and a
key limited to finished matches meets no other, wherever it looks."""

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from app.store.connections import Store
from tests.contract.access.tables import OPEN, PROBABILITIES, SPORTS
from tests.contract.access.test_rights import SCOPES
from tests.contract.openapi.present import Json, followed, made, operations
from tests.support import world
from tests.support.web import IssueKey
from tests.support.world import World

JSON, XML = "application/json", "application/xml"
RATE = 100_000
ExampleRequest = tuple[str, str, Json]  #: path as documented, method, and arguments of the request


@pytest.fixture(scope="module")
def document() -> Json:
    return made()["public"]


@pytest.fixture
async def populated(store: Store) -> World:
    return await world.made(store)


def example_requests(document: Json, **values: str) -> Iterator[ExampleRequest]:
    """A request of each operation for its own example, with other `values` for parameters so named."""
    for path, method, operation in operations(document):
        filled: dict[str, Json] = {"path": {}, "query": {}}
        for parameter in (followed(document, one) for one in operation["parameters"]):
            if parameter["required"]:
                name = parameter["name"]
                filled[parameter["in"]][name] = values.get(name, parameter["example"])
        content = operation.get("requestBody", {}).get("content", {})
        body = {"json": content.get(JSON, {}).get("example"), "content": content.get(XML, {}).get("example")}
        yield path, method, {"url": path.format(**filled["path"]), "params": filled["query"], **body}


def formats(document: Json, path: str, method: str) -> list[str]:
    answers = document["paths"][path][method]["responses"]
    return [kind for kind in answers[min(answers)]["content"] if kind in (JSON, XML)]


def test_the_table_is_complete_and_equal_to_the_document(document: Json) -> None:
    expected = {path: (sport, scopes) for sport, table in SPORTS.items() for path, scopes in table.items()}
    assert set(expected) | OPEN == set(document["paths"])
    for path, _, operation in operations(document):
        if path in OPEN:
            assert operation["security"] == []
        else:
            shown = operation.get("x-sport"), tuple(operation["x-required-scopes"])
            assert (path, shown) == (path, expected[path])
            assert all(f"`{scope}`" in operation["description"] for scope in operation["x-required-scopes"])


async def test_every_address_requires_its_scope_in_every_format(
    client: httpx.AsyncClient, populated: World, issue: IssueKey, document: Json
) -> None:
    for path, method, how in example_requests(document):
        needed = next((table[path] for table in SPORTS.values() if path in table), ())
        if not needed:
            continue
        rights: dict[str, Any] = {"rate_limit_rpm": RATE, "probabilities": True}
        keys = {"without": await issue(scopes=tuple(sorted(SCOPES - set(needed))), **rights)}
        keys |= {one: await issue(scopes=(one,), **rights) for one in needed}
        for kind in formats(document, path, method):
            headers = {"Accept": kind}
            refused = await client.request(method, **how, headers=headers | {"X-API-Key": keys["without"]})
            assert refused.status_code == 403, (path, kind)
            assert refused.headers["content-type"] == JSON, (path, kind)
            assert all(one in refused.json()["detail"] for one in needed), (path, kind)
            assert "account manager" in refused.json()["detail"], (path, kind)
            for one in needed:
                let_in = await client.request(method, **how, headers=headers | {"X-API-Key": keys[one]})
                assert let_in.status_code in (200, 201, 202, 404, 409), (path, kind, one, let_in.text)


async def test_probabilities_are_for_tenants_that_receive_them(
    client: httpx.AsyncClient, populated: World, issue: IssueKey, document: Json
) -> None:
    """At the addresses that the table lists, and no others, whatever the key's scopes."""
    raw = await issue("plain", scopes=tuple(SCOPES), sports=("cs2", "soccer"), rate_limit_rpm=RATE)
    for path, method, how in example_requests(document):
        described = "receive probabilities" in document["paths"][path][method]["description"]
        assert described == (path in PROBABILITIES), path
        for kind in formats(document, path, method):
            answer = await client.request(method, **how, headers={"Accept": kind, "X-API-Key": raw})
            assert (answer.status_code == 403) == (path in PROBABILITIES), (path, kind, answer.text)
            assert answer.status_code != 403 or "account manager" in answer.json()["detail"]


async def test_every_address_requires_its_sport(
    client: httpx.AsyncClient, populated: World, issue: IssueKey, document: Json
) -> None:
    sports: dict[str | None, tuple[str, ...]] = {"cs2": ("soccer",), "soccer": ("cs2",), None: ()}
    for path, method, how in example_requests(document):
        for sport, table in SPORTS.items():
            if path in table:
                raw = await issue(scopes=tuple(SCOPES), sports=sports[sport], rate_limit_rpm=RATE)
                for kind in formats(document, path, method):
                    headers = {"Accept": kind, "X-API-Key": raw}
                    answer = await client.request(method, **how, headers=headers)
                    assert (answer.status_code == 403) == (sport is not None), (path, kind)
                    assert sport is None or repr(sport) in answer.json()["detail"], (path, kind)


async def test_without_a_key_there_is_nothing_but_open_pages(
    client: httpx.AsyncClient, document: Json
) -> None:
    for path, method, how in example_requests(document):
        answer = await client.request(method, **how)
        assert answer.status_code == (200 if path in OPEN else 401), path
        assert path in OPEN or "X-API-Key" in answer.json()["detail"], path


async def test_operators_addresses_are_for_operators_alone(
    client: httpx.AsyncClient, issue: IssueKey
) -> None:
    """Not for a tenant's key, whatever its scopes; a game server's log comes with a token instead."""
    document = made()["operators"]
    key = {"X-API-Key": await issue(scopes=tuple(SCOPES), rate_limit_rpm=RATE)}
    for path, method, how in example_requests(document):
        if document["paths"][path][method]["security"]:
            assert (await client.request(method, **how, headers=key)).status_code == 403, (path, method)
            assert (await client.request(method, **how)).status_code == 401, (path, method)


async def test_xml_by_accept_is_what_the_sibling_answers(
    client: httpx.AsyncClient, populated: World, issue: IssueKey, document: Json
) -> None:
    """Byte for byte, whatever the key may see."""
    siblings = 0
    alone = "/v1/alive.xml", "/v1/descriptions/betstop_reasons.xml", "/v1/descriptions/betting_status.xml"
    keys = [await issue(scopes=scopes, rate_limit_rpm=RATE) for scopes in _some_scopes()]
    for path, method, how in example_requests(document):
        if not path.endswith(".xml") or path in alone:
            continue
        siblings += 1
        for raw in keys:
            sibling = await client.request(method, **how, headers={"X-API-Key": raw, "Accept": JSON})
            plain = how | {"url": how["url"].removesuffix(".xml")}
            same = await client.request(method, **plain, headers={"X-API-Key": raw, "Accept": "text/xml"})
            assert (sibling.status_code, sibling.content) == (same.status_code, same.content), path
            assert sibling.headers.get("ETag") == same.headers.get("ETag"), path
    assert siblings == 6


def _some_scopes() -> list[tuple[str, ...]]:
    """Each alone, and all."""
    return [*((scope,) for scope in sorted(SCOPES)), tuple(sorted(SCOPES))]


async def test_a_finished_only_key_gets_no_other_match_anywhere(
    client: httpx.AsyncClient, populated: World, issue: IssueKey, document: Json
) -> None:
    hidden = [populated.live, populated.upcoming, populated.cancelled]
    traces = [rf"od:match:{match.number}\b" for match in hidden] + [str(match.id) for match in hidden]
    others = re.compile("|".join(traces))
    limited: dict[str, Any] = {"sports": ("cs2", "soccer"), "finished_only": True, "rate_limit_rpm": RATE}
    raw = await issue("limited", scopes=tuple(SCOPES), probabilities=True, **limited)
    seen = 0
    for match in (populated.live, populated.upcoming, populated.cancelled, populated.finished):
        ref = f"od:match:{match.number}"
        for path, method, how in example_requests(document, match_id=ref, event_id=ref):
            for kind in formats(document, path, method) if method == "get" else ():
                answer = await client.request(method, **how, headers={"Accept": kind, "X-API-Key": raw})
                ill = path == "/v1/ready" and answer.status_code == 503
                assert ill or answer.status_code in (200, 404), (path, kind, answer.text)
                about = {"match_id", "event_id"} & set(re.findall(r"{(\w+)}", path))
                assert not about or (answer.status_code == 200) == (match is populated.finished), (path, kind)
                if answer.status_code == 200 and not path.endswith("api.json"):
                    assert not others.search(answer.text), (path, kind)
                    seen += ref in answer.text and match is populated.finished
    assert seen > 10

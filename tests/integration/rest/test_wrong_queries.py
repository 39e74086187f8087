"""A refusal names everything that is wrong in the query, each as it is named where it is wrong alone."""

from typing import Any

import httpx
import pytest

from app.store.connections import Store
from tests.support.tenants import give_vhost
from tests.support.web import Headers

RECOVERY = "/cs2/v1/recovery/initiate_request"
TOO_OLD, FUTURE = "1", "99999999999999"


@pytest.fixture
async def key(operator: Headers, store: Store) -> Headers:
    """A key for everything, whose tenant has a vhost."""
    await give_vhost(store, "house")
    return operator


async def fields(
    client: httpx.AsyncClient, key: Headers, path: str, query: dict[str, str]
) -> list[dict[str, Any]]:
    method = "POST" if path == RECOVERY else "GET"
    answer = await client.request(method, path, params=query, headers=key)
    assert answer.status_code == 422, answer.text
    found: list[dict[str, Any]] = answer.json()["detail"]
    for field in found:
        field.get("ctx", {}).clear()  # the edges of the window, at each moment
        field["msg"] = field["msg"].partition("; the service's clock")[0].partition(": the earliest")[0]
    return found


async def test_everything_wrong_is_named_at_once(client: httpx.AsyncClient, key: Headers) -> None:
    for path, sound, wrong in [
        ("/cs2/v1/matches", {}, {"status": "x", "limit": "0", "cursor": "x", "from": "7", "to": "x"}),
        ("/cs2/v1/settlements", {}, {"since_id": "-1", "limit": "1e2"}),
        ("/cs2/v1/search", {"q": "nor"}, {"q": "  ", "types": "x", "limit": "51"}),
        ("/cs2/v1/search", {"q": "nor"}, {"q": "n", "types": "team,x", "limit": "null"}),
        ("/cs2/v1/players", {}, {"team_id": "x", "cursor": "-", "limit": "201"}),
        ("/cs2/v1/tournaments", {}, {"tier": "E", "is_lan": "2", "from": "2031-02-30", "limit": "x"}),
        ("/ops/v1/alerts", {}, {"open": "x", "kind": "x", "match": "x", "limit": "0"}),
        ("/ops/v1/consents", {}, {"match": "x", "limit": "0"}),
        ("/v1/ready", {}, {"parts": "x"}),
        (RECOVERY, {"request_id": "7"}, {"request_id": "0", "node_id": "x", "after": "x"}),
        (RECOVERY, {"request_id": "7"}, {"node_id": "0", "after": TOO_OLD}),
        (RECOVERY, {"request_id": "7"}, {"request_id": "x", "after": FUTURE}),
    ]:
        for also in [{}, {"nonsense": "1"}, {"nonsense": "1", "other": "null"}]:
            alone = [await fields(client, key, path, sound | {name: value}) for name, value in wrong.items()]
            if also:
                alone.append(await fields(client, key, path, sound | also))
            named = [len(one) for one in alone]
            assert named == [*(1 for _ in wrong), *([len(also)] if also else [])], (path, also)
            together = await fields(client, key, path, sound | wrong | also)
            expected = sorted((field for one in alone for field in one), key=lambda field: field["loc"])
            assert sorted(together, key=lambda field: field["loc"]) == expected, (path, also)


async def test_an_absent_parameter_hides_no_wrong_one(client: httpx.AsyncClient, key: Headers) -> None:
    for query in ({"limit": "0"}, {"limit": "0", "types": "x"}, {"limit": "0", "nonsense": ""}):
        named = [field["loc"][1] for field in await fields(client, key, "/cs2/v1/search", query)]
        assert sorted(named) == sorted({"q", *query})


async def test_a_refusal_says_what_to_send(client: httpx.AsyncClient, key: Headers) -> None:
    for path, query, expected in [
        (
            "/cs2/v1/matches",
            {"status": "discovered"},
            "Invalid enum value 'discovered'. Send one of: cancelled, finished, live, upcoming.",
        ),
        ("/cs2/v1/matches", {"limit": "many"}, "This must be a whole number, in digits."),
        ("/cs2/v1/tournaments", {"is_lan": "perhaps"}, "Send true or false."),
        (
            "/cs2/v1/players",
            {"cursor": "-"},
            "This does not fit. Expected: The `next_cursor` of the page before, unchanged.",
        ),
    ]:
        (field,) = await fields(client, key, path, query)
        assert field["msg"] == expected, path

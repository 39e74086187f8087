"""What the interface specification's tables state about scopes, bundles, sports and headers: all of it.

The tables are written out here once more, independently of the code; every combination is made from them.
"""

from itertools import combinations, product

import httpx
import pytest

from app.access.api_keys import new_key
from app.domain.match import Match
from tests.support.web import IssueKey

SCOPES = {
    *(f"cs2:matches:{action}" for action in ("list", "read", "detail", "scoreboard", "internals")),
    *(f"cs2:markets:{action}" for action in ("read", "settlements")),
    *(f"cs2:{what}:{action}" for what in ("tournaments", "teams", "players") for action in ("list", "read")),
    "cs2:maps:read",
    *(f"cs2:stream:{what}" for what in ("matches", "markets", "scoreboard")),
    "cs2:recovery:initiate",
}
MATCHES = {"cs2:matches:list", "cs2:matches:read", "cs2:matches:detail"}
ENTRANTS = {scope for scope in SCOPES if scope.split(":")[1] in ("tournaments", "teams", "players")}
BUNDLES = {
    "cs2.odds.basic": MATCHES
    | ENTRANTS
    | {"cs2:markets:read", "cs2:markets:settlements", "cs2:stream:matches", "cs2:stream:markets"}
    | {"cs2:recovery:initiate"},
    "cs2.odds.scoreboard-addon": {"cs2:matches:scoreboard", "cs2:stream:scoreboard"},
    "cs2.stats": MATCHES | ENTRANTS | {"cs2:maps:read"},
    "cs2.scoretock": MATCHES | {"cs2:tournaments:read", "cs2:teams:read", "cs2:players:read"},
    "cs2.operator": SCOPES,
}
#: Field groups of a match: the fields that the specification names, and the scopes one of which opens them.
GROUPS: dict[tuple[str, ...], set[str]] = {
    ("cs2:matches:list", "cs2:matches:read"): {
        *("id", "team_a", "team_b", "event", "bo_type", "status", "scheduled_at", "score_a", "score_b")
    },
    ("cs2:matches:read",): {"started_at", "finished_at", "maps"},
    ("cs2:matches:detail",): {"rounds", "events", "streams", "demo_url", "player_stats"},
    ("cs2:markets:read",): {"markets"},
    ("cs2:matches:scoreboard",): {"scoreboard"},
    ("cs2:matches:internals",): {"external_match_id", "data_delay_seconds", "suspended"}
    | {"booking_status", "source_url"},
}
#: Paths below one match, or none, and the scope that each needs.
PATHS = {
    "/cs2/v1/matches": "cs2:matches:list",
    "/cs2/v1/matches/{id}/markets": "cs2:markets:read",
    "/cs2/v1/matches/{id}/rounds": "cs2:matches:detail",
    "/cs2/v1/matches/{id}/timeline": "cs2:matches:detail",
    "/cs2/v1/matches/{id}/settlements": "cs2:markets:settlements",
    "/cs2/v1/settlements": "cs2:markets:settlements",
    "/cs2/v1/tournaments": "cs2:tournaments:list",
    "/cs2/v1/tournaments/1": "cs2:tournaments:read",
    "/cs2/v1/teams": "cs2:teams:list",
    "/cs2/v1/teams/1": "cs2:teams:read",
    "/cs2/v1/players": "cs2:players:list",
    "/cs2/v1/players/1": "cs2:players:read",
    "/cs2/v1/maps": "cs2:maps:read",
    "/cs2/v1/maps/pool": "cs2:maps:read",
    "POST /cs2/v1/recovery/initiate_request?request_id=1": "cs2:recovery:initiate",
}
HEADERS = ("X-API-Key", "x-access-token", "$x$access-token")


async def fetch(client: httpx.AsyncClient, path: str, raw: str) -> httpx.Response:
    method, _, place = path.rpartition(" ")
    return await client.request(method or "GET", place, headers=[(b"x-api-key", raw.encode())])


async def test_bundles_are_those_of_the_table(client: httpx.AsyncClient, issue: IssueKey) -> None:
    for bundle, granted in BUNDLES.items():
        whoami = await fetch(client, "/v1/whoami", await issue(bundles=(bundle,)))
        assert set(whoami.json()["data"]["scopes"]) == granted, bundle
        assert bundle not in whoami.text
    both = await issue(bundles=("cs2.odds.basic", "cs2.odds.scoreboard-addon"))
    shown = (await fetch(client, "/v1/whoami", both)).json()["data"]["scopes"]
    assert set(shown) == BUNDLES["cs2.odds.basic"] | BUNDLES["cs2.odds.scoreboard-addon"]


async def test_every_set_of_scopes_opens_its_fields_and_no_others(
    client: httpx.AsyncClient, upcoming: Match, issue: IssueKey
) -> None:
    opening = sorted({scope for needed in GROUPS for scope in needed})
    for size in range(1, len(opening) + 1):
        for granted in combinations(opening, size):
            answer = await fetch(client, f"/cs2/v1/matches/{upcoming.id}", await issue(scopes=granted))
            if not {"cs2:matches:list", "cs2:matches:read"} & set(granted):
                assert answer.status_code == 403
                continue
            seen = set(answer.json()["data"])
            for needed, fields in GROUPS.items():
                opened = any(scope in granted for scope in needed)
                assert seen & fields == (fields if opened else set()), (granted, needed)


async def test_scopes_that_open_no_fields_open_none(
    client: httpx.AsyncClient, upcoming: Match, issue: IssueKey
) -> None:
    opening = {scope for needed in GROUPS for scope in needed}
    path = f"/cs2/v1/matches/{upcoming.id}"
    plain = await fetch(client, path, await issue(scopes=("cs2:matches:list",)))
    more = await issue(scopes=("cs2:matches:list", *sorted(SCOPES - opening)))
    assert set((await fetch(client, path, more)).json()["data"]) == set(plain.json()["data"])


async def test_every_combination_of_key_headers(client: httpx.AsyncClient, issue: IssueKey) -> None:
    good, other = await issue(bundles=("cs2.stats",)), await issue(bundles=("cs2.stats",))
    unknown = new_key()
    for values in product((None, good, other, unknown, ""), repeat=len(HEADERS)):
        sent = {name: value for name, value in zip(HEADERS, values, strict=True) if value is not None}
        used = set(sent.values()) - {""}
        expected = 401 if not used else 400 if len(used) > 1 else 200 if used <= {good, other} else 403
        answer = await client.get("/v1/whoami", headers=sent)
        assert answer.status_code == expected, sorted(sent)
        assert expected == 200 or set(answer.json()) == {"detail"}


async def test_a_finished_only_key_sees_nothing_of_what_is_not_finished(
    client: httpx.AsyncClient, upcoming: Match, finished: Match, issue: IssueKey
) -> None:
    """Whether the property came with the bundle or by itself."""
    everything = tuple(sorted(SCOPES))
    keys = [await issue(bundles=("cs2.scoretock",)), await issue(scopes=everything, finished_only=True)]
    for raw in keys:
        listing = (await fetch(client, "/cs2/v1/matches", raw)).json()
        assert [row["id"] for row in listing["data"]] == [str(finished.id)]
        assert listing["meta"]["total"] == 1
        for path in ("/cs2/v1/matches/{id}", *(path for path in PATHS if "{id}" in path)):
            hidden = await fetch(client, path.format(id=upcoming.id), raw)
            shown = await fetch(client, path.format(id=finished.id), raw)
            assert hidden.status_code in (403, 404), path
            assert hidden.status_code == 403 or shown.status_code == 200
            assert hidden.status_code == 404 or shown.status_code == 403
            missing = await fetch(client, path.format(id="od:match:404404"), raw)
            assert hidden.text.replace(str(upcoming.id), "") == missing.text.replace("od:match:404404", "")


@pytest.mark.parametrize("path", ["/v1/whoami", "/cs2/v1/matches", "/ops/v1/tenants"])
async def test_no_refusal_of_a_key_gives_the_reason(
    client: httpx.AsyncClient, issue: IssueKey, path: str
) -> None:
    tied = await issue(bundles=("cs2.operator",), networks=("192.0.2.1",))
    answers = [await fetch(client, path, raw) for raw in (new_key(), "x", tied, tied[:-1], "é" * 54)]
    assert {answer.status_code for answer in answers} == {403}
    assert len({answer.text for answer in answers}) == 1

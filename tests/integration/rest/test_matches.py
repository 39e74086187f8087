"""Matches as different keys see them."""

from urllib.parse import quote

import httpx
import pytest
from lxml import etree
from msgspec.structs import replace

from app.commands.match_commands import Cancel
from app.domain import scopes
from app.domain.match import Match, Status
from app.store import entrants, matches
from app.store.connections import Store
from tests.integration.ingest.conftest import NOW
from tests.support import logs
from tests.support.eventually import eventually
from tests.support.matches import create_match, execute
from tests.support.stored import put_entrants
from tests.support.web import Headers, IssueKey, data

BASIC = {
    *("id", "urn", "team_a", "team_b", "event", "bo_type", "status", "scheduled_at"),
    *("score_a", "score_b", "map_name", "team_a_logo", "team_b_logo"),
}
READ = {"started_at", "finished_at", "winner", "maps"}
DETAIL = {"rounds", "events", "streams", "demo_url", "player_stats"}


@pytest.mark.parametrize(
    ("granted", "fields"),
    [
        ((scopes.LIST,), BASIC),
        ((scopes.READ,), BASIC | READ),
        ((scopes.READ, scopes.DETAIL), BASIC | READ | DETAIL),
        ((scopes.READ, scopes.MARKETS), BASIC | READ | {"markets"}),
        ((scopes.READ, scopes.SCOREBOARD), BASIC | READ | {"scoreboard"}),
    ],
)
async def test_a_key_sees_what_its_scopes_open(
    client: httpx.AsyncClient, live: Match, issue: IssueKey, granted: tuple[str, ...], fields: set[str]
) -> None:
    headers = {"X-API-Key": await issue(scopes=granted)}
    assert set(await data(client, f"/cs2/v1/matches/{live.id}", headers)) == fields


async def test_every_form_of_an_id_names_the_match(
    client: httpx.AsyncClient, live: Match, basic: Headers
) -> None:
    urn = f"od:match:{live.number}"
    for ref in (str(live.id), str(live.id).upper(), urn, quote(urn, safe="")):
        assert (await data(client, f"/cs2/v1/matches/{ref}", basic))["id"] == str(live.id)


async def test_the_current_state_of_a_match(client: httpx.AsyncClient, live: Match, basic: Headers) -> None:
    seen = await data(client, f"/cs2/v1/matches/{live.id}", basic)
    assert (seen["status"], seen["bo_type"], seen["map_name"]) == ("live", "bo3", logs.MAP)
    assert (seen["team_a"], seen["score_a"], seen["maps"][0]["score_a"]) == (logs.HOME, 0, 1)
    assert seen["rounds"][0]["winner"] == "team_a"
    assert [event["type"] for event in seen["events"]] == ["kill"] * 5
    assert {13, 6} <= {market["id"] for market in seen["markets"]}
    assert all(1 < market["odds"] <= 50 for market in seen["markets"])


async def test_a_match_shows_the_logos_that_its_teams_have_now(
    client: httpx.AsyncClient, store: Store, live: Match, basic: Headers
) -> None:
    path = f"/cs2/v1/matches/{live.id}"

    async def logos() -> set[tuple[str | None, str | None]]:
        preview = (await data(client, f"{path}/prematch", basic))["match"]
        met = (await data(client, f"/cs2/v1/teams/{live.away_id}/h2h/{live.home_id}", basic))["matches"]
        rows = await data(client, "/cs2/v1/matches", basic)
        shown = [await data(client, path, basic), *rows, preview, *met]
        assert len(shown) == 4
        return {(one["team_a_logo"], one["team_b_logo"]) for one in shown}

    await make(store, Status.FINISHED, 2)
    for icon_url in ("", "https://img.example/alpha.png", "https://img.example/new.png"):
        async with store.autocommit() as tx:
            team = await entrants.get(tx, entrants.TEAMS, live.home_id or 0)
        await put_entrants(store, entrants.TEAMS, replace(team, icon_url=icon_url))
        wanted = {(icon_url or None, None)}
        assert await eventually(logos, lambda shown, wanted=wanted: shown == wanted)


async def test_resources_of_a_match_equal_its_parts(
    client: httpx.AsyncClient, live: Match, basic: Headers
) -> None:
    path = f"/cs2/v1/matches/od:match:{live.number}"
    seen = await data(client, path, basic)
    assert await data(client, f"{path}/rounds", basic) == seen["rounds"]
    assert await data(client, f"{path}/timeline", basic) == seen["events"]
    assert await data(client, f"{path}/markets", basic) == seen["markets"]
    entries = await data(client, f"{path}/settlements", basic)
    ids = [entry["id"] for entry in entries]
    assert ids == sorted(ids) and entries
    references = {event["id"] for event in seen["events"]} | {played["id"] for played in seen["rounds"]}
    winner = next(entry for entry in entries if entry["market_offer_id"] == "13:map=1|round=1|team=home")
    moved = winner["previous_status"], winner["new_status"], winner["outcome"]
    assert moved == ("pending", "settled", "won")
    assert winner["rests_on"] and set(winner["rests_on"]) <= references
    first = (await client.get(f"{path}/settlements?limit=1", headers=basic)).json()
    assert first["data"] == entries[:1]
    assert first["meta"] == {"count": 1, "limit": 1, "total": len(entries), "next_cursor": str(ids[0])}


async def test_a_settled_market_is_not_offered(
    client: httpx.AsyncClient, live: Match, basic: Headers
) -> None:
    path = f"/cs2/v1/matches/{live.id}/markets"
    shown = {market["market_offer_id"]: market for market in await data(client, path, basic)}
    entries = await data(client, path.replace("markets", "settlements"), basic)
    assert entries and not shown.keys() & {entry["market_offer_id"] for entry in entries}
    assert {market["status"] for market in shown.values()} <= {"active", "suspended"}
    document = etree.fromstring((await client.get(f"{path}.xml", headers=basic)).content)
    assert document.tag == "odds_change"
    offers = {f"{node.get('id')}:{node.get('specifiers') or ''}" for node in document.iter("market")}
    assert offers == shown.keys()


async def make(store: Store, status: Status, at: int, *, played: bool = True) -> Match:
    """A match that begins or began at `at`; one that is over was played, unless `played` is false."""
    match = await create_match(store, NOW, scheduled_at=at)
    if status is Status.CANCELLED:
        await execute(store, match, Cancel(request_id=f"cancel {match.number}"), NOW)
    begun = at if played and status not in (Status.UPCOMING, Status.DISCOVERED) else None
    async with store.transaction() as tx:
        changed = replace(await matches.lock(tx, match.id), status=status, started_at=begun)
        await tx.write([matches.save_statement(changed)])
    return changed


async def test_keys_for_finished_matches_see_nothing_else(
    client: httpx.AsyncClient, store: Store, issue: IssueKey
) -> None:
    headers = {"X-API-Key": await issue(bundles=("cs2.scoretock",))}
    live, finished = await make(store, Status.LIVE, 1), await make(store, Status.FINISHED, 2)
    assert set(await data(client, f"/cs2/v1/matches/{finished.id}", headers)) == BASIC | READ | DETAIL
    for path in ("", "/rounds", "/timeline"):
        assert (await client.get(f"/cs2/v1/matches/{live.id}{path}", headers=headers)).status_code == 404

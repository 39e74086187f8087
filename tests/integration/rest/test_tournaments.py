"""Tournaments: their list as requested, and one with its competitors."""

import httpx
import pytest

from app.domain.entrants import Category, Competitor, Tournament
from app.kit.clock import iso_seconds
from app.store import entrants
from app.store.connections import Store
from tests.integration.ingest.conftest import NOW
from tests.support.matches import create_match
from tests.support.stored import put_entrants
from tests.support.web import data

MAY = 1_935_792_000_000  #: the sixth of May 2031


@pytest.fixture
async def known(store: Store) -> None:
    tournaments = [
        Tournament(1, "Masters", tier="S", is_lan=True, category_id=7, starts_at=MAY, ends_at=MAY + 1),
        Tournament(2, "Open", tier="A", category_id=7, team_ids=(11,), prize_pool_usd=1000, format="bo3"),
        Tournament(3, "Minor", tier="S", starts_at=MAY - 86_400_000),
    ]
    await put_entrants(store, entrants.CATEGORIES, Category(7, "Norland"))
    await put_entrants(store, entrants.TOURNAMENTS, *tournaments)
    await put_entrants(store, entrants.TEAMS, Competitor(11, "Copper Owls"), Competitor(12, "Dune Larks"))
    await create_match(store, NOW, home="Dune Larks", away="Newcomers", event="Open", scheduled_at=NOW)
    await create_match(store, NOW, home="X", away="Y", event="Showmatch")


@pytest.mark.usefixtures("known")
async def test_the_list_is_as_requested(client: httpx.AsyncClient, basic: dict[str, str]) -> None:
    for query, names in [
        ("", ["Masters", "Open", "Minor", "Showmatch"]),
        ("tier=s", ["Masters", "Minor"]),
        ("tier=D", []),
        ("is_lan=true", ["Masters"]),
        ("is_lan=false", ["Open", "Minor"]),
        ("region=NORLAND", ["Masters", "Open"]),
        ("region=nowhere", []),
        ("from=2031-05-06", ["Masters"]),
        ("from=2031-05-05", ["Masters", "Minor"]),
        ("tier=S&is_lan=true&region=norland&from=2031-01-01", ["Masters"]),
        ("limit=2", ["Masters", "Open"]),
        ("limit=2&cursor=2", ["Minor", "Showmatch"]),
    ]:
        rows = await data(client, f"/cs2/v1/tournaments?{query}", basic)
        assert [row["name"] for row in rows] == names, query


async def test_what_does_not_fit_is_refused(client: httpx.AsyncClient, basic: dict[str, str]) -> None:
    for query in ["tier=Z", "tier=SS", "is_lan=2", "from=yesterday", "limit=201", "cursor=x", "day=1"]:
        refused = await client.get(f"/cs2/v1/tournaments?{query}", headers=basic)
        assert refused.status_code == 422, query
        assert refused.json()["detail"][0]["loc"] == ["query", query.split("=")[0]], query


@pytest.mark.usefixtures("known")
async def test_a_tournament_with_those_who_take_part(
    client: httpx.AsyncClient, basic: dict[str, str]
) -> None:
    seen = await data(client, "/cs2/v1/tournaments/mf:tournament:2", basic)
    teams = seen.pop("teams")
    assert seen == {
        "id": "mf:tournament:2",
        "external_id": 2,
        "name": "Open",
        "tier": "A",
        "is_lan": False,
        "region": "Norland",
        "prize_pool_usd": 1000,
        "format": "bo3",
        "starts_at": iso_seconds(NOW),
        "ends_at": iso_seconds(NOW),
        "logo_url": None,
    }
    assert [team["name"] for team in teams] == ["Copper Owls", "Dune Larks", "Newcomers"]
    dates = await data(client, "/cs2/v1/tournaments/1", basic)
    assert dates["starts_at"] == "2031-05-06T00:00:00+00:00"


@pytest.mark.usefixtures("known")
async def test_whether_a_showmatch_is_on_lan_is_unknown(
    client: httpx.AsyncClient, basic: dict[str, str]
) -> None:
    rows = await data(client, "/cs2/v1/tournaments", basic)
    assert {row["name"]: row["is_lan"] for row in rows}["Showmatch"] is None

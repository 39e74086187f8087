"""The documents' content, as far as the specification and existing clients require it."""

from collections.abc import AsyncIterator
from functools import partial
from itertools import count
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from app.commands import match_entrants
from app.domain.analytics import PlayerOnMap, PlayerTally
from app.domain.entrants import Competitor, Player, Tournament, player_number
from app.domain.loadout import Loadout
from app.domain.map_play import MatchPlayer
from app.domain.match import RosterEntry, Status
from app.settings import Settings
from app.store import entrants, statistics
from app.store.connections import Store
from app.store.entrants import MAX_FILE_NUMBER
from tests.support.eventually import eventually
from tests.support.facade import APRIL_2031, PATHS, World, create_world, document
from tests.support.stored import put_entrants
from tests.support.web import Headers, IssueKey, serving

FIXTURE = "/v1/sports/{locale}/sport_events/{event}/fixture"
SUMMARY = "/v1/sports/{locale}/sport_events/{event}/summary"
INFO = "/v1/sports/{locale}/tournaments/{tournament}/info"
AVAILABLE_SELECTIONS = "/v1/custombet/{event}/available_selections"
PRE = "/v1/sports/{locale}/schedules/pre/schedule"
SQUAD = "/v1/sports/{locale}/competitors/{competitor}/profile"
PERSON = "/v1/sports/{locale}/players/{player}/profile"


class Reader:
    """Reads documents about the world with one key."""

    def __init__(self, client: httpx.AsyncClient, headers: Headers, world: World) -> None:
        self._client, self._headers, self._world = client, headers, world

    async def __call__(self, template: str, locale: str = "en", status: Status = Status.LIVE) -> Any:
        answer = await self._client.get(self._world.path(template, locale, status), headers=self._headers)
        return document(answer, PATHS[template][0])


@pytest.fixture
def read(client: httpx.AsyncClient, basic: Headers, world: World) -> Reader:
    return Reader(client, basic, world)


def info(found: Any) -> dict[str, str]:
    return {node.get("key"): node.get("value") for node in found.iter("info")}


async def test_two_competitors_home_first_and_the_format(read: Reader) -> None:
    for template in (FIXTURE, SUMMARY, PRE):
        found = (await read(template))[0]
        assert [node.get("qualifier") for node in found.find("competitors")] == ["home", "away"]
        assert [node.get("name") for node in found.find("competitors")] == ["Northern Lights", "Iron Tide"]
        assert info(found)["sport_format"] == "classic"
        assert info(found)["best_of"] == "3"
        assert found.find("tournament/sport").get("id") == "3"


async def test_the_composed_name_and_nothing_else_is_in_the_language(read: Reader) -> None:
    for template in (FIXTURE, SUMMARY, PRE):
        names = {locale: (await read(template, locale))[0].get("name") for locale in ("en", "ru")}
        assert names == {"en": "Northern Lights vs Iron Tide", "ru": "Northern Lights против Iron Tide"}
        for locale in ("en", "ru"):
            found = await read(template, locale)
            assert {node.get("name") for node in found.iter("tournament")} == {"Northern Cup 4"}
            assert {node.get("name") for node in found.iter("sport")} == {"Counter-Strike 2"}


async def test_a_tournament(read: Reader) -> None:
    found = await read(INFO)
    tournament = found.find("tournament")
    assert dict(tournament.attrib) == {
        "id": "mf:tournament:5",
        "name": "Northern Cup 4",
        "abbreviation": "NC4",
        "risk_tier": "2",
        "scheduled": "2031-04-02T16:00:00Z",
        "scheduled_end": "2031-04-11T16:00:00Z",
        "icon_path": "https://img.example/5.svg",
    }
    assert dict(tournament.find("tournament_length").attrib) == {
        "start_date": "2031-04-02",
        "end_date": "2031-04-11",
    }
    assert tournament.find("sport").get("id") == "3", "the category, as the list of sports has it"
    taking_part = [node.get("id") for node in found.find("competitors")]
    assert taking_part == ["mf:competitor:11", "mf:competitor:12"], "one is named, one plays"
    assert [node.get("id") for node in tournament.find("competitors")] == taking_part


async def test_what_no_file_brought_is_derived(
    client: httpx.AsyncClient, basic: Headers, store: Store
) -> None:
    """Names alone are known: clients get abbreviations, a full name and the dates of matches all the same."""
    world = await create_world(
        store,
        tournament=Tournament(5, "Harbour Invitational"),
        home=Competitor(11, "Oaken Static"),
        away=Competitor(12, "fnatic"),
        player=Player(101, "k0va", team_id=11),
    )
    read = Reader(client, basic, world)
    event = (await read(FIXTURE))[0]
    assert [node.get("abbreviation") for node in event.find("competitors")] == ["OS", "FNA"]
    assert event.find("tournament").get("abbreviation") == "HI"
    (player,) = await read(PERSON)
    assert player.get("full_name") == "k0va"
    tournament = (await read(INFO)).find("tournament")
    assert tournament.get("scheduled") == "2031-04-02T16:00:00Z", "of a match to come"
    assert tournament.get("scheduled_end") == "2031-04-02T18:30:00Z", "of the finished match"


async def test_a_team_with_its_squad_and_a_player(read: Reader) -> None:
    profile = await read(SQUAD)
    team = profile.find("competitor")
    assert (team.get("country_code"), team.get("icon_path")) == ("EST", "https://img.example/teams/11.png")
    assert [node.get("id") for node in profile.find("players")] == ["mf:player:101"]
    (player,) = await read(PERSON)
    assert (player.get("name"), player.get("full_name")) == ("k0va", "Ilmar Kovač")


async def test_no_squad_is_ever_empty(client: httpx.AsyncClient, basic: Headers, world: World) -> None:
    """Clients that find an empty one request the profile again with each message."""
    nobody = Reader(client, basic, replace(world, home=world.away))
    assert (await nobody(SQUAD)).find("players") is None
    assert len((await Reader(client, basic, world)(SQUAD)).find("players")) == 1


async def test_the_players_of_a_match_are_the_squad_of_an_undescribed_team(
    client: httpx.AsyncClient, basic: Headers, issue: IssueKey, store: Store
) -> None:
    """Each has a profile, under the number of their account, which nobody may read who sees finished matches
    only until such a match has them."""
    seen = {
        "roster": (RosterEntry(7, "away"), RosterEntry(8, "away"), RosterEntry(9, "home")),
        "loadouts": (Loadout(7, "ember", "T"), Loadout(8, "quill", "T"), Loadout(9, "k0va", "CT")),
    }
    world = await create_world(store, fields=seen)
    world = replace(world, home=world.away)
    limited = {"X-API-Key": await issue(bundles=("cs2.scoretock",))}
    async with store.transaction() as tx:
        await match_entrants.record_roster(tx, world.matches[Status.LIVE])
    players = (await Reader(client, basic, world)(SQUAD)).find("players")
    numbers = {node.get("name"): int(node.get("id").rpartition(":")[2]) for node in players}
    assert numbers == {"ember": player_number(7), "quill": player_number(8)}
    assert (await Reader(client, limited, world)(SQUAD)).find("players") is None

    async def profile(number: int, headers: Headers) -> Any:
        (found,) = await Reader(client, headers, replace(world, player=Player(number, "")))(PERSON)
        return found

    for name, number in numbers.items():
        found = await profile(number, basic)
        assert (found.get("id"), found.get("name")) == (f"mf:player:{number}", name)
        with pytest.raises(AssertionError, match="NOT_FOUND"):
            await profile(number, limited)
    played = PlayerOnMap(1, "de_nuke", MatchPlayer(7, "ember"), "", world.away.id, PlayerTally())
    async with store.transaction() as tx:
        await statistics.replace(tx, world.matches[Status.FINISHED].id, 1, (), (played,))
    assert (await profile(player_number(7), limited)).get("name") == "ember"
    await put_entrants(store, entrants.PLAYERS, Player(101, "ember", "Em Ber", account=7))

    async def full_name() -> Any:
        return (await profile(player_number(7), basic)).get("full_name")

    await eventually(full_name, lambda seen: seen == "Em Ber")
    assert (await profile(101, basic)).get("id") == f"mf:player:{player_number(7)}"


async def test_a_summary_shows_the_state_of_a_match(read: Reader) -> None:
    codes = {Status.DISCOVERED: "0", Status.UPCOMING: "0", Status.LIVE: "1", Status.FINISHED: "4"}
    listed = {node.get("id") for node in await read("/v1/descriptions/{locale}/match_status")}
    assert listed == {"0", "1", "4", "5"}
    for status, code in (codes | {Status.CANCELLED: "5"}).items():
        state = (await read(SUMMARY, status=status)).find("sport_event_status")
        assert state.get("match_status_code") == code
        assert state.get("winner_id") == ("mf:competitor:12" if status is Status.FINISHED else None)
    state = (await read(SUMMARY)).find("sport_event_status")
    (score,) = state.find("period_scores")
    assert (score.get("home_won_rounds"), score.get("away_won_rounds")) == ("7", "5")
    assert state.find("scoreboard").get("current_round") == "13"


async def test_streams_are_for_keys_that_may_see_them(
    client: httpx.AsyncClient, read: Reader, world: World, issue: IssueKey
) -> None:
    fixture = (await read(FIXTURE))[0]
    (channel,) = fixture.find("tv_channels")
    assert dict(channel.attrib) == {
        "name": "Main stage",
        "language": "en",
        "stream_url": "https://live.example/main?a=1&b=2",
    }
    assert fixture.get("start_time") == "2031-04-02T16:02:03Z"
    less = Reader(client, {"X-API-Key": await issue(scopes=("cs2:matches:read",))}, world)
    assert (await less(FIXTURE))[0].find("tv_channels") is None


async def test_what_is_not_known_is_left_out(read: Reader) -> None:
    found = (await read(FIXTURE, status=Status.DISCOVERED))[0]
    assert found.get("scheduled") is None and found.get("start_time") is None
    assert found.get("start_time_tbd") == "true"


async def test_markets_are_templates_in_one_language(read: Reader) -> None:
    english, russian = [await read("/v1/descriptions/{locale}/markets", locale) for locale in ("en", "ru")]
    assert len(english) == len(russian) > 20
    for one, other in zip(english, russian, strict=True):
        assert one.get("id") == other.get("id")
        assert one.get("name") != other.get("name")
        assert one.get("description") == other.get("description"), "stays English"
        assert [node.get("id") for node in one.iter("outcome")] == ["1"]
        assert {node.get("type") for node in one.iter("specifier")} <= {"integer", "variable_text", "decimal"}


async def test_a_variant_has_the_declared_outcomes(client: httpx.AsyncClient, basic: Headers) -> None:
    for number in ("1", "od:market:1"):
        path = f"/v1/descriptions/en/markets/{number}/variants/od%3Adynamic_outcomes%3A27%7Cv1"
        (market,) = document(await client.get(path, headers=basic), "market_descriptions")
        assert market.get("variant") == "od:dynamic_outcomes:27|v1"
        assert [node.get("id") for node in market.iter("outcome")] == ["1"]


async def test_void_reasons(read: Reader) -> None:
    for template in ("/v1/descriptions/{locale}/void_reasons", "/v1/descriptions/void_reasons"):
        found = await read(template)
        assert [node.get("id") for node in found] == ["4", "14", "15"]
        assert all(node.get("name") and node.get("description") for node in found)


async def test_the_producer_is_that_of_the_deployment(
    settings: Settings, basic: Headers, world: World
) -> None:
    own = {
        "producer_id": 9,
        "recovery_window_minutes": 77,
        "public_url": "https://feed.example/",
        "cs2_category_icon_url": "https://img.example/own.svg",
    }
    async with serving(replace(settings, **own)) as client:
        read = Reader(client, basic, world)
        (producer,) = await read("/v1/descriptions/producers")
        assert (producer.get("id"), producer.get("name"), producer.get("scope")) == ("9", "live", "live")
        assert producer.get("stateful_recovery_window_in_minutes") == "77"
        assert producer.get("active") == "true" and producer.get("description")
        assert producer.get("api_url") == "https://feed.example/v1/"
        (sport,) = await read("/v1/sports/{locale}/sports")
        assert sport.get("icon_path") == "https://img.example/own.svg"
        paths = {"9": 409, "live": 409, "2": 422}
        for product, status in paths.items():
            path = f"/v1/{product}/recovery/initiate_request?request_id=1"
            assert (await client.post(path, headers=basic)).status_code == status


async def test_the_producer_of_a_deployment_that_sets_nothing(read: Reader) -> None:
    (producer,) = await read("/v1/descriptions/producers")
    assert (producer.get("id"), producer.get("stateful_recovery_window_in_minutes")) == ("2", "4320")


async def test_bookmaker_details(read: Reader, basic: Headers, client: httpx.AsyncClient) -> None:
    found = await read("/v1/users/whoami")
    whoami = (await client.get("/v1/whoami", headers=basic)).json()["data"]
    assert found.get("tenant_id") == whoami["tenant_id"]
    assert {node.get("name") for node in found.find("scopes")} == set(whoami["scopes"])
    assert found.get("virtual_host") == "acme"
    assert 0 < int(found.get("bookmaker_id")) < 2**31
    assert found.get("bookmaker_id") == (await read("/v1/users/whoami")).get("bookmaker_id")


async def test_a_finished_only_key_learns_of_no_other_match_by_its_entrants(
    client: httpx.AsyncClient, basic: Headers, issue: IssueKey, store: Store
) -> None:
    """What a match named first, and no file, is known with the match that named it."""
    world = await create_world(
        store,
        tournament=Tournament(MAX_FILE_NUMBER + 1, "Hidden Cup"),
        home=Competitor(MAX_FILE_NUMBER + 1, "Hidden Home"),
        away=Competitor(MAX_FILE_NUMBER + 2, "Hidden Away"),
    )
    async with store.transaction() as tx:
        await tx.execute("DELETE FROM match WHERE status = 'finished'")
    entrants = ("cs2:tournaments:list", "cs2:tournaments:read", "cs2:teams:read")
    key = await issue(scopes=entrants, finished_only=True)
    limited, full = Reader(client, {"X-API-Key": key}, world), Reader(client, basic, world)
    names = [node.get("name") for node in await full("/v1/sports/{locale}/tournaments")]
    assert names == ["Hidden Cup"]
    assert len(await limited("/v1/sports/{locale}/tournaments")) == 0
    for template in (INFO, SQUAD):
        await full(template)
        with pytest.raises(AssertionError, match="NOT_FOUND"):
            await limited(template)


@pytest.fixture
async def ticking(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a service for which a second goes by whenever it looks at its clock."""
    ticks = count(APRIL_2031, 1000)
    async with serving(settings, lambda: next(ticks)) as client:
        yield client


async def test_a_document_is_made_once_until_it_changes(
    ticking: httpx.AsyncClient, issue: IssueKey, world: World, store: Store
) -> None:
    """Schedules once for all who book the same; `generated_at` shows it."""
    slugs = ("alpha", "beta")
    readers = [
        Reader(
            ticking, {"X-API-Key": await issue(slug, bundles=("cs2.odds.basic",), probabilities=True)}, world
        )
        for slug in slugs
    ]

    async def made(template: str) -> set[str]:
        return {(await read(template)).get("generated_at") for read in readers for _ in range(2)}

    alone = {SUMMARY, FIXTURE, AVAILABLE_SELECTIONS, "/v1/users/whoami"}
    for template in PATHS:
        if template != "/v1/sports/{locale}/fixtures/changes":
            wanted = 2 if template in alone else 1
            await eventually(partial(made, template), lambda seen, most=wanted: len(seen) == most)
    (before,) = await made(PRE)
    await put_entrants(store, entrants.TEAMS, replace(world.home, country="Finland"))
    await eventually(partial(made, PRE), lambda seen: len(seen) == 1 and before not in seen)

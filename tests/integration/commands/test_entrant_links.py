"""Every match links to two teams and a tournament, every account to a player."""

import asyncio
from typing import Any

import pytest
from app.domain.map_play import MatchPlayer as Nick
from msgspec.structs import replace

from app.commands import match_commands as c
from app.commands import match_entrants
from app.domain.analytics import PlayerOnMap, PlayerTally
from app.domain.entrants import MAX_FILE_NUMBER, Competitor, Player, Tournament
from app.kit.errors import Invalid
from app.store import entrants
from app.store.connections import Store
from app.store.entrants import PLAYERS, TEAMS, TOURNAMENTS
from tests.integration.ingest.conftest import NOW, Server
from tests.support import logs
from tests.support.matches import create_match, execute


async def create(store: Store, **fields: Any) -> Any:
    return await create_match(store, NOW, **{"event": "Cup", "scheduled_at": NOW} | fields)


async def test_unknown_names_get_stable_ids(store: Store) -> None:
    first = await create(store)
    again = await create(store, home="HARBOUR", away=" north  wind", event="cup ")
    assert len({first.home_id, first.away_id, again.away_id}) == 3
    assert min(first.home_id, first.away_id, again.away_id, first.tournament_id) > MAX_FILE_NUMBER
    assert (again.home_id, again.tournament_id) == (first.away_id, first.tournament_id)
    async with store.autocommit() as tx:
        teams = await entrants.by_ids(tx, TEAMS, [first.home_id, first.away_id, again.away_id])
        tournament = await entrants.get(tx, TOURNAMENTS, first.tournament_id)
    assert [team.name for team in teams] == ["Northwind", "Harbour", "north  wind"]
    assert tournament and tournament.name == "Cup"


async def test_matches_that_are_created_at_once_agree(store: Store) -> None:
    made = await asyncio.gather(*(create(store) for _ in range(4)))
    assert len({(match.home_id, match.away_id, match.tournament_id) for match in made}) == 1
    async with store.autocommit() as tx:
        assert len(await entrants.listing(tx, TEAMS, after=0, limit=10)) == 2


async def test_a_file_goes_before_what_a_match_named(store: Store) -> None:
    own = (await create(store)).home_id
    async with store.transaction() as tx:
        await entrants.put(tx, TEAMS, [Competitor(7, "NorthWind", strength=1600)])
    match = await create(store)
    assert (own > MAX_FILE_NUMBER, match.home_id, match.home_strength) == (True, 7, 1600)


@pytest.fixture
async def twins(store: Store) -> None:
    async with store.transaction() as tx:
        await entrants.put(tx, TEAMS, [Competitor(5, "Twins", strength=1500), Competitor(6, "twins")])
        await entrants.put(tx, TOURNAMENTS, [Tournament(1, "Open"), Tournament(2, "Open")])


def field(refused: pytest.ExceptionInfo[Invalid]) -> tuple[Any, str]:
    return refused.value.fields[0].loc[-1], refused.value.fields[0].type


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"home": "Twins"}, ("id_a", "ambiguous_name")),
        ({"event": "Open"}, ("tournament_id", "ambiguous_name")),
        ({"away_id": 99}, ("id_b", "unknown_team")),
        ({"tournament_id": 3}, ("tournament_id", "unknown_tournament")),
        ({"home_id": 5, "away_id": 5}, ("id_b", "same_team")),
        ({"home": "harbour"}, ("id_b", "same_team")),
    ],
)
@pytest.mark.usefixtures("twins")
async def test_an_unknown_id_is_refused_by_field(
    store: Store, fields: dict[str, Any], named: tuple[str, str]
) -> None:
    with pytest.raises(Invalid) as refused:
        await create(store, **fields)
    assert field(refused) == named
    async with store.autocommit() as tx:
        assert await tx.value("SELECT count(*) FROM match") == 0
        assert await entrants.next_own(tx, TEAMS) == MAX_FILE_NUMBER + 1


@pytest.mark.usefixtures("twins")
async def test_an_id_distinguishes_two_of_one_name(store: Store) -> None:
    match = await create(store, home="Twins", home_id=5, event="Open", tournament_id=2)
    assert (match.home_id, match.tournament_id, match.home_strength) == (5, 2, 1500)


@pytest.mark.parametrize(
    ("command", "named"),
    [
        (c.SetTeams(team_a="A", team_b="B", id_a=99), "id_a"),
        (c.SetTeams(team_a="A", team_b="Twins"), "id_b"),
        (c.Describe(tournament_id=99), "tournament_id"),
    ],
)
@pytest.mark.usefixtures("twins")
async def test_commands_accept_only_known_ids(store: Store, command: c.Command, named: str) -> None:
    match = await create(store)
    with pytest.raises(Invalid) as refused:
        await execute(store, match, command, NOW)
    assert field(refused)[0] == named


@pytest.mark.usefixtures("twins")
async def test_commands_keep_a_match_linked(store: Store) -> None:
    match = await create(store)

    async def executed(command: c.Command) -> Any:
        return await execute(store, match, command, NOW)

    described = await executed(c.Describe(tournament_id=2))
    assert described.tournament_id == 2
    assert (await executed(c.Describe())).tournament_id == match.tournament_id
    renamed = await executed(c.RenameTeam(team="team_a", name="Twins"))
    assert renamed.home_id == match.home_id
    others = await executed(c.SetTeams(team_a="Newcomers", team_b="Northwind"))
    assert others.away_id == match.home_id and others.home_id > match.away_id


async def test_players_are_recorded_when_a_round_begins_and_the_match_is_over(
    store: Store, server: Server
) -> None:
    known = Player(3, "Known", account=101, full_name="A. Known")
    async with store.transaction() as tx:
        await entrants.put(tx, PLAYERS, [known])
    await server.begin()
    await server.send(*logs.ct_win(1, 0))
    async with store.autocommit() as tx:
        assert await entrants.listing(tx, PLAYERS, after=0, limit=20) == [known]
    await server.send(*logs.freeze(1, 0))
    match = await server.state()
    async with store.autocommit() as tx:
        early = await entrants.listing(tx, PLAYERS, after=0, limit=20)
    assert early[0] == known and len(early) > 1
    assert {one.account for one in early} == {one.account for one in match.roster}
    award = c.AwardMatch(winner="team_a")
    match = await execute(store, server.match, award, NOW)
    async with store.autocommit() as tx:
        found = await entrants.of_accounts(tx, range(101, 206))
    assert found[0] == known
    assert {(one.name, one.account, one.team_id) for one in found[1:]} == {
        (f"t{seat}", 200 + seat, match.away_id) for seat in range(1, 6)
    }
    assert min(one.id for one in found[1:]) > MAX_FILE_NUMBER
    moved = [PlayerOnMap(1, "de_nuke", Nick(account, "Moved"), "", 1, PlayerTally()) for account in (201,)]
    async with store.transaction() as tx:
        await match_entrants.record_players(tx, moved)
    await execute(store, match, c.Describe(), NOW)
    async with store.autocommit() as tx:
        (player,) = await entrants.of_accounts(tx, [201])
    assert (player.name, player.team_id) == ("Moved", 1)


async def test_a_player_has_the_name_and_the_team_that_they_were_last_seen_with(store: Store) -> None:
    async def seen(name: str, team_id: int) -> list[Player]:
        played = [
            PlayerOnMap(1, "de_nuke", Nick(account, name), "", team_id, PlayerTally()) for account in (9, 0)
        ]
        async with store.transaction() as tx:
            await match_entrants.record_players(tx, played)
            return await entrants.listing(tx, PLAYERS, after=0, limit=9)

    (first,) = await seen("quill", 1)
    assert await seen("quill", 1) == [first]
    assert await seen("Quill!", 2) == [replace(first, name="Quill!", team_id=2)]

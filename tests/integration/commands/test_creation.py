"""Creation and cancellation of a match."""

import asyncio

import pytest
from msgspec.structs import replace

from app.commands import creation
from app.commands.command_service import CommandService
from app.commands.creation import NewMatch
from app.commands.execution import Sender
from app.commands.match_commands import Cancel
from app.domain.entrants import Competitor, Tournament
from app.domain.match import Status
from app.kit.errors import Conflict, NotFound
from app.store import changes, entrants
from app.store.connections import Store
from tests.integration.ingest.conftest import CONFIG, NOW
from tests.support import stored

TESTER = Sender("tester", "tester")
NEW_MATCH = NewMatch(
    allow_unrated=True,
    home="Northwind",
    away="Harbour",
    event="Cup",
    best_of=3,
    scheduled_at=NOW,
    reference="r1",
)


async def test_a_match_is_created_once_per_reference(store: Store) -> None:
    made = await asyncio.gather(
        *(creation.create_match(store, NEW_MATCH, NOW, CONFIG.pricing) for _ in range(4))
    )
    assert len({match.id for match in made}) == 1
    other = await creation.create_match(store, replace(NEW_MATCH, reference="r2"), NOW, CONFIG.pricing)
    assert other.id != made[0].id and other.number != made[0].number


async def test_a_reference_stands_for_one_match_only(store: Store) -> None:
    await creation.create_match(store, NEW_MATCH, NOW, CONFIG.pricing)
    with pytest.raises(Conflict, match="r1"):
        await creation.create_match(store, replace(NEW_MATCH, away="Others"), NOW, CONFIG.pricing)


async def test_a_new_match_is_in_the_change_log(store: Store) -> None:
    match = await creation.create_match(store, NEW_MATCH, NOW, CONFIG.pricing)
    assert match.status is Status.UPCOMING
    async with store.autocommit() as tx:
        first = (await changes.read(tx, 0, 1))[0]
    assert (first.entity, first.frame, first.message) == ("match", "match.created", "odds_change")
    assert (first.match_id, first.number) == (match.id, match.number)
    assert match.last_stamp == first.at


async def test_a_match_is_cancelled_once(store: Store) -> None:
    match = await creation.create_match(store, NEW_MATCH, NOW, CONFIG.pricing)
    urn = f"od:match:{match.number}"
    service = CommandService(store, CONFIG.pricing)
    cancelled = await service.execute(urn, Cancel(), TESTER, NOW)
    assert cancelled.status is Status.CANCELLED
    with pytest.raises(Conflict, match="cancelled"):
        await service.execute(str(match.id), Cancel(), TESTER, NOW)
    messages = [row.message for row in await stored.changes_after(store, 0)]
    assert messages.count("fixture_change") == 1


async def test_an_unknown_match_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound):
        await CommandService(store, CONFIG.pricing).execute("od:match:99", Cancel(), TESTER, NOW)


async def test_a_new_match_knows_its_teams_and_its_tournament_by_name(store: Store) -> None:
    async with store.transaction() as tx:
        teams = [Competitor(4, "NORTHWIND", strength=1700), Competitor(5, "Harbour")]
        await entrants.put(tx, entrants.TEAMS, teams)
        await entrants.put(tx, entrants.TOURNAMENTS, [Tournament(9, "Cup")])
    match = await creation.create_match(store, NEW_MATCH, NOW, CONFIG.pricing)
    assert (match.home_id, match.home_strength, match.away_id, match.tournament_id) == (4, 1700, 5, 9)

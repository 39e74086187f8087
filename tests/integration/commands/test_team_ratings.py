"""Ratings follow results, ours and imported, in order of time; matches before play follow ratings."""

import asyncio
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from app.commands import creation, match_update, rating_import
from app.commands import match_commands as c
from app.commands.creation import NewMatch
from app.commands.rating_import import ImportCounts, Imported, ImportedResult, ImportedStrength
from app.domain.changes import DetailsChanged, MatchCancelled
from app.domain.entrants import Competitor
from app.domain.match import MapPlay, Match, Status, Team
from app.domain.strength import ENOUGH_MAPS, MILLIS_OF_DAY, TeamRating
from app.ingest import match_checks
from app.ingest.log_update import IngestConfig
from app.kit.errors import Invalid
from app.store import entrants, matches, ratings
from app.store.connections import Store
from app.trading.ratings import RatingHistory, rating_model
from tests.support import stored
from tests.support.matches import execute

NOW = 1_800_000_000_000
PRICING = IngestConfig().pricing
NORTH, HARBOUR, OWLS = 11, 12, 13
NAMES = {NORTH: "Northwind", HARBOUR: "Harbour", OWLS: "Copper Owls"}
HOME_WINS = (1, "team=home")


@pytest.fixture(autouse=True)
async def teams(store: Store) -> None:
    async with store.transaction() as tx:
        known = [Competitor(number, name, strength=1500.0) for number, name in NAMES.items()]
        await entrants.put(tx, entrants.TEAMS, known)


async def new_match(store: Store, home: int = NORTH, away: int = HARBOUR, **fields: object) -> Match:
    new = NewMatch(home=NAMES[home], away=NAMES[away], event="Cup", best_of=3, scheduled_at=NOW)
    return await creation.create_match(store, replace(new, **fields), NOW, PRICING)


def finished(number: int, winner: Team, at: int) -> MapPlay:
    score = (13, 7) if winner == "home" else (7, 13)
    return MapPlay(number, "de_nuke", "finished", *score, winner=winner, finished_at=at)


async def write(store: Store, match: Match, **fields: object) -> Match:
    """Write a state of the match as a log would lead to it."""
    async with store.transaction() as tx:
        before = await matches.lock(tx, match.id)
        after = replace(before, **fields)
        cancelled = after.status is Status.CANCELLED
        changes = (MatchCancelled(),) if cancelled else (DetailsChanged(),)
        return await match_update.react_and_write(
            tx, before, after, changes, now=NOW, may_price=True, pricing=PRICING
        )


async def play(store: Store, match: Match, *winners: Team, first_at: int = NOW) -> Match:
    plays = [finished(at, winner, first_at + at * 3_600_000) for at, winner in enumerate(winners, start=1)]
    return await write(store, match, status=Status.LIVE, maps=tuple(plays))


async def do_import(store: Store, *rows: Imported, now: int = NOW * 2) -> ImportCounts:
    async with store.transaction() as tx:
        placed = [(("rows", at), row) for at, row in enumerate(rows)]
        return await rating_import.import_ratings(tx, placed, by="tester", now=now)


def result(
    name: str, at: int, a: int = NORTH, b: int = HARBOUR, score: tuple[int, int] = (13, 7)
) -> Imported:
    return ImportedResult(
        id=name, at=at, team_a=NAMES[a], team_b=NAMES[b], score_a=score[0], score_b=score[1]
    )


async def rated(store: Store) -> dict[int, TeamRating]:
    """What is stored, once it is sure that it is what all stored events give, computed from nothing."""
    async with store.autocommit() as tx:
        stored = {one.team_id: one.rating for one in await ratings.listing(tx, limit=100)}
        events = await ratings.events_since(tx, 0)
    model = rating_model()
    history = RatingHistory(model, lambda _, at: model.of_strength(1500.0, at))
    for event in events:
        history.apply(event)
    assert stored == history.ratings
    return stored


async def chance(store: Store, match: Match) -> float:
    return (await stored.book(store, match))[HOME_WINS].probability


async def test_a_map_that_ends_rates_both_teams(store: Store) -> None:
    match = await new_match(store)
    assert await rated(store) == {}
    await play(store, match, "home")
    after = await rated(store)
    assert after[NORTH].points > 1500 > after[HARBOUR].points
    assert (after[NORTH].maps, after[NORTH].at) == (1, NOW + 3_600_000)


async def test_the_same_state_again_counts_once(store: Store) -> None:
    match = await new_match(store)
    await play(store, match, "home")
    once = await rated(store)
    await play(store, match, "home")
    assert await rated(store) == once
    await play(store, match, "home", "away")
    assert (await rated(store))[NORTH].maps == 2


async def test_a_result_that_changes_is_computed_again_with_all_that_followed(store: Store) -> None:
    match, later = await new_match(store), await new_match(store, HARBOUR, OWLS)
    await play(store, match, "home")
    await play(store, later, "home", first_at=NOW + MILLIS_OF_DAY)
    wrong = await rated(store)
    await play(store, match, "away")
    right = await rated(store)
    assert right[NORTH].points < wrong[NORTH].points
    assert right[HARBOUR].points > wrong[HARBOUR].points
    assert right[OWLS].points != wrong[OWLS].points


async def test_a_map_that_is_awarded_or_replayed_takes_its_rating_back(store: Store) -> None:
    match = await new_match(store)
    await play(store, match, "home", "home")
    awarded = replace(finished(2, "home", NOW + 1), awarded=True)
    await write(store, match, maps=(finished(1, "home", NOW), awarded))
    assert (await rated(store))[NORTH].maps == 1
    await write(store, match, maps=(MapPlay(1, "de_nuke", "live"),))
    assert await rated(store) == {}


async def test_a_cancelled_match_takes_its_ratings_back(store: Store) -> None:
    match = await new_match(store)
    await play(store, match, "home")
    await write(store, match, status=Status.CANCELLED, finished_at=NOW)
    assert await rated(store) == {}


async def test_an_import_is_idempotent_and_may_correct_and_take_back(store: Store) -> None:
    rows = [result("1", NOW), result("2", NOW + 1, NORTH, OWLS)]
    assert await do_import(store, *rows) == ImportCounts(changed=2, void=0, unchanged=0)
    once = await rated(store)
    assert await do_import(store, *rows) == ImportCounts(changed=0, void=0, unchanged=2)
    assert await rated(store) == once
    assert await do_import(store, result("1", NOW, score=(3, 13)), rows[1]) == ImportCounts(1, 0, 1)
    assert (await rated(store))[HARBOUR].points > 1500
    assert await do_import(store, replace(rows[0], void=True)) == ImportCounts(0, 1, 0)
    assert HARBOUR not in await rated(store)
    async with store.autocommit() as tx:
        recorded = await tx.fetch("SELECT actor FROM audit WHERE action = 'ratings.import'")
    assert [row["actor"] for row in recorded] == ["tester"] * 3


async def test_an_old_result_counts_at_its_own_time(store: Store) -> None:
    match = await new_match(store)
    await play(store, match, "home", "away", first_at=NOW)
    await do_import(store, result("old", NOW - 100 * MILLIS_OF_DAY, HARBOUR, OWLS))
    after = await rated(store)
    assert after[HARBOUR].maps == 3 and after[HARBOUR].at == NOW + 2 * 3_600_000


async def test_a_given_strength_begins_anew(store: Store) -> None:
    given = ImportedStrength(id="s", at=NOW + 5, team="northwind", strength=1800.0, spread=40.0)
    await do_import(store, result("1", NOW), given)
    assert (await rated(store))[NORTH] == TeamRating(1800.0, 40.0, NOW + 5, 0, anchored=True)


async def test_whatever_the_order_of_two_imports_at_once(store: Store) -> None:
    await asyncio.gather(
        *(do_import(store, result(str(at), NOW + at % 3, NORTH, (HARBOUR, OWLS)[at % 2])) for at in range(8))
    )
    assert (await rated(store))[NORTH].maps == 8


@pytest.mark.parametrize(
    ("row", "field"),
    [
        (replace(result("1", NOW), at=NOW * 3), "at"),
        (replace(result("1", NOW), score_b=None), "score_b"),
        (replace(result("1", NOW), score_b=13), "score_b"),
        (replace(result("1", NOW), winner="team_b"), "winner"),
        (replace(result("1", NOW), score_a=None, score_b=None), "winner"),
        (replace(result("1", NOW), team_b="NORTHWIND"), "team_b"),
        (replace(result("1", NOW), team_b="Twins"), "team_b"),
    ],
)
async def test_what_is_wrong_is_named_and_nothing_is_imported(
    store: Store, row: Imported, field: str
) -> None:
    async with store.transaction() as tx:
        await entrants.put(tx, entrants.TEAMS, [Competitor(21, "Twins"), Competitor(22, "twins")])
    with pytest.raises(Invalid) as refused:
        await do_import(store, result("good", NOW), row)
    assert [fault.loc for fault in refused.value.fields] == [("rows", 1, field)]
    assert await rated(store) == {}


async def test_an_id_occurs_once_in_an_import(store: Store) -> None:
    with pytest.raises(Invalid, match="twice"):
        await do_import(store, result("1", NOW), result("1", NOW))


async def refreshed(store: Store, match: Match) -> Match:
    await match_checks.refresh_ratings(store, NOW * 2, IngestConfig())
    return await stored.present(store, match)


async def test_a_match_before_play_follows_the_ratings(store: Store) -> None:
    match = await new_match(store)
    before = await chance(store, match)
    await do_import(store, *(result(str(at), NOW + at, NORTH, OWLS) for at in range(3)))
    after = await refreshed(store, match)
    current = await rated(store)
    assert after.home_strength == pytest.approx(current[NORTH].points, abs=0.1)
    assert after.home_strength_sd >= round(current[NORTH].spread, 1) and after.away_strength_sd == 0
    assert await chance(store, match) > before
    async with store.autocommit() as tx:
        assert await ratings.matches_to_refresh(tx, 10) == []


async def test_a_match_before_play_follows_when_results_are_taken_back(store: Store) -> None:
    match = await new_match(store)
    await do_import(store, result("1", NOW))
    assert (await refreshed(store, match)).home_strength > 1500
    await do_import(store, replace(result("1", NOW), void=True))
    assert (await refreshed(store, match)).home_strength == 1500


async def test_an_operators_strength_stays(store: Store) -> None:
    match = await new_match(store)
    await execute(store, match, c.Rate(strength_a=1900.0), NOW)
    await do_import(store, *(result(str(at), NOW + at, NORTH, HARBOUR) for at in range(3)))
    after = await refreshed(store, match)
    assert (after.home_strength, after.home_strength_sd) == (1900.0, 0.0)
    assert after.away_strength < 1500 and after.follows_ratings == ("away",)


async def test_a_match_begins_with_the_ratings_of_that_moment_and_keeps_them(store: Store) -> None:
    match = await new_match(store)
    await do_import(store, *(result(str(at), NOW - 9 + at, NORTH, OWLS) for at in range(3)))
    begun = await write(store, match, status=Status.LIVE, started_at=NOW)
    assert begun.home_strength > 1500 and begun.home_strength_sd > 0
    played = await play(store, match, "away", "home")
    await do_import(store, result("more", NOW, NORTH, OWLS))
    kept = await refreshed(store, match)
    assert kept.home_strength == played.home_strength == begun.home_strength


async def test_nothing_is_offered_until_results_rate_both_teams(store: Store) -> None:
    async with store.transaction() as tx:
        await entrants.put(tx, entrants.TEAMS, [Competitor(OWLS, NAMES[OWLS])])
    match = await new_match(store, NORTH, OWLS)
    assert match.suspended == "no rating of team_b"
    rows: Sequence[Imported] = [result(str(at), NOW + at, HARBOUR, OWLS) for at in range(ENOUGH_MAPS)]
    await do_import(store, *rows[:-1])
    assert (await refreshed(store, match)).suspended == "no rating of team_b"
    await do_import(store, rows[-1])
    after = await refreshed(store, match)
    assert after.suspended == "" and 0 < after.away_strength < 1500
    assert 0.5 < await chance(store, match) < 1


async def test_ratings_of_other_coefficients_are_computed_anew(store: Store) -> None:
    match = await new_match(store)
    given = ImportedStrength(id="s", at=NOW + 9, team=NAMES[OWLS], strength=1800.0)
    await do_import(store, given, *(result(str(at), NOW + at) for at in range(3)))
    right = await rated(store)
    async with store.transaction() as tx:
        await ratings.save(tx, {team: replace(one, points=one.points + 300) for team, one in right.items()})
    async with store.transaction() as tx:
        assert await rating_import.compute_anew(tx, by="tester", now=NOW) == len(right) == 3
    assert await rated(store) == right
    assert (await refreshed(store, match)).home_strength == pytest.approx(right[NORTH].points, abs=0.1)

"""Imports of reference data: matches from fixtures, line-ups, reports."""

import asyncio
import json
from typing import Any

import pytest

from app.commands.fixture_import import FixtureChange
from app.commands.match_commands import Cancel, Schedule
from app.commands.reference_documents import ReferenceDocument, parse_document, parse_file
from app.commands.reference_imports import Import, import_parsed
from app.domain.match import Match, Status
from app.domain.reference_reports import ImportReport
from app.store import audit, entrants, listings, matches, reference_imports
from app.store.connections import Store
from app.trading.pricing import PricingConfig
from tests.integration.ingest.conftest import NOW, Server
from tests.support import stored
from tests.support.matches import execute

BY = "operator ann@ops.example"
Row = dict[str, Any]
BEGIN = NOW + 3_600_000
FIRST: Row = {
    "kind": "fixture",
    "id": "f-1",
    "team_a": "Copper Owls",
    "team_b": "Dune Larks",
    "event": "Norland Masters",
    "bo_type": "bo3",
    "scheduled_at": BEGIN,
}
SECOND = FIRST | {"id": "f-2", "team_b": "Port Herons", "bo_type": "bo1", "scheduled_at": None}
TEAMS: list[Row] = [
    {"kind": "team", "name": "Copper Owls", "strength": 1610, "country_code": "NO"},
    {"kind": "team", "name": "Dune Larks", "strength": 1500},
    {"kind": "line_up", "team": "Copper Owls", "players": ["quill", "marsh"]},
]


async def imported(store: Store, *rows: Row, dry_run: bool = False, now: int = NOW) -> ImportReport:
    document = ReferenceDocument(source="acme", rows=rows)
    how = Import(BY, lambda: now, PricingConfig(), dry_run=dry_run)
    return await import_parsed(store, parse_document(document), how)


async def match_of(store: Store, fixture: str) -> Match | None:
    async with store.autocommit() as tx:
        known = await reference_imports.fixture(tx, f"acme/{fixture}")
        return await matches.get(tx, known.match_id) if known else None


async def found(store: Store, fixture: str) -> Match:
    match = await match_of(store, fixture)
    assert match is not None
    return match


async def contents(store: Store) -> list[list[Any]]:
    """The entrants, as clients would see them, and the number of the newest change."""
    tables = (entrants.TEAMS, entrants.PLAYERS, entrants.TOURNAMENTS, entrants.SOCCER_TOURNAMENTS)
    async with store.autocommit() as tx:
        rows = [await entrants.listing(tx, table, after=0, limit=1000) for table in tables]
    return [*rows, [await stored.head(store)]]


def refused(report: ImportReport) -> list[tuple[int, str]]:
    return [(one.row, one.field) for one in report.refused]


async def test_fixtures_become_matches_and_repeated_ones_change_nothing(store: Store) -> None:
    report = await imported(store, *TEAMS, FIRST, SECOND)
    assert refused(report) == []
    assert [(one.reference, one.action) for one in report.fixtures] == [
        ("acme/f-1", "created"),
        ("acme/f-2", "created"),
    ]
    assert report.counts["team_changed"] == report.counts["player_changed"] == 2
    first, second = await found(store, "f-1"), await found(store, "f-2")
    assert (first.home, first.away, first.event) == ("Copper Owls", "Dune Larks", "Norland Masters")
    assert (first.best_of, first.scheduled_at, first.status) == (3, BEGIN, Status.UPCOMING)
    assert (second.best_of, second.status) == (1, Status.DISCOVERED)
    assert first.home_strength == 1610 and await stored.active(store, first)
    async with store.autocommit() as tx:
        [record] = await audit.about(tx, str(first.id), limit=10)
    assert (record.actor, record.action) == (BY, "match.create")
    before = await contents(store)
    again = await imported(store, *TEAMS, FIRST, SECOND)
    assert (again.fixtures, again.unchanged, refused(again)) == ((), 2, [])
    assert {count for kind, count in again.counts.items() if kind.endswith("_changed")} == {0}
    assert await contents(store) == before


async def test_imports_at_once_create_one_match(store: Store) -> None:
    rows = [*TEAMS, FIRST, SECOND]
    reports = await asyncio.gather(*(imported(store, *rows) for _ in range(4)))
    assert [sum(len(one.fixtures) for one in reports), sum(one.unchanged for one in reports)] == [2, 6]
    async with store.autocommit() as tx:
        listed = await listings.page(tx, list(Status), limit=10, window=listings.Window())
    assert {match.id for match, _ in listed} == {(await found(store, name)).id for name in ("f-1", "f-2")}


async def test_a_dry_run_reports_the_same_and_changes_nothing(store: Store) -> None:
    wrong = FIRST | {"id": "f-3", "team_b": "Copper Owls"}
    rows = [*TEAMS, {"kind": "team", "name": "Ash", "strength": "strong"}, FIRST, SECOND, wrong]
    before = await contents(store)
    dry = await imported(store, *rows, dry_run=True)
    assert await contents(store) == before and await match_of(store, "f-1") is None
    async with store.autocommit() as tx:
        assert await reference_imports.reports(tx, limit=10) == []
    real = await imported(store, *rows)
    assert (dry.counts, dry.refused) == (real.counts, real.refused)
    assert refused(real) == [(4, "strength"), (7, "team_b")]
    assert [one.action for one in dry.fixtures] == [one.action for one in real.fixtures] == ["created"] * 2
    moved = FIRST | {"scheduled_at": BEGIN + 1}
    dry = await imported(store, moved, dry_run=True)
    assert (await found(store, "f-1")).scheduled_at == BEGIN
    assert dry.fixtures == (await imported(store, moved)).fixtures


async def test_a_changed_fixture_changes_its_match_before_play(store: Store) -> None:
    await imported(store, *TEAMS, FIRST)
    match = await found(store, "f-1")
    moved = FIRST | {"scheduled_at": BEGIN + 60_000, "team_b": "Port Herons", "bo_type": "bo1"}
    report = await imported(store, moved)
    assert report.fixtures == (
        FixtureChange("acme/f-1", "changed", ("team_b", "bo_type", "scheduled_at"), match.id),
    )
    after = await stored.present(store, match)
    assert (after.away, after.best_of, after.scheduled_at) == ("Port Herons", 1, BEGIN + 60_000)
    async with store.autocommit() as tx:
        actions = {(one.actor, one.action) for one in await audit.about(tx, str(match.id), limit=10)}
    assert actions >= {(BY, f"match.{name}") for name in ("set_teams", "set_format", "schedule")}
    assert (await imported(store, moved)).unchanged == 1


async def test_what_an_operator_changed_stays_until_the_source_changes_it(store: Store) -> None:
    await imported(store, FIRST)
    match = await found(store, "f-1")
    await execute(store, match, Schedule(scheduled_at=BEGIN + 5), NOW)
    await imported(store, FIRST)
    await imported(store, FIRST | {"bo_type": "bo1"})
    after = await stored.present(store, match)
    assert (after.scheduled_at, after.best_of) == (BEGIN + 5, 1)


async def test_a_cancelled_fixture_cancels_its_match(store: Store) -> None:
    await imported(store, FIRST, SECOND | {"cancelled": True})
    assert await match_of(store, "f-2") is None
    await imported(store, FIRST | {"cancelled": True})
    assert (await found(store, "f-1")).status is Status.CANCELLED
    report = await imported(store, FIRST)
    assert refused(report) == [(1, "cancelled")] and "cancelled" in report.refused[0].reason


async def test_a_fixture_that_is_cancelled_and_renamed_is_cancelled(store: Store) -> None:
    await imported(store, FIRST)
    gone = FIRST | {"event": "Norland Masters (cancelled)", "scheduled_at": None, "cancelled": True}
    assert refused(await imported(store, gone)) == []
    assert (await found(store, "f-1")).status is Status.CANCELLED
    assert (await imported(store, gone)).unchanged == 1


@pytest.mark.parametrize("field", ["scheduled_at", "team_a", "bo_type", "cancelled"])
async def test_once_a_match_is_played_its_fixture_is_refused(store: Store, field: str) -> None:
    await imported(store, FIRST | {"scheduled_at": NOW})
    server = Server(store, await found(store, "f-1"))
    await server.begin()
    before = await server.state()
    assert before.status is Status.LIVE
    other = {"scheduled_at": NOW + 5, "team_a": "Ash", "bo_type": "bo5", "cancelled": True}[field]
    for _ in range(2):
        report = await imported(store, FIRST | {"scheduled_at": NOW, field: other})
        assert refused(report) == [(1, field)] and "live" in report.refused[0].reason
    assert await server.state() == before


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({"kind": "stadium"}, "kind"),
        (FIRST | {"colour": "red"}, "colour"),
        (FIRST | {"team_a": ""}, "team_a"),
        (FIRST | {"scheduled_at": "tomorrow"}, "scheduled_at"),
        (FIRST | {"scheduled_at": "2031-04-02T18:00:00"}, "scheduled_at"),
        (FIRST | {"scheduled_at": NOW - 90_000_000}, "scheduled_at"),
        (FIRST | {"scheduled_at": "9999-12-31T23:59:59-12:00"}, "scheduled_at"),  # the year 10000 in UTC
        (FIRST | {"bo_type": "bo2"}, "bo_type"),
        (FIRST | {"id_a": 77}, "id_a"),
        (FIRST | {"source": "a/b"}, "source"),
        ({"kind": "line_up", "team": "Nobody", "players": ["quill", "marsh"]}, "team"),
        ({"kind": "line_up", "team": "Copper Owls", "players": []}, "players"),
        ({"kind": "player", "name": "quill", "team": "Nobody"}, "team"),
        ({"kind": "player", "name": "quill", "account": 2**32}, "account"),
        ({"kind": "team", "name": "Ash", "world_ranking": "x"}, "world_ranking"),
        ({"kind": "team"}, "name"),
    ],
)
async def test_a_wrong_row_is_refused_by_its_field_and_the_others_are_imported(
    store: Store, row: Row, field: str
) -> None:
    good = [FIRST | {"id": "good"}, {"kind": "team", "name": "Port Herons", "strength": 1400}]
    report = await imported(store, good[0], row, good[1])
    assert refused(report) == [(2, field)]
    assert report.refused[0].reason
    assert [one.reference for one in report.fixtures] == ["acme/good"]
    assert report.counts["team_changed"] == 1


async def test_what_rests_on_a_refused_row_is_refused_with_it(store: Store) -> None:
    team = {"kind": "team", "name": "Ash", "strength": -1}
    report = await imported(store, team, {"kind": "line_up", "team": "Ash", "players": ["a", "b"]})
    assert {one.row for one in report.refused} == {1, 2}


async def test_the_same_fixture_twice_in_a_document_is_refused(store: Store) -> None:
    report = await imported(store, FIRST, FIRST | {"scheduled_at": BEGIN + 1})
    assert refused(report) == [(2, "id")] and len(report.fixtures) == 1


async def test_a_line_up_has_all_players_of_its_team(store: Store) -> None:
    await imported(store, *TEAMS)
    await imported(store, {"kind": "line_up", "team": "Copper Owls", "players": ["marsh", "reed"]})
    async with store.autocommit() as tx:
        [team] = await entrants.named(tx, entrants.TEAMS, ["Copper Owls"])
        members = await entrants.children(tx, entrants.PLAYERS, team.id)
        [left] = await entrants.named(tx, entrants.PLAYERS, ["quill"])
    assert [player.name for player in members] == ["marsh", "reed"]
    assert left.team_id is None


async def test_a_second_line_up_of_a_team_is_refused(store: Store) -> None:
    """Players of the first would leave by the second, and those of the second by the first."""
    report = await imported(store, *TEAMS, {"kind": "line_up", "team": "copper owls", "players": ["reed"]})
    assert refused(report) == [(4, "team")]
    async with store.autocommit() as tx:
        [team] = await entrants.named(tx, entrants.TEAMS, ["Copper Owls"])
        members = await entrants.children(tx, entrants.PLAYERS, team.id)
    assert [player.name for player in members] == ["quill", "marsh"]


@pytest.mark.parametrize(
    "row",
    [
        {"kind": "player", "name": "quill", "team_id": 2**40},
        {"kind": "tournament", "name": "Cup", "team_ids": [77]},
        {"kind": "tournament", "name": "Cup", "competitors": [{"id": 5, "name": "Ash"}]},
        {"kind": "team", "name": "Ash", "players": [{"id": 5, "name": "quill"}]},
    ],
)
async def test_links_are_by_name_only(store: Store, row: Row) -> None:
    """Numbers would link to nothing, and entities within others would be stored beside their own."""
    report = await imported(store, row, {"kind": "team", "name": "Port Herons"})
    assert [one.row for one in report.refused] == [1] and report.counts["team_changed"] == 1


async def test_a_deleted_match_is_created_anew_only_if_it_is_still_to_come(store: Store) -> None:
    await imported(store, FIRST)
    await execute(store, await found(store, "f-1"), Cancel(), NOW)
    await imported(store, SECOND)  # the match of the last change is never deleted
    async with store.transaction() as tx:
        assert await matches.trim(tx, NOW + 1)
    assert refused(await imported(store, FIRST, now=BEGIN + 90_000_000)) == [(1, "scheduled_at")]
    assert (await imported(store, FIRST, now=BEGIN)).fixtures[0].action == "created"


async def test_a_file_of_each_form_says_the_same(store: Store) -> None:
    csv = (
        "kind,name,strength,team,players,id,team_a,team_b,event,bo_type,scheduled_at,country_code\n"
        "team,Copper Owls,1610,,,,,,,,,NO\n"
        "team,Dune Larks,1500,,,,,,,,,\n"
        "line_up,,,Copper Owls,quill; marsh,,,,,,,\n"
        f"fixture,,,,,f-1,Copper Owls,Dune Larks,Norland Masters,bo3,{BEGIN},\n"
    )
    rows = [*TEAMS, FIRST]
    files = {
        "a.csv": csv,
        "a.jsonl": "\n".join(map(json.dumps, rows)),
        "a.json": json.dumps({"source": "acme", "rows": rows}),
    }
    for at, (name, text) in enumerate(files.items()):
        how = Import(BY, lambda: NOW, PricingConfig(), name)
        report = await import_parsed(store, parse_file(name, text.encode(), "acme"), how)
        assert refused(report) == []
        assert (len(report.fixtures), report.unchanged) == ((1, 0) if at == 0 else (0, 1))
        assert report.counts["team_changed"] == (2 if at == 0 else 0)


async def test_a_season_of_soccer_is_imported_and_its_faults_are_named(store: Store) -> None:
    matches_ = [{"round": "Matchday 1", "team1": "Alder", "team2": "Brook", "score": {"ft": [2, 1]}}]
    season = {"name": "Norland Cup 2030/31", "matches": matches_}
    how = Import(BY, lambda: NOW, PricingConfig(), "es.1.json")
    report = await import_parsed(store, parse_file("es.1.json", json.dumps(season).encode()), how)
    assert (report.counts["soccer_match_changed"], refused(report)) == (1, [])
    season["matches"] = [*matches_, {"team1": "Alder", "team2": "Cove", "status": "lost"}]
    report = await import_parsed(store, parse_file("es.1.json", json.dumps(season).encode()), how)
    assert (refused(report), report.counts) == ([(2, "status")], {})
    season["matches"] = [{"team1": "Alder\0", "team2": "Cove"}]
    report = await import_parsed(store, parse_file("es.1.json", json.dumps(season).encode()), how)
    assert (refused(report), report.counts) == ([(0, "")], {})


async def test_reports_are_stored(store: Store) -> None:
    first = await imported(store, *TEAMS, FIRST)
    second = await imported(store, FIRST | {"team_a": ""}, now=NOW + 1)
    async with store.autocommit() as tx:
        assert await reference_imports.reports(tx, limit=10) == [second, first]
        assert await reference_imports.report(tx, first.id) == first

"""Reference data from files."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.domain.entrants import MAX_FILE_NUMBER, Country, Player, Season
from app.settings import Settings
from app.store import entrants
from app.store.entrants import EntrantTable
from app.wire.views.entrants import team_view
from tests.support.command_line import Run, in_transaction


@pytest.fixture
def shelf(settings: Settings) -> Callable[[EntrantTable[Any]], list[Any]]:
    """Everything that lies on a shelf."""
    return lambda shelf: in_transaction(settings, lambda tx: entrants.listing(tx, shelf, after=0, limit=1000))


def lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n\n" for row in rows))
    return path


def test_a_season_gives_a_tournament_and_its_teams(run: Run, shelf: Any, tmp_path: Path) -> None:
    season = {
        "name": "Norland Premier 2025/26",
        "matches": [
            {"date": "2025-08-15", "team1": "Port Alder", "team2": "Millbrook", "score": {"ft": [1, 0]}},
            {"date": "2026-05-20", "team1": "Millbrook", "team2": "Port Alder"},
        ],
    }
    file = tmp_path / "2025-26-es.1.json.gz"
    file.write_bytes(gzip.compress(json.dumps(season).encode()))
    for _ in range(2):
        assert run("import", "soccer", file).exit_code == 0
    (tournament,) = shelf(entrants.SOCCER_TOURNAMENTS)
    competitors = shelf(entrants.SOCCER_COMPETITORS)
    assert [(one.id, one.name, one.country_code) for one in competitors] == [
        (1, "Millbrook", "ESP"),
        (2, "Port Alder", "ESP"),
    ]
    assert (tournament.name, tournament.competitor_ids) == ("Norland Premier", (1, 2))
    assert tournament.season == Season("2025/26", "2025-08-15", "2026-05-20")
    assert tournament.category == Country("Spain", "ESP")


def test_a_profile_adds_to_what_is_known(run: Run, shelf: Any, tmp_path: Path) -> None:
    first = lines(tmp_path / "a.jsonl", {"kind": "competitor", "name": "Port Alder", "country": "Norland"})
    second = lines(
        tmp_path / "b.jsonl",
        {"kind": "competitor", "name": "PORT  alder", "abbreviation": "PAL", "is_national": True},
        {"kind": "competitor", "id": 40, "name": "Millbrook", "gender": "women"},
        {"kind": "competitor", "name": "Newcomer"},
    )
    assert run("import", "soccer", first, second).exit_code == 0
    found = {one.id: one for one in shelf(entrants.SOCCER_COMPETITORS)}
    assert (found[41].name, found[41].country, found[41].abbreviation) == ("PORT  alder", "Norland", "PAL")
    assert (found[40].gender, found[42].name) == ("women", "Newcomer")


def test_teams_players_and_tournaments_find_each_other(run: Run, shelf: Any, tmp_path: Path) -> None:
    file = lines(
        tmp_path / "cs2.jsonl",
        {
            "kind": "tournament",
            "name": "Masters",
            "category": "Norland",
            "teams": ["Copper Owls"],
            "tier": "A",
        },
        {"kind": "player", "name": "quill", "account": 71123, "team": "copper owls"},
        {"kind": "team", "name": "Copper Owls", "strength": 1610, "valve_ranking": 12},
        {"kind": "category", "name": "Norland"},
    )
    assert run("import", "cs2", file).exit_code == 0
    assert shelf(entrants.PLAYERS)[0].team_id == shelf(entrants.TEAMS)[0].id == 1
    (tournament,) = shelf(entrants.TOURNAMENTS)
    assert (tournament.category_id, tournament.team_ids, tournament.tier) == (1, (1,), "A")


def test_a_file_takes_the_place_of_a_player_whom_a_match_named_first(
    run: Run, shelf: Any, settings: Settings, tmp_path: Path
) -> None:
    """A player has one number for clients, that of the account, and is listed once."""
    own = [
        Player(MAX_FILE_NUMBER + 1, "quill_", account=71123),
        Player(MAX_FILE_NUMBER + 2, "ember", account=1),
    ]
    in_transaction(settings, lambda tx: entrants.put(tx, entrants.PLAYERS, own))
    file = lines(tmp_path / "cs2.jsonl", {"kind": "player", "name": "Quill", "account": 71123})
    assert run("import", "cs2", file).exit_code == 0
    assert [(one.id, one.name) for one in shelf(entrants.PLAYERS)] == [
        (1, "Quill"),
        (MAX_FILE_NUMBER + 2, "ember"),
    ]


def test_the_weeks_of_a_ranking_are_those_of_its_publisher(run: Run, shelf: Any, tmp_path: Path) -> None:
    shown: list[int | None] = []
    team = {"kind": "team", "name": "Copper Owls"}
    for fields in (
        {"world_ranking": 4},
        {"weeks_in_top30": 61},
        {"world_ranking": 5},
        {"weeks_in_top30": None},
    ):
        assert run("import", "cs2", lines(tmp_path / "cs2.jsonl", team | fields)).exit_code == 0
        shown.append(team_view(shelf(entrants.TEAMS)[0]).weeks_in_top30)
    assert shown == [None, 61, 61, None]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"kind": "team"}, "name"),
        ({"kind": "stadium", "name": "x"}, "stadium"),
        ({"kind": "team", "name": "x", "colour": "red"}, "colour"),
        ({"kind": "team", "name": "x", "strength": "high"}, "strength"),
        ({"kind": "team", "name": "x", "strength": 1e308}, "strength"),
        ({"kind": "team", "name": "x", "weeks_in_top30": -1}, "weeks_in_top30"),
        ({"kind": "team", "name": "x", "weeks_in_top30": "many"}, "weeks_in_top30"),
        ({"kind": "team", "name": " "}, "blank"),
        ({"kind": "team", "name": "two\nlines"}, "one line"),
        ({"kind": "team", "name": "x", "id": 0}, "positive"),
        ({"kind": "player", "name": "x", "team": "Nowhere"}, "Nowhere"),
        ({"kind": "tournament", "name": "x", "tier": "Z"}, "tier"),
    ],
)
def test_a_row_that_does_not_fit_is_named_and_nothing_is_taken(
    run: Run, shelf: Any, tmp_path: Path, row: dict[str, Any], problem: str
) -> None:
    file = lines(tmp_path / "cs2.jsonl", {"kind": "team", "name": "Copper Owls"}, row)
    result = run("import", "cs2", file)
    assert result.exit_code == 1
    assert "cs2.jsonl.3" in result.output and problem in result.output
    assert shelf(entrants.TEAMS) == []


def test_two_of_one_name_need_their_numbers(run: Run, tmp_path: Path) -> None:
    twins = [{"kind": "player", "name": "quill", "id": number} for number in (7, 8)]
    assert run("import", "cs2", lines(tmp_path / "a.jsonl", *twins)).exit_code == 0
    file = lines(tmp_path / "b.jsonl", {"kind": "player", "name": "Quill", "account": 1})
    vague = run("import", "cs2", file)
    assert vague.exit_code == 1 and "give the id" in vague.output


def test_the_seasons_at_hand_are_taken(run: Run, shelf: Any, data: Path) -> None:
    files = sorted(data.glob("football-*.json.gz"))
    assert run("import", "soccer", *files).exit_code == 0
    assert len(shelf(entrants.SOCCER_TOURNAMENTS)) == len(files) == 2
    assert len(shelf(entrants.SOCCER_COMPETITORS)) == 40


def test_ratings_are_imported_listed_and_computed_anew(run: Run, tmp_path: Path) -> None:
    played = {
        "kind": "result",
        "at": 1,
        "team_a": "Northwind",
        "team_b": "Harbour",
        "score_a": 13,
        "score_b": 7,
    }
    given = {"kind": "strength", "id": "s", "at": 0, "team": "Northwind", "strength": 1500}
    file = lines(tmp_path / "ratings.jsonl", given, *(played | {"id": str(number)} for number in range(3)))
    assert "changed: 4" in run("ratings", "import", file).stdout
    listed = run("ratings", "list").stdout
    assert "Northwind" in listed and "Harbour" in listed
    assert run("ratings", "compute").stdout == "teams: 2\n"
    assert run("ratings", "list").stdout == listed


@pytest.mark.parametrize("name", ["deep.jsonl", "2025-26-es.1.json"])
def test_lines_nested_without_end_are_refused_in_one_line(run: Run, name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text('{"other":' + "[" * 100_000 + "\n")
    done = run("import", "soccer", file)
    assert (done.exit_code, name in done.output, "recursion depth" in done.output) == (1, True, True)
    assert isinstance(done.exception, SystemExit)

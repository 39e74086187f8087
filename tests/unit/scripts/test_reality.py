"""Predictions of published data: from each row and earlier ones alone, in the form that judges read."""

import csv
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.strength import MILLIS_OF_DAY
from app.trading.ratings import rating_model
from app.trading.reference_prices import fair
from scripts.bench import reality
from scripts.reality import rated_maps, series, team_maps
from scripts.reality.judging import Prediction
from tests.unit.scripts.test_snapshots import published, row

Rows = list[dict[str, object]]
TEAM_COLUMNS = "date,match_id,map_order,map,team_a,team_b,team_a_rank,team_b_rank,picked_by,winner,scored"


@st.composite
def snapshots(draw: st.DrawFn) -> Rows:
    """Maps with moments of each round before play, in play and after a plant; some rows twice, some with the
    money of a warm-up, and rounds that are missing."""
    found: Rows = []
    for name in draw(st.lists(st.sampled_from(["de_nuke", "de_cache", "de_mirage"]), min_size=1, max_size=3)):
        score = [0, 0]
        for _ in range(draw(st.integers(1, 12))):
            label = draw(st.sampled_from(["CT", "T"]))
            for left, planted in draw(
                st.lists(st.sampled_from([(174.9, False), (95.0, False), (30.0, True)]), min_size=1)
            ):
                one = row((score[0], score[1]), left=left, name=name, label=label, planted=planted)
                one |= {"ct_money": draw(st.sampled_from([800, 12_000, 80_000]))}
                one |= {"ct_players_alive": draw(st.integers(1, 5)), "t_health": draw(st.integers(1, 500))}
                found += [one] * draw(st.sampled_from([1, 1, 1, 2]))
            score[draw(st.integers(0, 1))] += draw(st.sampled_from([1, 1, 1, 1, 2]))
    return found


def predicted(rows: Rows, place: Path) -> set[Prediction]:
    return set(reality.predicted_rounds(list(reality.read(published(rows, place)))))


@given(snapshots(), st.data())
@settings(max_examples=10, deadline=None)
def test_rows_are_predicted_from_themselves_and_earlier_ones(
    tmp_path_factory: pytest.TempPathFactory, rows: Rows, data: st.DataObject
) -> None:
    """A file that ends at any row has the same predictions until there, whoever wins that row's round."""
    place = tmp_path_factory.getbasetemp()
    whole = predicted(rows, place)
    end = data.draw(st.integers(1, len(rows)))
    other = "T" if rows[end - 1]["round_winner"] == "CT" else "CT"
    begun = [*rows[: end - 1], rows[end - 1] | {"round_winner": other}]
    assert predicted(begun, place) == {one for one in whole if one.row < end}


def team_rows(count: int) -> list[str]:
    teams = ["Herons", "Ferry", "Wolves", ""]
    rows = []
    for number in range(count):
        a, b = teams[number % 3], teams[(number + 1) % 3]
        winner = a if number * 7 % 5 < 3 else b
        scored = int(number > count // 3)
        rows.append(
            f"2025-03-{1 + number // 3:02},{number // 2},1,Dust2,{a},{b},{number % 60},,{b},{winner},{scored}"
        )
    return rows


def test_maps_are_predicted_before_they_are_learnt_from(tmp_path: Path) -> None:
    rows = team_rows(60)
    whole = map_predictions(rows, tmp_path)
    assert {one.row for one in whole} == set(range(21, 60))
    for end in range(1, 61, 7):
        *others, winner, scored = rows[end - 1].split(",")
        a, b = others[4], others[5]
        turned = ",".join([*others, b if winner == a else a, scored])
        assert map_predictions([*rows[: end - 1], turned], tmp_path) == [
            one for one in whole if one.row < end
        ]


def map_predictions(rows: list[str], tmp_path: Path) -> list[Prediction]:
    path = tmp_path / "maps.csv"
    path.write_text("\n".join([TEAM_COLUMNS, *rows]) + "\n")
    return list(rated_maps.predictions(rating_model(), list(team_maps.read(path))))


def test_predictions_are_written_as_judges_read_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A packed file in, a CSV and a JSON out: one row for each kind and row that is predicted."""
    in_round, planted = row((0, 0), left=80.5), row((1, 0), left=25.0, planted=True)
    rows = [row((0, 0)), in_round, row((1, 0)), planted, row((1, 1))]
    packed, out = published(rows, tmp_path, packed=True), tmp_path / "out.csv"
    monkeypatch.setattr(sys, "argv", ["reality", "rounds", str(packed), "--predictions", str(out), "--json"])
    reality.main()
    header, *written = csv.reader(out.read_text().splitlines())
    assert header == ["row", "kind", "p"]
    kinds = {(int(number), kind) for number, kind, _ in written}
    firsts, in_play = {0, 2, 4}, {1, 3}
    assert kinds == {
        *((number, kind) for number in firsts for kind in ("before_round", "map_win")),
        *((number, "in_round") for number in in_play),
    }
    assert len(kinds) == len(written) and all(0 < float(chance) < 1 for *_, chance in written)
    judged = msgspec.json.decode(capsys.readouterr().out, type=dict[str, dict[str, object]])
    assert {"n", "log_loss", "brier", "auc", "ece", "references"} <= set(judged["map_win"])


SERIES_COLUMNS = "date,team_a,team_b,best_of,lan,odds_a,odds_b,valve_points_difference,winner"
MAP_COLUMNS = "date,match_id,best_of,map_number,map,team_a,team_b,picked_by,score_a,score_b,winner"


def series_rows(points: str = "") -> list[str]:
    """Two series a day, one of them out of order; one of a team of which nothing else is known."""
    teams = ["Na Vi", "Ferry", "Wolves"]
    rows = []
    for number in range(12):
        a, b = teams[number % 3], teams[(number + 1) % 3] if number != 7 else "Nobody"
        day = 10 + number // 2 - (3 if number == 9 else 0)
        winner = a if number % 5 < 3 else b
        rows.append(f"2026-01-{day:02},{a},{b},{5 if number == 4 else 3},1,1.5,2.5,{points},{winner}")
    return rows


def series_predictions(rows: list[str], maps: list[str], place: Path) -> list[Prediction]:
    for name, lines in (("series", [SERIES_COLUMNS, *rows]), ("maps", [MAP_COLUMNS, *maps])):
        (place / f"{name}.csv").write_text("\n".join(lines) + "\n")
    found = list(series.read(place / "series.csv"))
    return list(series.predictions(found, list(team_maps.read(place / "maps.csv")), series.KINDS))


def map_row(day: int, score: tuple[int, int] = (13, 3)) -> str:
    winner = "Natus Vincere" if score[0] > score[1] else "Ferry"
    return f"2026-01-{day:02},{day},3,1,Nuke,Natus Vincere,Ferry,Ferry,{score[0]},{score[1]},{winner}"


def test_series_are_predicted_from_earlier_rows_and_days(tmp_path: Path) -> None:
    rows, maps = series_rows(), [map_row(8), map_row(12)]
    whole = series_predictions(rows, maps, tmp_path)
    days = [one.split(",")[0] for one in rows]
    for end, row_ in enumerate(rows, start=1):
        *others, winner = row_.split(",")
        turned = ",".join([*others, others[2] if winner == others[1] else others[1]])
        begun = series_predictions([*rows[: end - 1], turned, *rows[end:]], maps, tmp_path)
        same = {at for at, day in enumerate(days) if at < end or day <= days[end - 1]}
        assert [one for one in begun if one.row in same] == [one for one in whole if one.row in same]
        assert begun[: len([one for one in whole if one.row < end])] == series_predictions(
            [*rows[: end - 1], turned], maps, tmp_path
        )
    later = series_predictions(rows, [map_row(8), map_row(12, (3, 13))], tmp_path)
    changed = {one.row for one, other in zip(whole, later, strict=True) if one != other}
    assert changed and all(days[at] > "2026-01-12" for at in changed)


def test_series_have_a_winner_and_best_of_threes_a_two_nil(tmp_path: Path) -> None:
    found = series_predictions(series_rows(), [map_row(8)], tmp_path)
    by_kind = {
        kind: {one.row for one in found if one.kind == kind} for kind in ("own", "anchored", "two_nil")
    }
    every = set(range(12))
    assert by_kind == {"own": every, "anchored": every, "two_nil": every - {4}}
    assert len(found) == 35 and all(0 < one.chance < 1 for one in found)
    assert all(one.chance > 0.5 for one in found if one.kind == "two_nil")


def test_the_anchored_chance_lies_between_ours_and_the_market(tmp_path: Path) -> None:
    found = series_predictions(series_rows(), [map_row(8)], tmp_path)
    own, anchored = ([one.chance for one in found if one.kind == kind] for kind in ("own", "anchored"))
    market = fair((1.5, 2.5))[0]
    assert all(min(a, market) <= b <= max(a, market) for a, b in zip(own, anchored, strict=True))
    assert all(abs(b - market) < abs(a - market) for a, b in zip(own, anchored, strict=True))


@pytest.mark.parametrize("points", ["400", "-400"])
def test_points_of_the_ranking_move_the_chance(tmp_path: Path, points: str) -> None:
    without, informed = (series_predictions(series_rows(one), [map_row(8)], tmp_path) for one in ("", points))
    for before, after in zip(without, informed, strict=True):
        if before.kind == "own":
            assert (after.chance > before.chance) is (float(points) > 0)


def test_a_result_is_learnt_under_the_names_of_both_files(tmp_path: Path) -> None:
    """Natus Vincere is NaVi there, and spaces and case differ."""
    rows = ["2026-01-10,NAVI,ferry,3,1,1.5,2.5,,NAVI"]
    won, lost = (
        series_predictions(rows, [map_row(day, score) for day in range(1, 9)], tmp_path)[0].chance
        for score in ((13, 3), (3, 13))
    )
    assert lost < 0.4 < 0.6 < won


def test_all_forms_of_maps_are_read(tmp_path: Path) -> None:
    numbered = "match,day,best_of,lan,map_number,map,team_a,team_b,picked_by,score_a,score_b"
    rows = [
        numbered,
        "1,,3,0,1,de_nuke,7,9,b,3,13",
        "1,,3,0,2,de_mirage,7,9,a,22,20",
        "2,4,3,1,1,de_nuke,9,8,,13,5",
    ]
    path = tmp_path / "maps.csv"
    path.write_text("\n".join(rows) + "\n")
    found = list(team_maps.read(path))
    assert [(one.team_a, one.picked_by, one.rounds, one.a_won, one.scored) for one in found] == [
        ("7", "9", (3, 13), False, True),
        ("7", "7", (22, 20), True, True),
        ("9", "", (13, 5), True, True),
    ]
    assert [one.at for one in found] == [0, 0, 4 * MILLIS_OF_DAY]
    path.write_text("\n".join([MAP_COLUMNS, map_row(8)]) + "\n")
    (dated,) = team_maps.read(path)
    assert (dated.rounds, dated.picked_by, dated.scored) == ((13, 3), "Ferry", True)

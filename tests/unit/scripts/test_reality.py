"""Predictions of published data: from each row and earlier ones alone, in the form that judges read."""

import csv
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.trading.ratings import rating_model
from scripts.bench import reality
from scripts.reality import rated_maps, team_maps
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

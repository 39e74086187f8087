"""Who wins a map from half-time: as judges read it, and better on maps that no fit has seen than the simplest
rules."""

import csv
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from app.trading.coefficients import MapCoefficients, load
from app.trading.half_walk import described
from app.trading.map_scores import MapParameters
from app.trading.model import Skill
from scripts.bench import reality
from scripts.fit.maps import of_today, scores, side_of
from scripts.fit.regression import Floats
from scripts.reality import cs2_scores
from scripts.reality.cs2_scores import MapScore
from scripts.reality.half_times import a_wins, held_leader, match_numbers, wins_from_half

HEADER = (
    "match,day,best_of,lan,map_number,map,team_a,team_b,picked_by,score_a,score_b,"
    "half1_a,half1_b,half2_a,half2_b,overtime_a,overtime_b"
)
HALF_TIMES = [(half, 12 - half) for half in range(13)]


@pytest.mark.parametrize("half", HALF_TIMES)
def test_both_teams_are_seen_alike(half: tuple[int, int]) -> None:
    assert a_wins("de_nuke", half) + a_wins("de_nuke", half[::-1]) == pytest.approx(1)


def test_more_rounds_are_better() -> None:
    chances = [a_wins("de_mirage", half) for half in HALF_TIMES]
    assert chances == sorted(chances) and chances[6] == pytest.approx(0.5)


def test_each_row_is_predicted_from_the_score_at_half_time_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    halves = [(3, 9), (5, 7), (9, 13), (8, 4)]
    ends = ["3,13", "13,11", "13,15", "13,9"], ["13,11", "9,13", "16,14", "4,13"]
    found = [predicted(halves, list(one), tmp_path, monkeypatch) for one in ends]
    assert found[0] == found[1]
    header, *written = found[0]
    assert header == ["row", "kind", "p"]
    assert [(row, kind) for row, kind, _ in written] == [(str(row), "half") for row in range(4)]
    expected = [a_wins("", (3, 9)), a_wins("", (5, 7)), 0.5, a_wins("", (8, 4))]
    assert [float(chance) for *_, chance in written] == pytest.approx(expected, abs=1e-6)


def predicted(
    halves: list[tuple[int, int]], ends: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> list[list[str]]:
    path, out = tmp_path / "maps.csv", tmp_path / "out.csv"
    rows = [
        f"{row},,3,0,1,de_train,{2 * row},{2 * row + 1},a,{end},{half[0]},{half[1]},6,6,,"
        for row, (half, end) in enumerate(zip(halves, ends, strict=True))
    ]
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    monkeypatch.setattr(sys, "argv", ["reality", "halves", str(path), "--predictions", str(out)])
    reality.main()
    return list(csv.reader(out.read_text().splitlines()))


def read_both(place: Path, results: list[str], maps: list[str]) -> list[MapScore]:
    """The maps of two files with these rows."""
    columns = "match_id,map_number,map,score_a,score_b,half_scores"
    (place / cs2_scores.RESULTS).write_text("\n".join([columns, *results]) + "\n")
    (place / cs2_scores.MAPS).write_text("\n".join([HEADER, *maps]) + "\n")
    return cs2_scores.read_all(place)[0]


def test_a_map_that_is_in_both_files_counts_once(tmp_path: Path) -> None:
    results = ['7,1,Nuke,13,11,"(6:6; 7:5)"', "7,3,Train,1,0,"]
    rows = ["1,,3,0,1,de_nuke,1,2,a,13,11,6,6,7,5,,", "1,,3,0,2,de_nuke,1,2,b,20,22,5,7,7,5,8,10"]
    found = read_both(tmp_path, results, rows)
    assert [(one.match, one.regulation, one.a_won) for one in found] == [
        ("r7", (13, 11), True),
        ("r7", (12, 12), False),
    ]


def test_matches_that_differ_in_a_map_are_two(tmp_path: Path) -> None:
    """The same score on the same map is common: two matches are one if nothing speaks against it."""
    results = ['7,1,Nuke,13,11,"(6:6; 7:5)"', '7,2,Mirage,13,0,"(12:0; 1:0)"']
    rows = ["1,,3,0,1,de_nuke,1,2,a,13,11,6,6,7,5,,", "1,,3,0,2,de_mirage,1,2,b,13,1,11,1,2,0,,"]
    assert [one.match for one in read_both(tmp_path, results, rows)] == ["r7", "r7", "m1", "m1"]


@pytest.fixture(scope="module")
def maps(data: Path) -> list[MapScore]:
    """As if all were played on one map, of which nothing is known: a fit then takes a second."""
    folder = data / "real"
    for name in (cs2_scores.RESULTS, cs2_scores.MAPS):
        if not (folder / name).exists():
            pytest.skip(f"needs published scores of CS2 maps; {folder / name} is missing")
    found, _ = cs2_scores.read_all(folder)
    return [one._replace(map_name="") for one in found]


def test_the_chain_beats_one_chance_for_all_leaders(maps: list[MapScore]) -> None:
    """Fitted to every other match and judged on the rest, of which that chance is known in the main."""
    odd = match_numbers(maps) % 2 == 1
    seen, unseen = (
        [one for one, is_odd in zip(maps, odd, strict=True) if is_odd == which] for which in (0, 1)
    )
    assert len(unseen) > 200
    ours = log_losses(held_chances(load().maps, seen, unseen), unseen)
    assert ours.mean() < np.log(2) - 0.1
    gains = log_losses(held_leader(unseen), unseen) - ours
    assert gains.mean() > 2 * gains.std() / len(gains) ** 0.5 > 0


def held_chances(
    levels: MapCoefficients, seen: Sequence[MapScore], unseen: Sequence[MapScore]
) -> list[float]:
    """Team a's chance from half-time, on the second of these by a fit to the first."""
    fitted = of_today(levels, *scores(levels, seen, (0.55, 0.75)).likeliest())
    economies = described(fitted, fitted.today)
    even = MapParameters(0.0, side_of(fitted, ""), True, cs2_scores.MAX_ROUNDS, 6, economies)
    expected = Skill(0.0, fitted.skill_spread)
    by_half = {half: wins_from_half(half, even, expected) for half in HALF_TIMES}
    return [by_half[one.half] for one in unseen]


def log_losses(chances: Sequence[float], maps: Sequence[MapScore]) -> Floats:
    won = np.array([one.a_won for one in maps])
    return np.asarray(-np.log(np.where(won, chances, 1 - np.array(chances))))

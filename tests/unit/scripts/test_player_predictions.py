"""Players' kills on published maps: predicted from earlier maps alone, and better than by a constant."""

import csv
import sys
from pathlib import Path

import numpy as np
import pytest

from app.trading.player_kills import MOST
from scripts.bench import reality
from scripts.fit import duel_validation
from scripts.fit.player_validation import Held, cross_validated, judged, lines, places
from scripts.reality.player_predictions import KINDS, chances, predicted
from scripts.reality.player_rows import FILE, read

COLUMNS = "match,map_number,rounds,team,won_rounds,player,kills,deaths"
SCORES = [(13, 7), (9, 13), (13, 11), (16, 14), (13, 0), (31, 29)]


def rows(maps: int) -> list[str]:
    """Three maps a match, ten players each, of whom some come back."""
    found = []
    for index in range(maps):
        won, lost = SCORES[index % len(SCORES)]
        for seat in range(10):
            team, own = ("a", won) if seat < 5 else ("b", lost)
            player, kills = seat + 10 * (index // 3 % 2), (own + 7 * seat + index) % 30
            found.append(f"{index // 3},{index % 3 + 1},{won + lost},{team},{own},{player},{kills},9")
    return found


def published(found: list[str], place: Path) -> Path:
    path = place / "players.csv"
    path.write_text("\n".join([COLUMNS, *found]) + "\n")
    return path


def found_in(text: list[str], place: Path) -> list[list[list[float]]]:
    return [[chances(one[kind]) for kind in KINDS] for one in predicted(list(read(published(text, place))))]


def test_the_rows_of_a_map_are_predicted_before_any_of_them_is_learnt_from(tmp_path: Path) -> None:
    whole = rows(9)
    expected = found_in(whole, tmp_path)
    for end in (10, 30, 60, 70):
        others = [line.split(",") for line in whole[end - 10 : end]]
        turned = [",".join([*cells[:6], str(29 - int(cells[6])), "3"]) for cells in others]
        assert found_in([*whole[: end - 10], *turned], tmp_path) == expected[:end]


def test_who_won_a_map_does_not_matter_to_its_own_predictions(tmp_path: Path) -> None:
    whole = rows(6)
    turned = [*whole[:50]]
    for line in whole[50:]:
        cells = line.split(",")
        cells[4] = str(int(cells[2]) - int(cells[4]))
        turned.append(",".join(cells))
    assert found_in(turned, tmp_path) == found_in(whole, tmp_path)


def test_predictions_are_written_as_judges_read_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, out = published(rows(6), tmp_path), tmp_path / "out.csv"
    monkeypatch.setattr(sys, "argv", ["reality", "players", str(file), "--predictions", str(out)])
    reality.main()
    header, *written = csv.reader(out.read_text().splitlines())
    assert header == ["row", "kind", "kills", "p"]
    sums: dict[tuple[int, str], float] = {}
    counts: dict[tuple[int, str], set[int]] = {}
    for row, kind, kills, chance in written:
        sums[int(row), kind] = sums.get((int(row), kind), 0.0) + float(chance)
        counts.setdefault((int(row), kind), set()).add(int(kills))
    assert set(sums) == {(row, kind) for row in range(60) for kind in KINDS}
    assert all(one == pytest.approx(1, abs=1e-4) for one in sums.values())
    assert all(one == set(range(MOST + 1)) for one in counts.values())


@pytest.fixture(scope="module")
def held(data: Path) -> Held:
    """Each half of the matches predicted by a fit to the other half."""
    path = data / "real" / FILE
    if not path.exists():
        pytest.skip(f"needs published kills of players; {path} is missing")
    return cross_validated(list(read(path)), 2)


def test_the_model_beats_its_constant_and_the_simplest_rule_on_rows_it_has_not_seen(held: Held) -> None:
    for found in judged(held).values():
        assert set(found.references) == {"constant", "own rate"}
        for name, figures in found.references.items():
            assert found.ours["log_loss"].value < figures["log_loss"].value, name
            assert figures["ours_less"].high < 0, name


@pytest.mark.parametrize("kind", KINDS)
def test_lines_near_to_evens_are_exceeded_as_often_as_it_says(held: Held, kind: str) -> None:
    found = [one[kind] for one in held.found]
    said, came = lines(held.rows, found)
    for low in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7):
        inside = (low <= said) & (said < low + 0.1)
        assert came[inside].mean() == pytest.approx(said[inside].mean(), abs=0.03)
    assert places(held.rows, found) == pytest.approx(np.full(10, 0.1), abs=0.02)


def test_who_gets_more_and_who_the_most_is_said_better_than_by_a_constant(data: Path) -> None:
    path = data / "real" / FILE
    if not path.exists():
        pytest.skip(f"needs published kills of players; {path} is missing")
    every = duel_validation.cross_validated(list(read(path)), 2).by_kind()
    found = {kind: one.judged() for kind, one in every.items()}
    for kind in ("more", "most"):
        ours, constant = (
            one["log_loss"].value for one in (found[kind].ours, found[kind].references["constant"])
        )
        assert ours < constant, kind
    rule = found["more"].references["own rate"]["log_loss"]
    assert found["more"].ours["log_loss"].value < rule.high
    for kind in ("level", "shared"):
        said, came = found[kind].ours["brier"], found[kind].references["constant"]["brier"]
        assert said.value < came.high, kind
    assert all(one.ours["ece"].low < 0.01 for one in found.values())

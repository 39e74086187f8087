"""Published moments of rounds as they are read: where maps and rounds begin, who won, what is known when."""

import csv
import gzip
from pathlib import Path

from scripts.reality.labels import map_results, round_winners
from scripts.reality.snapshots import Snapshot, read

COLUMNS = ["time_left", "ct_score", "t_score", "map", "bomb_planted"]
COLUMNS += [f"{side}_{name}" for name in ("health", "armor", "money", "helmets") for side in ("ct", "t")]
COLUMNS += ["ct_defuse_kits", "ct_players_alive", "t_players_alive", "ct_weapon_m4a4", "t_weapon_ak47"]
COLUMNS += ["ct_grenade_flashbang", "t_grenade_molotovgrenade", "round_winner"]


def row(
    score: tuple[int, int],
    *,
    left: float = 174.9,
    name: str = "de_nuke",
    label: str = "CT",
    planted: bool = False,
) -> dict[str, object]:
    found = dict.fromkeys(COLUMNS, 0) | {"ct_health": 500, "t_health": 500, "ct_armor": 280, "ct_helmets": 2}
    found |= {"ct_players_alive": 5, "t_players_alive": 5, "ct_weapon_m4a4": 2, "t_weapon_ak47": 1}
    found |= {"ct_defuse_kits": 1, "t_grenade_molotovgrenade": 1, "ct_money": 4000, "t_money": 3000}
    return found | {
        "time_left": left,
        "ct_score": score[0],
        "t_score": score[1],
        "map": name,
        "bomb_planted": "TRUE" if planted else "FALSE",
        "round_winner": label,
    }


def published(rows: list[dict[str, object]], place: Path, *, packed: bool = False) -> Path:
    """A file with these rows."""
    path = place / "rows.csv"
    with path.open("w", newline="") as file:
        out = csv.DictWriter(file, COLUMNS)
        out.writeheader()
        out.writerows(rows)
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    return path


def snapshots(rows: list[dict[str, object]], place: Path, *, packed: bool = False) -> list[Snapshot]:
    return list(read(published(rows, place, packed=packed)))


def test_a_file_reads_the_same_packed(tmp_path: Path) -> None:
    rows = [row((0, 0)), row((0, 0), left=80.5), row((1, 0))]
    assert snapshots(rows, tmp_path) == snapshots(rows, tmp_path, packed=True)


def test_a_row_becomes_a_state(tmp_path: Path) -> None:
    before, live, planted = snapshots(
        [row((3, 2)), row((3, 2), left=80.5), row((3, 2), left=30.0, planted=True)], tmp_path
    )
    assert [one.state.phase for one in (before, live, planted)] == ["freeze", "live", "planted"]
    assert [one.state.seconds_left for one in (before, live, planted)] == [174.9 - 115, 80.5, 30.0]
    assert before.state.number == 6
    ct, t = live.state.ct, live.state.t
    assert (ct.weapons, t.weapons) == (2 * 2_900 + 3 * 650 + 2 * 350 + 400, 2_700)
    assert (ct.utility, t.utility, ct.kits, t.kits) == (0, 400, 1, 0)


def test_maps_begin_where_the_name_changes_or_the_score_falls(tmp_path: Path) -> None:
    rows = [row((0, 0)), row((1, 0)), row((0, 0)), row((0, 1)), row((0, 2), name="de_train")]
    found = snapshots(rows, tmp_path)
    assert [one.map_index for one in found] == [0, 0, 1, 1, 2]
    assert [one.opens_map for one in found] == [True, False, True, False, True]


def test_winners_follow_from_the_score_whatever_the_row_says(tmp_path: Path) -> None:
    rows = [row((0, 0), label="T"), row((1, 0), label="CT"), row((1, 1), label="CT")]
    assert round_winners(snapshots(rows, tmp_path)) == {(0, 0): True, (0, 1): False, (0, 2): True}


def test_sides_change_after_fifteen_rounds_and_within_overtimes(tmp_path: Path) -> None:
    rounds = {14: (10, 4), 15: (4, 11), 30: (15, 15), 32: (16, 16), 33: (17, 16), 36: (18, 18), 39: (19, 20)}
    found = snapshots([row(score) for score in rounds.values()], tmp_path)
    assert [one.starter_is_ct for one in found] == [True, False, False, False, True, True, False]
    assert found[1].previous is True  # CT of then won it, and is T now
    assert [one.state.overtime for one in found] == [False, False, True, True, True, True, True]


def test_the_loss_bonus_is_counted_from_the_half_on(tmp_path: Path) -> None:
    scores = [(0, 0), (1, 0), (2, 0), (2, 1), (13, 1), (1, 14)]
    found = snapshots([row(score) for score in scores], tmp_path)
    losses = [(one.state.ct.losses, one.state.t.losses) for one in found]
    assert losses[:4] == [(1, 1), (0, 2), (0, 3), (1, 2)]
    assert losses[5] == (1, 1)


def test_a_map_goes_to_who_leads_after_its_last_row(tmp_path: Path) -> None:
    won, level = [row((14, 15), label="T")], [row((15, 14), label="T", name="de_train")]
    found = snapshots(won + level, tmp_path)
    assert map_results(found, round_winners(found)) == {0: 1.0, 1: 0.5}

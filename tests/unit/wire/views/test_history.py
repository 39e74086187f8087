"""Rounds as JSON."""

from typing import Any

import msgspec
import pytest

from app.domain.match import Round
from app.wire.views.history import round_view


def shown(worth: tuple[int | None, int | None]) -> dict[str, Any]:
    played = Round(9, 1, 3, "away", "T", "bomb", 1, 2, started_at=1000, ended_at=2000, worth=worth)
    built: dict[str, Any] = msgspec.to_builtins(round_view(played))
    return built


@pytest.mark.parametrize(
    ("worth", "equipment"),
    [
        ((4000, 21_500), {"equipment_a": 4000, "equipment_b": 21_500}),
        ((None, 0), {"equipment_b": 0}),
        ((None, None), {}),
    ],
)
def test_what_teams_carried_is_shown_where_it_is_known(
    worth: tuple[int | None, int | None], equipment: dict[str, int]
) -> None:
    assert {name: value for name, value in shown(worth).items() if "equipment" in name} == equipment

"""Fields that the code calls otherwise are stored under the names that earlier versions read and write."""

from typing import Any

import msgspec
import pytest

from app.domain.match import MatchPlayer, OtherDeath, RosterEntry, TeamPlayer, TimelineEvent

PLAYER = MatchPlayer(7, "quill")


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (RosterEntry(7, "home"), {"slot"}),
        (TeamPlayer(PLAYER, "away"), {"slot"}),
        (OtherDeath(1, 2, PLAYER, "home"), {"slot"}),
        (
            TimelineEvent(1, "kill", 1, 1, 0, 0, actor_team="home", target_team="away"),
            {"actor_slot", "target_slot"},
        ),
    ],
)
def test_the_stored_names_stay(value: Any, names: set[str]) -> None:
    stored = msgspec.json.encode(value)
    assert names <= msgspec.json.decode(stored).keys()
    assert msgspec.json.decode(stored, type=type(value)) == value

"""Fields that the code calls otherwise are stored under the names that earlier versions read and write."""

from typing import Any
from uuid import UUID

import msgspec
import pytest

from app.domain.market import Result
from app.domain.match import (
    CurrentRound,
    FormatStatus,
    Match,
    MatchPlayer,
    OtherDeath,
    PendingMapEnd,
    Presence,
    RosterEntry,
    RoundResult,
    TeamPlayer,
    TimelineEvent,
)
from app.domain.match_info import MatchInfo
from app.domain.settlement import LedgerEntry, LedgerStatus
from app.domain.shown import RoundKnowledge

PLAYER = MatchPlayer(7, "quill")


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (RosterEntry(7, "home"), {"slot"}),
        (TeamPlayer(PLAYER, "away"), {"slot"}),
        (Presence(absent=(TeamPlayer(PLAYER, "home"),)), {"away"}),
        (OtherDeath(1, 2, PLAYER, "home"), {"slot"}),
        (
            TimelineEvent(1, "kill", 1, 1, 0, 0, actor_team="home", target_team="away"),
            {"actor_slot", "target_slot"},
        ),
        (RoundKnowledge(all_equipment_known=True), {"whole"}),
        (FormatStatus(doubted_maps=(1,)), {"open_maps"}),
        (
            Match(
                UUID(int=1),
                1,
                "A",
                "B",
                "Cup",
                info=MatchInfo(external_id="7"),
                next_history_id=2,
                applied_late=True,
                last_arrived_at=3,
                pending_map_end=PendingMapEnd(1, 13, 5),
                home_strength_sd=1.0,
                away_strength_sd=2.0,
            ),
            {"about", "next_fact", "behind", "home_spread", "away_spread", "last_fact_at", "open_end"},
        ),
        (
            CurrentRound(
                1,
                1,
                withheld=(TimelineEvent(1, "kill", 1, 1, 0, 0),),
                pending_result=RoundResult("CT", "kills", 1, 0, 5),
            ),
            {"held", "won"},
        ),
        (
            LedgerEntry(13, "", LedgerStatus.PENDING, LedgerStatus.SETTLED, Result.WON, "it happened"),
            {"outcome"},
        ),
    ],
)
def test_the_stored_names_stay(value: Any, names: set[str]) -> None:
    stored = msgspec.json.encode(value)
    assert names <= msgspec.json.decode(stored).keys()
    assert msgspec.json.decode(stored, type=type(value)) == value

"""Fields that the code calls otherwise are stored under the names that earlier versions read and write."""

from typing import Any
from uuid import UUID

import msgspec
import pytest
from msgspec.structs import replace

from app.domain import match
from app.domain.market import Result
from app.domain.match_info import MatchInfo
from app.domain.settlement import LedgerEntry, LedgerStatus
from app.domain.shown import RoundKnowledge

PLAYER = match.MatchPlayer(7, "quill")
KILL = match.TimelineEvent(1, "kill", 1, 1, 0, 0)


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (match.RosterEntry(7, "home"), {"slot"}),
        (match.TeamPlayer(PLAYER, "away"), {"slot"}),
        (match.Presence(absent=(match.TeamPlayer(PLAYER, "home"),)), {"away"}),
        (match.OtherDeath(1, 2, PLAYER, "home"), {"slot"}),
        (replace(KILL, actor_team="home", target_team="away"), {"actor_slot", "target_slot"}),
        (RoundKnowledge(all_equipment_known=True), {"whole"}),
        (match.FormatStatus(doubted_maps=(1,)), {"open_maps"}),
        (
            match.Match(
                UUID(int=1),
                1,
                "A",
                "B",
                "Cup",
                info=MatchInfo(external_id="7"),
                next_history_id=2,
                applied_late=True,
                last_arrived_at=3,
                pending_map_end=match.PendingMapEnd(1, 13, 5),
                home_strength_sd=1.0,
                away_strength_sd=2.0,
            ),
            {"about", "next_fact", "behind", "home_spread", "away_spread", "last_fact_at", "open_end"},
        ),
        (
            match.CurrentRound(
                1, 1, withheld=(KILL,), pending_result=match.RoundResult("CT", "kills", 1, 0, 5)
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

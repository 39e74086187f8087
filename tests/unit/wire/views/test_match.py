"""The match resource: every group's fields present when open, absent when not."""

from decimal import Decimal
from itertools import chain, combinations
from typing import Any
from uuid import UUID

import msgspec
import pytest
from msgspec.structs import replace

from app.domain.entrants import TeamLogos
from app.domain.loadout import Loadout
from app.domain.map_play import KillDetails
from app.domain.market import Market, MarketStatus
from app.domain.match import CurrentRound, MapPlay, Match, MatchPlayer, Round, Status, TimelineEvent
from app.domain.match_info import MatchInfo, VideoStream, VodAnchor
from app.wire.fields import Group
from app.wire.views.match import MatchParts, match_view

FIELDS = {
    Group.BASIC: {
        *("id", "urn", "team_a", "team_b", "event", "bo_type", "status", "scheduled_at"),
        *("score_a", "score_b", "map_name", "team_a_logo", "team_b_logo"),
    },
    Group.READ: {"started_at", "finished_at", "winner", "maps"},
    Group.DETAIL: {"rounds", "events", "streams", "demo_url", "player_stats"},
    Group.MARKETS: {"markets"},
    Group.SCOREBOARD: {"scoreboard"},
    Group.INTERNALS: {
        *("external_match_id", "data_delay_seconds", "booking_status", "source_url"),
        *("suspended", "suspended_reason", "suspended_reason_code"),
    },
}
FOX, HERON = MatchPlayer(77, "fox"), MatchPlayer(88, "heron")
MATCH = Match(
    id=UUID(int=1),
    number=7,
    home="Northwind",
    away="Harbour",
    event="Cup",
    best_of=3,
    status=Status.LIVE,
    scheduled_at=0,
    maps=(MapPlay(number=1, name="de_nuke", status="live", home_score=3, away_score=1, home_side="T"),),
    current=CurrentRound(map=1, number=5, phase="live", alive_home=4, alive_away=2),
    suspended="silent",
)
KILL = TimelineEvent(
    id=1,
    type="kill",
    map=1,
    round=1,
    at=61_500,
    offset_ms=1500,
    actor=FOX,
    actor_team="home",
    side="T",
    target=HERON,
    target_team="away",
    target_side="CT",
    weapon="ak47",
    headshot=True,
)
TEAM_KILL = replace(KILL, id=3, target=MatchPlayer(99, "vixen"), target_team="home", target_side="T")
PLAYED = Round(2, 1, 1, "home", "T", "bomb", 1, 0, 0, 90_000, bomb_site="A")
OFFER = Market(
    13, "map=1|round=5|team=home", MarketStatus.ACTIVE, Decimal("1.85"), 0.5, group="g", priced_at=1000
)
LOGOS = TeamLogos("https://img.example/northwind.png")
PARTS = MatchParts(
    MATCH, (PLAYED, replace(PLAYED, id=9, void=True)), (KILL, TEAM_KILL), (OFFER,), logos=LOGOS
)


def shown(*opened: Group, parts: MatchParts = PARTS) -> dict[str, Any]:
    seen: dict[str, Any] = msgspec.to_builtins(match_view(parts, frozenset(opened)))
    return seen


@pytest.mark.parametrize(
    "opened", list(chain.from_iterable(combinations(Group, size) for size in range(len(Group) + 1)))
)
def test_fields_are_those_of_the_open_groups(opened: tuple[Group, ...]) -> None:
    assert set(shown(*opened)) == set().union(*(FIELDS[group] for group in opened))


def test_slots_are_team_a_and_team_b() -> None:
    seen = shown(Group.BASIC, Group.READ)
    assert (seen["team_a"], seen["team_b"], seen["bo_type"]) == ("Northwind", "Harbour", "bo3")
    assert seen["scheduled_at"] == "1970-01-01T00:00:00+00:00"
    assert seen["maps"][0]["side_a"] == "T" and seen["maps"][0]["winner"] is None


def test_a_logo_is_an_address_or_null() -> None:
    seen = shown(Group.BASIC)
    assert (seen["team_a_logo"], seen["team_b_logo"]) == ("https://img.example/northwind.png", None)
    invalid = shown(Group.BASIC, parts=replace(PARTS, logos=TeamLogos("northwind.png", "javascript:x")))
    assert (invalid["team_a_logo"], invalid["team_b_logo"]) == (None, None)


def test_history_leaves_out_what_does_not_count() -> None:
    seen = shown(Group.DETAIL)
    assert [one["id"] for one in seen["rounds"]] == [2]
    assert seen["rounds"][0]["bomb_site"] == "A"
    assert seen["events"][0] == {
        "id": 1,
        "type": "kill",
        "map": 1,
        "round": 1,
        "actor": "fox",
        "actor_team": "team_a",
        "side": "T",
        "target": "heron",
        "target_team": "team_b",
        "victim_side": "CT",
        "weapon": "ak47",
        "headshot": True,
        "penetrated": False,
        "time": "1970-01-01T00:01:01+00:00",
        "time_offset_seconds": 1.5,
    }


def test_team_kills_are_deaths_and_not_kills() -> None:
    fox, vixen, heron = shown(Group.DETAIL)["player_stats"]
    assert (fox["name"], fox["team"], fox["kills"], fox["headshots"]) == ("fox", "team_a", 1, 1)
    assert (heron["team"], heron["deaths"]) == ("team_b", 1)
    assert (vixen["team"], vixen["kills"], vixen["deaths"]) == ("team_a", 0, 1)


def test_offers_carry_numbers_and_a_name_of_their_own() -> None:
    assert shown(Group.MARKETS)["markets"] == (
        {
            "market_offer_id": "13:map=1|round=5|team=home",
            "id": 13,
            "specifiers": "map=1|round=5|team=home",
            "status": "active",
            "suspended": False,
            "odds": 1.85,
            "group": "g",
            "priced_at": "1970-01-01T00:00:01+00:00",
        },
    )


def test_the_scoreboard_is_null_while_nothing_is_played() -> None:
    live = shown(Group.SCOREBOARD)["scoreboard"]
    assert (live["round"], live["side_a"], live["side_b"], live["alive_b"]) == (5, "T", "CT", 2)
    idle = MatchParts(replace(MATCH, current=None))
    assert shown(Group.SCOREBOARD, parts=idle) == {"scoreboard": None}


def test_the_scoreboard_shows_what_players_have() -> None:
    row = Loadout(7, "fox", "T", health=40, money=1700, armour=60, helmet=True, weapons=("ak47",))
    board = shown(Group.SCOREBOARD, parts=MatchParts(replace(MATCH, loadouts=(row,))))["scoreboard"]
    assert board["players"] == (
        {
            "name": "fox",
            "team": "team_a",
            "side": "T",
            "alive": True,
            "hp": 40,
            "armour": 60,
            "helmet": True,
            "defuse_kit": False,
            "money": 1700,
            "weapons": ("ak47",),
        },
    )


def test_internals_have_the_reason_why_nothing_is_offered() -> None:
    seen = shown(Group.INTERNALS)
    assert (seen["suspended"], seen["suspended_reason"], seen["booking_status"]) == (True, "silent", "booked")
    assert seen["suspended_reason_code"] == "other"


def test_an_event_has_its_meta_for_keys_that_see_internals() -> None:
    details = KillDetails((1, 2, 3), (4, 5, -6), ("noscope",), flash_assist=True)
    kill = replace(KILL, assister=MatchPlayer(0, "bot"), details=details)
    parts = replace(PARTS, events=(kill, TEAM_KILL))
    assert all("meta" not in one for one in shown(Group.DETAIL, parts=parts)["events"])
    first, second = shown(Group.DETAIL, Group.INTERNALS, parts=parts)["events"]
    assert first["meta"] == {
        "actor_account": 77,
        "target_account": 88,
        "actor_position": (1, 2, 3),
        "target_position": (4, 5, -6),
        "flags": ("noscope",),
        "flash_assist": True,
    }
    assert second["meta"] == {"actor_account": 77, "target_account": 99}
    assert "events" not in shown(Group.INTERNALS, parts=parts)


def test_streams_have_their_language_where_it_is_known() -> None:
    about = MatchInfo(
        streams=(VideoStream("https://live.example/a", "en", "Main"), VideoStream("https://live.example/b"))
    )
    view = match_view(MatchParts(match=replace(MATCH, info=about)), frozenset({Group.DETAIL}))
    assert list(msgspec.to_builtins(view)["streams"]) == [
        {"url": "https://live.example/a", "language": "en", "name": "Main", "vod_anchors": ()},
        {"url": "https://live.example/b", "language": None, "name": None, "vod_anchors": ()},
    ]


def test_an_event_is_found_in_a_recording_with_an_anchor() -> None:
    shown_at = (VodAnchor(60_000, 300.0), VodAnchor(90_000, 400.0))
    streams = (
        VideoStream("https://live.example/a"),
        VideoStream("https://vod.example/b", vod_anchors=shown_at),
    )
    parts = replace(PARTS, match=replace(MATCH, info=MatchInfo(streams=streams)))
    seen = shown(Group.DETAIL, parts=parts)
    assert seen["streams"][1]["vod_anchors"] == (
        {"time": "1970-01-01T00:01:00+00:00", "offset_seconds": 300.0},
        {"time": "1970-01-01T00:01:30+00:00", "offset_seconds": 400.0},
    )
    assert [(one["vod_stream"], one["vod_offset_seconds"]) for one in seen["events"]] == [(1, 301.5)] * 2

"""Lines as servers and senders write them."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain import facts as f
from app.domain.match import MatchPlayer
from app.ingest.cs2log import read
from app.ingest.cs2log.player_lines import account, parse_player

ARRIVED = 1_768_850_000_000
fox, heron = MatchPlayer(77, "fox"), MatchPlayer(88, "heron")
FOX = '"fox<3><[U:1:77]><CT>"'
HERON = '"heron<4><[U:1:88]><TERRORIST>"'
KILL = f'{FOX} [1 2 3] killed {HERON} [4 5 -6] with "ak47" (headshot penetrated)'


def stamped(*messages: str, second: int = 42) -> str:
    return "".join(f"L 01/19/2026 - 18:59:{second}: {message}\n" for message in messages)


def one(message: str) -> f.Fact:
    reading = read(stamped(message), ARRIVED)
    assert reading.known == 1
    return reading.facts[0]


@pytest.mark.parametrize(
    "line",
    [
        "L 01/19/2026 - 18:59:42: Starting Freeze period",
        "01/19/2026 - 18:59:42: Starting Freeze period",
        "01/19/2026 - 18:59:42.123 - Starting Freeze period",
        "L 01/19/2026 - 18:59:42: Starting Freeze period\r",
        "L 01/19/2026 - 18:59:42: Starting Freeze period\x00",
    ],
)
def test_every_timestamp_format(line: str) -> None:
    assert read(line, ARRIVED).facts == (f.FreezeStarted(at=ARRIVED),)
    assert read(line.encode(), ARRIVED).facts == (f.FreezeStarted(at=ARRIVED),)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "no time at all",
        "L 13/45/2026 - 18:59:42: Starting Freeze period",
        "L aa/bb/cccc - dd:ee:ff: Starting Freeze period",
        "L 01/19/2026 - 18:59:42: something new in an update",
        'L 01/19/2026 - 18:59:42: "fox<3><[U:1:77]><CT>" invented something',
        '01/19/2026 - 18:59:42.12x - World triggered "Round_Start"',
    ],
)
def test_unknown_lines_are_counted_and_skipped(line: str) -> None:
    known = f.FreezeStarted(at=ARRIVED)
    reading = read(stamped("Starting Freeze period") + line, ARRIVED)
    assert (reading.facts, reading.known, reading.unknown) == ((known,), 1, 1 if line else 0)


def test_bytes_that_are_no_text_are_no_error() -> None:
    assert read(b"\xff\xfe\x00garbage\nL 01/19/2026 - 18:59:42: Starting Freeze period", ARRIVED).known == 1


def test_times_count_back_from_the_arrival() -> None:
    body = stamped("Starting Freeze period", second=40) + stamped('World triggered "Round_Start"', second=55)
    assert [fact.at for fact in read(body, ARRIVED).facts] == [ARRIVED - 15_000, ARRIVED]


def test_milliseconds_are_parsed() -> None:
    body = (
        "01/19/2026 - 18:59:42.100 - Starting Freeze period\n"
        '01/19/2026 - 18:59:42.350 - World triggered "Round_Start"'
    )
    assert [fact.at for fact in read(body, ARRIVED).facts] == [ARRIVED - 250, ARRIVED]


def test_lines_a_second_out_of_order_are_sorted() -> None:
    body = stamped(KILL, second=43) + stamped('World triggered "Round_Start"', second=42)
    assert [type(fact) for fact in read(body, ARRIVED).facts] == [f.RoundStarted, f.Killed]


def test_after_a_clock_set_back_the_order_of_arrival_stays() -> None:
    body = stamped(KILL, second=59) + stamped('World triggered "Round_Start"', second=10)
    assert [type(fact) for fact in read(body, ARRIVED).facts] == [f.Killed, f.RoundStarted]


def test_a_kill() -> None:
    assert one(KILL) == f.Killed(
        at=ARRIVED,
        killer=fox,
        side="CT",
        victim=heron,
        victim_side="T",
        weapon="ak47",
        headshot=True,
        penetrated=True,
        position=(1, 2, 3),
        victim_position=(4, 5, -6),
    )


def test_further_words_about_a_kill_are_kept_and_impossible_places_are_not() -> None:
    line = f'{FOX} [-1 20 300] killed {HERON} [4 5 1234567] with "awp" (throughsmoke headshot noscope)'
    kill = one(line)
    assert isinstance(kill, f.Killed)
    assert (kill.flags, kill.headshot, kill.penetrated) == (("throughsmoke", "noscope"), True, False)
    assert (kill.position, kill.victim_position) == ((-1, 20, 300), None)


def test_other_things_killed_are_no_kills() -> None:
    reading = read(stamped(f'{FOX} [1 2 3] killed other "chicken<92>" [4 5 6] with "knife"'), ARRIVED)
    assert (reading.facts, reading.known) == ((), 1)


@pytest.mark.parametrize(
    "message",
    [
        f'{FOX} say "x<2><[U:1:2]><CT>" [1 2 3] killed {HERON} [4 5 6] with "ak47"',
        f'{FOX} say_team "World triggered "Round_Start""',
        f'{FOX} say "Team "CT" triggered "SFUI_Notice_CTs_Win" (CT "13") (T "0")"',
        '"Console<0><Console><Console>" say "Game Over: competitive de_inferno score 13:0 after 1 min"',
        f'{FOX} say "rcon from "1.2.3.4:5": command "mp_backup_restore_load_file backup_round03.txt""',
    ],
)
def test_chat_is_never_parsed_as_an_event(message: str) -> None:
    assert read(stamped(message), ARRIVED).facts == ()


@pytest.mark.parametrize(
    ("steam_id", "number"),
    [("[U:1:77]", 77), ("[U:1:  77]", 77), ("STEAM_1:1:38", 77), ("STEAM_0:0:38", 76)]
    + [("BOT", 0), ("STEAM_ID_PENDING", 0), ("Console", 0), ("", 0)],
)
def test_accounts(steam_id: str, number: int) -> None:
    assert account(steam_id) == number


def test_strange_names() -> None:
    assert parse_player("a<b>c<1><2><3><[U:1:5]><CT>") == (MatchPlayer(5, "a<b>c<1><2>"), "CT")
    assert parse_player("<0><BOT><>") == (MatchPlayer(0, ""), None)
    assert parse_player("nothing") is None


@pytest.mark.parametrize(
    ("notice", "reason"),
    [
        ("CTs_Win", "kills"),
        ("Terrorists_Win", "kills"),
        ("Target_Bombed", "bomb"),
        ("Bomb_Defused", "defuse"),
        ("Target_Saved", "time"),
    ],
)
def test_how_rounds_are_won(notice: str, reason: str) -> None:
    fact = one(f'Team "CT" triggered "SFUI_Notice_{notice}" (CT "3") (T "4")')
    assert isinstance(fact, f.RoundWon)
    assert (fact.side, fact.reason, fact.ct_score, fact.t_score) == ("CT", reason, 3, 4)


@pytest.mark.parametrize(
    ("message", "fact"),
    [
        ('World triggered "Match_Start" on "de_nuke"', f.PlayStarted(at=ARRIVED, map_name="de_nuke")),
        ('World triggered "Restart_Round_(1_second)"', f.RestartAnnounced(at=ARRIVED)),
        ('World triggered "Warmup_Start"', f.WarmupStarted(at=ARRIVED)),
        ('Team playing "TERRORIST": Blue Herons', f.SideNamed(at=ARRIVED, side="T", team="Blue Herons")),
        ('MatchStatus: Team playing "CT": Foxes', f.SideNamed(at=ARRIVED, side="CT", team="Foxes")),
        (
            'MatchStatus: Score: 2:10 on map "de_nuke" RoundsPlayed: -1',
            f.ScoreReported(at=ARRIVED, ct_score=2, t_score=10, rounds_played=-1, map_name="de_nuke"),
        ),
        (
            "Game Over: competitive mg_active de_nuke score 13:7 after 45 min",
            f.MapEnded(at=ARRIVED, map_name="de_nuke", ct_score=13, t_score=7),
        ),
        ('server_cvar: "mp_maxrounds" "30"', f.FormatSet(at=ARRIVED, max_rounds=30)),
        ('server_cvar: "mp_overtime_maxrounds" "6"', f.FormatSet(at=ARRIVED, overtime_rounds=6)),
        ("Match pause is enabled - TimeOutCTs", f.Paused(at=ARRIVED, reason="TimeOutCTs")),
        ("Match pause is disabled - mp_unpause_match", f.Resumed(at=ARRIVED, reason="mp_unpause_match")),
        ("Match unpaused", f.Resumed(at=ARRIVED, reason="paused")),
        ("Match paused", f.Paused(at=ARRIVED, reason="paused")),
        ('Loading map "de_nuke"', f.MapLoaded(at=ARRIVED, name="de_nuke")),
        (
            'rcon from "127.0.0.1:5000": command "mp_backup_restore_load_file backup_round07.txt"',
            f.RestoreAnnounced(at=ARRIVED, round=7),
        ),
        (
            f'{HERON} triggered "Planted_The_Bomb" at bombsite B',
            f.BombPlanted(at=ARRIVED, player=heron, site="B"),
        ),
        (f'{FOX} triggered "Defused_The_Bomb"', f.BombDefused(at=ARRIVED, player=fox)),
        (
            f"{FOX} flash-assisted killing {HERON}",
            f.Assisted(at=ARRIVED, assister=fox, victim=heron, flash=True),
        ),
        (f"{FOX} assisted killing {HERON}", f.Assisted(at=ARRIVED, assister=fox, victim=heron)),
        (f'{HERON} [1 2 3] committed suicide with "world"', f.Died(at=ARRIVED, victim=heron, side="T")),
        (f'{FOX} picked up "ak47"', f.ItemAcquired(at=ARRIVED, player=fox, side="CT", item="ak47")),
        (
            f'{HERON} purchased "item_kevlar"',
            f.ItemAcquired(at=ARRIVED, player=heron, side="T", item="item_kevlar"),
        ),
        (
            f"{FOX} left buyzone with [ weapon_knife weapon_awp kevlar(100) ]",
            f.Equipped(
                at=ARRIVED, player=fox, side="CT", items=("weapon_knife", "weapon_awp", "kevlar(100)")
            ),
        ),
        (f"{FOX} threw molotov [1921 2766 126]", f.ItemLost(at=ARRIVED, player=fox, item="molotov")),
        (
            f"{FOX} money change 2000-300 = $1700 (tracked) (purchase: weapon_hegrenade)",
            f.MoneyChanged(at=ARRIVED, player=fox, side="CT", money=1700),
        ),
        (
            f'{FOX} [1 2 3] attacked {HERON} [4 5 6] with "awp" (damage "27") (damage_armor "3")'
            ' (health "73") (armor "92") (hitgroup "chest")',
            f.Hurt(at=ARRIVED, victim=heron, side="T", health=73, armour=92, shooter=fox),
        ),
        (
            '"player_3" : "             1000003,      2,  16000,     21,     13"',
            f.PlayerListed(
                at=ARRIVED, player=MatchPlayer(1000003, ""), side="T", money=16000, kills=21, deaths=13
            ),
        ),
        (
            f'{FOX} [1 2 3] attacked {HERON} [4 5 6] with "inferno" (damage "4") (damage_armor "0")'
            ' (health "96") (armor "0") (hitgroup "generic")',
            f.Hurt(at=ARRIVED, victim=heron, side="T", health=96, armour=0),
        ),
        (
            f"{FOX} money change 100+700 = $800 (tracked) (acquire: sellback)",
            f.MoneyChanged(at=ARRIVED, player=fox, side="CT", money=800, refund=700),
        ),
        (
            f"{FOX} money change 500+3250 = $3750 (tracked)",
            f.MoneyChanged(at=ARRIVED, player=fox, side="CT", money=3750),
        ),
        (
            '"player_11" : "                   0,      3,    800,      0,      0"',
            f.PlayerListed(at=ARRIVED, player=MatchPlayer(0, ""), side="CT", money=800, kills=0, deaths=0),
        ),
        ("JSON_BEGIN{", f.ListBegun(at=ARRIVED)),
        (
            '"fields" : "             accountid,   team,  kills,  money, deaths,assists,    dmg"',
            f.ListBegun(at=ARRIVED, columns_known=False),
        ),
        ("}}JSON_END", f.ListEnded(at=ARRIVED)),
        (f'{HERON} triggered "Bomb_Begin_Plant" at bombsite A', f.PlantBegun(at=ARRIVED, player=heron)),
        (f'{FOX} triggered "Begin_Bomb_Defuse_Without_Kit"', f.DefuseBegun(at=ARRIVED, player=fox)),
        (f'{FOX} triggered "Begin_Bomb_Defuse_With_Kit"', f.DefuseBegun(at=ARRIVED, player=fox, kit=True)),
        (
            'server_cvar: "mp_roundtime_defuse" "1.920000"',
            f.ClockSet(at=ARRIVED, name="defuse_round_time", seconds=115.2),
        ),
        ('server_cvar: "mp_roundtime" "5.000000"', f.ClockSet(at=ARRIVED, name="round_time", seconds=300)),
        ('server_cvar: "mp_freezetime" "20"', f.ClockSet(at=ARRIVED, name="freeze_time", seconds=20)),
        ('server_cvar: "mp_c4timer" "35"', f.ClockSet(at=ARRIVED, name="fuse_time", seconds=35)),
        ('"mp_maxrounds" = "30"', f.FormatSet(at=ARRIVED, max_rounds=30)),
        ('"mp_overtime_maxrounds" = "10"', f.FormatSet(at=ARRIVED, overtime_rounds=10)),
        ('"mp_freezetime" = "15.000000"', f.ClockSet(at=ARRIVED, name="freeze_time", seconds=15)),
        (f'{HERON} purchased "deagle"', f.ItemAcquired(at=ARRIVED, player=heron, side="T")),
        (
            '"fox<3><[U:1: 77]>" switched from team <CT> to <TERRORIST>',
            f.SideSwitched(at=ARRIVED, player=fox, side="T"),
        ),
    ],
)
def test_one_line_one_fact(message: str, fact: f.Fact) -> None:
    assert one(message) == fact


def test_a_cvar_of_nought_rounds_sets_no_format() -> None:
    assert read(stamped('server_cvar: "mp_maxrounds" "0"'), ARRIVED).facts == ()


@pytest.mark.parametrize("value", ["99999", "1.2.3", "."])
def test_an_absurd_time_is_no_setting(value: str) -> None:
    reading = read(stamped(f'server_cvar: "mp_roundtime" "{value}"'), ARRIVED)
    assert (reading.facts, reading.known) == ((), 1)


PLAYED = (KILL, f'{FOX} picked up "ak47"', "Game Over: x de_a score 1:2")
STATUS = 'MatchStatus: Score: 2:10 on map "de_nuke" RoundsPlayed: -1'
LINES = [stamped(message).strip() for message in (*PLAYED, STATUS)]


@settings(deadline=None)
@given(st.text(), st.sampled_from(LINES), st.integers(0, 120), st.integers(0, 30))
def test_no_line_is_an_error(noise: str, line: str, cut: int, width: int) -> None:
    for body in (noise, line[:cut] + noise + line[cut + width :]):
        reading = read(body, ARRIVED)
        assert reading.known + reading.unknown >= len(reading.facts)


def test_absurd_numbers_are_no_error() -> None:
    digits = "9" * 5_000
    read(stamped(f'{FOX} [1 2 3] killed "x<4><[U:1:{digits}]><CT>" [1 2 3] with "awp"'), ARRIVED)
    facts = read(stamped(f"Game Over: x de_a score {digits}:2"), ARRIVED).facts
    assert facts == (f.LineNotUnderstood(at=ARRIVED),)


@pytest.mark.parametrize("name", ["mp_maxrounds", "mp_overtime_maxrounds"])
@pytest.mark.parametrize("rounds", [1, 15, 102, 9999])
def test_a_format_that_no_match_is_played_in_sets_none(name: str, rounds: int) -> None:
    assert read(stamped(f'server_cvar: "{name}" "{rounds}"'), ARRIVED).facts == ()


def test_a_line_longer_than_any_server_writes_is_unknown() -> None:
    reading = read(stamped("Starting Freeze period" + " " * 3_000), ARRIVED)
    assert (reading.known, reading.unknown, reading.facts) == (0, 1, ())


@pytest.mark.parametrize(
    "body", [b'{"event": "round_end"}\n', b"\x1f\x8b\x08\x00\x00", b"a\nb\n", b"x" * 3_000 + b"\ny\n"]
)
def test_a_body_without_a_single_timestamp_is_not_passed_over(body: bytes) -> None:
    reading = read(body, ARRIVED)
    assert reading.facts == (f.LineNotUnderstood(at=ARRIVED, about="bomb_line", of_no_log=True),)
    assert len(reading.unread) == 1
    assert read(body + b"\n" + stamped("Starting Freeze period").encode(), ARRIVED).unread == ()


@pytest.mark.parametrize("body", [b"", b"\n \r\n", b"\xef\xbb\xbf\n", stamped("x" * 3_000).encode()])
def test_a_body_that_says_nothing_or_is_a_log_s_is_no_doubt(body: bytes) -> None:
    assert read(body, ARRIVED).facts == ()


def test_a_body_of_long_lines_is_read_at_once() -> None:
    """Other logs wait while a body is parsed: the cost of a line is linear in its length."""
    body = stamped(*["Game Over: " + "a" * 1_900] * 300)
    began = time.process_time()
    assert len(read(body, ARRIVED).unread) == 300
    assert time.process_time() - began < 2


def test_no_fact_carries_a_nul() -> None:
    line = b"L 01/19/2026 - 19:00:02: Match pause is enabled - a\x00b\n"
    (paused,) = read(line, 0).facts
    assert isinstance(paused, f.Paused)
    assert paused.reason == "ab"


@pytest.mark.parametrize(
    "character", ["\x00", "\x08", "\x1b", "\x7f", "\x85", "\x9b", "\u202e", "\u2066", "\u200f"]
)
def test_names_lose_what_would_steer_a_screen(character: str) -> None:
    kill = one(KILL.replace("fox", f"f{character}ox"))
    assert isinstance(kill, f.Killed) and kill.killer.name == "fox"

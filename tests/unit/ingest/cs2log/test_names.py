"""A name may contain anything but a line break, and no line is parsed in two ways."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain import facts as f
from app.ingest.cs2log import read

ARRIVED = 1_768_850_000_000
STAMP = "L 01/19/2026 - 18:59:42: "
PLAIN = "fox"
HERON = '"heron<4><[U:1:88]><TERRORIST>"'
LINES = (
    '"{}<3><[U:1:77]><CT>" [1 2 3] killed ' + HERON + ' [4 5 6] with "ak47" (headshot)',
    HERON + ' [1 2 3] killed "{}<3><[U:1:77]><CT>" [4 5 6] with "ak47"',
    '"{}<3><[U:1:77]><CT>" assisted killing ' + HERON,
    HERON + ' flash-assisted killing "{}<3><[U:1:77]><CT>"',
    '"{}<3><[U:1:77]><CT>" [1 2 3] committed suicide with "world"',
    '"{}<3><[U:1:77]><CT>" [1 2 3] was killed by the bomb.',
    '"{}<3><[U:1:77]><TERRORIST>" triggered "Planted_The_Bomb" at bombsite A',
    '"{}<3><[U:1:77]><CT>" triggered "Defused_The_Bomb"',
    '"{}<3><[U:1:77]><CT>" picked up "ak47"',
    '"{}<3><[U:1:77]><CT>" money change 1000-200 = $800 (tracked) (purchase: weapon_deagle)',
    '"{}<3><[U:1:77]><CT>" left buyzone with [ weapon_knife C4 ]',
    '"{}<3><[U:1:77]><CT>" threw flashbang [1 2 3]',
    '"{}<3><[U:1:77]>" switched from team <CT> to <TERRORIST>',
    '"{}<3><[U:1:77]><CT>" disconnected (reason "TIMEDOUT")',
    '"{}<3><[U:1:77]><CT>" [1 2 3] attacked ' + HERON + ' [4 5 6] with "ak47" (damage "1") '
    '(damage_armor "0") (health "99") (armor "100") (hitgroup "chest")',
    '"{}<3><[U:1:77]><CT>" say "hello"',
)
PIECES = (
    *('"', "<", ">", "[1 2 3]", ' killed "', '" [1 2 3] killed "y', ' say "', "<3>", "<CT>", "|", "\\"),
    *(" killed other ", '" [1 2 3] killed other "y'),
)
LETTERS = st.text(st.characters(exclude_categories=("C", "Z")), max_size=4)
#: Without what ends a name: a line with that has two readings.
names = (
    st.lists(st.sampled_from(PIECES) | LETTERS, max_size=5).map("".join).filter(lambda name: '>"' not in name)
)
END = '<9><[U:1:99]><CT>"'


def facts(line: str, name: str) -> tuple[f.Fact, ...]:
    return read(STAMP + line.format(name), ARRIVED).facts


def renamed(fact: f.Fact, name: str) -> str:
    return repr(fact).replace(f"name={PLAIN!r}", f"name={name!r}")


@settings(deadline=None, max_examples=200)
@given(st.sampled_from(LINES), names)
def test_a_name_changes_no_fact(line: str, name: str) -> None:
    assert [repr(fact) for fact in facts(line, name)] == [renamed(fact, name) for fact in facts(line, PLAIN)]


@pytest.mark.parametrize("verb", ["[1 2 3] killed", "[1 2 3] killed other", "blinded", "changed name to"])
@pytest.mark.parametrize("line", LINES[:-1])
def test_a_line_with_two_readings_is_unknown(line: str, verb: str) -> None:
    reading = read(STAMP + line.format(f'x{END} {verb} "y'), ARRIVED)
    assert all(isinstance(fact, f.LineNotUnderstood) for fact in reading.facts)
    assert reading.unknown == 1


@pytest.mark.parametrize("name", [PLAIN, '"x" killed "y', f'x{END} [1 2 3] killed "y'])
def test_a_chat_message_is_never_an_event(name: str) -> None:
    said = f'"{name}<3><[U:1:77]><CT>" say "{PLAIN}{END} [1 2 3] killed {HERON} [4 5 6] with "ak47"'
    assert all(isinstance(fact, f.LineNotUnderstood) for fact in read(STAMP + said, ARRIVED).facts)


@pytest.mark.parametrize(
    ("line", "play"),
    [
        ('"fox<3><[U:1:77]><CT>" [1 2 3] killed "heron<4><[U:1:88]><TERR', True),
        ('Team "CT" triggered "SFUI_Notice_Something_New" (CT "1") (T "0")', True),
        ('MatchStatus: Score: one:0 on map "de_mirage" RoundsPlayed: 1', True),
        ("Game Over: competitive", True),
        ('Team "CT" triggered "SFUI_Notice_CTs_Surrender" (CT "3") (T "8")', True),
        ('World triggered "Round_Suspended"', True),
        ('"fox<3><[U:1:77]><CT>" triggered "Bomb_Kicked_Away"', True),
        ('"fox<3><[U:1:77]><CT>" triggered "Waved"', False),
        ('World triggered "Fireworks"', False),
        ('"fox<3><[U:1:77]><CT>" waved', False),
        ("Your server needs to be restarted", False),
    ],
)
def test_an_unknown_line_that_looks_like_play_is_a_fact(line: str, play: bool) -> None:
    reading = read(STAMP + line, ARRIVED)
    assert reading.unknown == 1
    assert reading.unread == ((STAMP + line,) if play else ())
    assert [type(fact) for fact in reading.facts] == ([f.LineNotUnderstood] if play else [])


@pytest.mark.parametrize(
    ("line", "play"),
    [
        (LINES[0].format(PLAIN), True),
        ('L 01/19/2026 - 18:5X:42: Team "CT" triggered "SFUI_Notice_CTs_Win" (CT "1") (T "0")', True),
        (STAMP + LINES[0].format("x" * 2_000), True),
        ("[plugin] fox killed heron", False),
        ("x" * 3_000, False),
    ],
)
def test_a_line_without_a_timestamp_or_too_long_may_be_play(line: str, play: bool) -> None:
    reading = read(f"{STAMP}Starting Freeze period\n{line}", ARRIVED)
    assert (reading.known, reading.unknown, len(reading.unread)) == (1, 1, int(play))
    assert [type(fact) for fact in reading.facts] == [f.FreezeStarted, *[f.LineNotUnderstood] * play]


def test_a_kill_by_somebody_on_no_side_is_not_passed_over() -> None:
    line = LINES[0].format(PLAIN).replace("<CT>", "<Unassigned>", 1)
    assert [type(fact) for fact in read(STAMP + line, ARRIVED).facts] == [f.LineNotUnderstood]


CUT_OFF = (
    "Molotov projectile spawned at -1943.109 1620.291 94.2",
    '"fox<3><[U:1:77]><CT>" blinded for 1.20 by "heron<4><[U:1:88]><TERRORIST>" from flashbang entind',
    "ACCOLADE, FINAL: {3k},\tfox<",
)


@pytest.mark.parametrize("stamp", [STAMP, "01/19/2026 - 18:59:42.123 - "])
@pytest.mark.parametrize("before", CUT_OFF)
@pytest.mark.parametrize(
    "line", [LINES[0].format(PLAIN), 'Team "CT" triggered "SFUI_Notice_CTs_Win" (CT "1") (T "0")']
)
def test_a_line_written_into_another_one_is_not_passed_over(stamp: str, before: str, line: str) -> None:
    reading = read(STAMP + before + stamp + line, ARRIVED)
    assert [type(fact) for fact in reading.facts] == [f.LineNotUnderstood]
    assert read(STAMP + before, ARRIVED).facts == ()


def test_nobody_writes_a_line_into_the_log_by_chat() -> None:
    said = STAMP + f'"fox<3><[U:1:77]><CT>" say "{STAMP}{LINES[0].format(PLAIN)}"'
    assert (read(said, ARRIVED).facts, read(said, ARRIVED).known) == ((), 1)

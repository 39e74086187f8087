"""No text is an error: a line that cannot be parsed counts as unknown, and the others count."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain import facts as f
from app.ingest.cs2log import read
from tests.support import logs

ARRIVED = 1_768_850_000_000
STAMPS = ("L 01/19/2026 - 18:59:42: ", "01/19/2026 - 18:59:42: ", "01/19/2026 - 18:59:42.123 - ")
FOX = '"fox<3><[U:1:77]><CT>"'
HERON = '"heron<4><[U:1:88]><TERRORIST>"'
ATTACK = f'{FOX} [1 2 3] attacked {HERON} [4 5 6] with "ak47" (damage "1") (damage_armor "0")'
MESSAGES = (
    *logs.kick_off(),
    *logs.live(),
    *logs.ct_win(1, 0),
    logs.kill(logs.CT[0], logs.T[0]),
    f'{ATTACK} (health "99") (armor "100") (hitgroup "chest")',
    f"{FOX} money change 1000-200 = $800 (tracked) (purchase: weapon_deagle)",
    f"{FOX} left buyzone with [ weapon_knife weapon_usp C4 ]",
    f'{FOX} triggered "Planted_The_Bomb" at bombsite A',
    f"{FOX} switched from team <CT> to <TERRORIST>",
    f'{FOX} disconnected (reason "TIMEDOUT")',
    '"player_0" : "   77,      3,    800,  1,  2,"',
    'server_cvar: "mp_roundtime" "1.92"',
    'server_cvar: "mp_maxrounds" "24"',
    "Game Over: competitive mg_active de_mirage score 13:8 after 40 min",
    'rcon from "1.2.3.4:5": command "mp_backup_restore_load_file backup_round07.txt"',
)
#: Digits that `str.isdigit` or `\d` accept, signs, empty and absurd numbers, quotes and brackets.
PIECES = (*'²٣०𝟘Ⅷ0-."<>[]\r', "²²²", "0000", "9" * 30, "1.2.3", "")


@st.composite
def hostile_lines(draw: st.DrawFn) -> str:
    """A line that a server writes, with pieces of it replaced by hostile ones."""
    line = draw(st.sampled_from(STAMPS)) + draw(st.sampled_from(MESSAGES))
    for _ in range(draw(st.integers(1, 4))):
        at, width = draw(st.integers(0, len(line))), draw(st.integers(0, 6))
        piece = draw(st.sampled_from(PIECES) | st.characters() | st.text(max_size=width))
        line = line[:at] + piece * draw(st.integers(1, 4)) + line[at + width :]
    return line


@pytest.mark.parametrize(
    "line",
    [
        "L 01/19/0000 - 18:59:42: Starting Freeze period",
        "01/19/2026 - 18:59:42.²²² - Starting Freeze period",
        "01/19/2026 - 18:59:42.٣٣٣ - Starting Freeze period",
        "L 01/19/²²²² - 18:59:42: Starting Freeze period",
    ],
)
def test_a_timestamp_that_is_none_makes_the_line_unknown(line: str) -> None:
    whole = f"{line}\nL 01/19/2026 - 18:59:42: Starting Freeze period\n"
    reading = read(whole.encode(), ARRIVED)
    assert (reading.facts, reading.known, reading.unknown) == ((f.FreezeStarted(at=ARRIVED),), 1, 1)


@pytest.mark.parametrize(
    "message",
    [
        'Team "CT" triggered "SFUI_Notice_CTs_Win" (CT "٣") (T "0")',
        'MatchStatus: Score: ٣:0 on map "de_mirage" RoundsPlayed: ٣',
        'server_cvar: "mp_maxrounds" "٢٤"',
        'server_cvar: "mp_roundtime" "٢"',
        '"player_0" : "   ٧٧,      3,    800,  1,  2,"',
        "Game Over: competitive mg_active de_mirage score ١٣:8 after 40 min",
        f"{FOX} money change 1000-200 = $٨٠٠ (tracked) (purchase: weapon_deagle)",
        f'{ATTACK} (health "٩٩") (armor "100") (hitgroup "chest")',
    ],
)
def test_only_digits_that_a_server_writes_are_numbers(message: str) -> None:
    facts = read(STAMPS[0] + message, ARRIVED).facts
    assert all(isinstance(fact, f.LineNotUnderstood) for fact in facts)


@settings(deadline=None)
@given(st.lists(hostile_lines() | st.text(), max_size=4))
def test_no_text_raises_and_every_line_is_counted(lines: list[str]) -> None:
    text = "\n".join(lines)
    reading = read(text, ARRIVED)
    assert len(reading.facts) <= reading.known + len(reading.unread)
    assert len(reading.unread) <= reading.unknown
    assert reading.known + reading.unknown <= text.count("\n") + 1
    assert read(text.encode(errors="replace"), ARRIVED).unknown >= 0


@settings(deadline=None)
@given(st.sampled_from(STAMPS), st.integers(0, 24), st.text(min_size=1, max_size=4) | st.sampled_from(PIECES))
def test_no_timestamp_raises(stamp: str, at: int, piece: str) -> None:
    changed = stamp[:at] + piece + stamp[at + len(piece) :]
    reading = read(f"{changed}Starting Freeze period", ARRIVED)
    assert len(reading.facts) <= 1

"""The server's log lines: one function a line, without the timestamp; and the log that they are written to,
with a clock that only goes forward.

Sides are `CT` and `T` here and in the whole simulator; only the lines have `TERRORIST`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from random import Random
from typing import Literal

from app.sandbox.simulator.economy import Weapon
from app.sandbox.simulator.truth import Reason, Side

TimestampStyle = Literal["plain", "bare", "millis"]
Position = tuple[int, int, int]
TEAM: dict[Side, str] = {"CT": "CT", "T": "TERRORIST"}
NOTICE: dict[tuple[Side, Reason], str] = {
    ("CT", "kills"): "SFUI_Notice_CTs_Win",
    ("T", "kills"): "SFUI_Notice_Terrorists_Win",
    ("T", "bomb"): "SFUI_Notice_Target_Bombed",
    ("CT", "defuse"): "SFUI_Notice_Bomb_Defused",
    ("CT", "time"): "SFUI_Notice_Target_Saved",
}
FIELDS = (
    "             accountid,   team,  money,  kills, deaths,assists,    dmg,    hsp,    kdr,    adr,    mvp,"
    "     ef,     ud,     3k,     4k,     5k,clutchk, firstk,pistolk,sniperk, blindk,  bombk,firedmg,"
    "uniquek,  dinks,chickenk"
)
#: Moments (game seconds), lines without timestamps, and numbers of the server runs that wrote them.
Lines = Iterator[tuple[float, str, int]]
#: Where a side tends to be: the middle of a box of map units, and how far it reaches.
_PLACES: dict[Side, tuple[Position, int]] = {"CT": ((1300, 900, 110), 800), "T": ((200, 500, 80), 700)}


def stamped(at_ms: int, text: str, style: TimestampStyle) -> str:
    """The line as it leaves the server at `at_ms` (Unix ms), in one of the three styles that servers use."""
    minute, millis = divmod(at_ms, 60_000)
    second, millis = divmod(millis, 1000)
    when = f"{_to_the_minute(minute)}{second:02d}"
    if style == "millis":
        return f"{when}.{millis:03d} - {text}"
    return f"{'L ' if style == 'plain' else ''}{when}: {text}"


@lru_cache(maxsize=256)
def _to_the_minute(minute: int) -> str:
    """How the stamps of all lines of a minute (since 1970) begin."""
    return f"{datetime.fromtimestamp(minute * 60, UTC):%m/%d/%Y - %H:%M:}"


@lru_cache(maxsize=1024)
def player(name: str, slot: int, account: int, side: Side | None) -> str:
    return f'"{name}<{slot}><[U:1:{account}]><{TEAM[side] if side else ""}>"'


def position(place: Position) -> str:
    return f"[{place[0]} {place[1]} {place[2]}]"


def world_event(trigger: str) -> str:
    return f'World triggered "{trigger}"'


def match_start(map_name: str) -> str:
    return f'World triggered "Match_Start" on "{map_name}"'


def teams_playing(ct: str, t: str) -> list[str]:
    return [f'Team playing "CT": {ct}', f'Team playing "TERRORIST": {t}']


def match_status(ct: str, t: str, ct_score: int, t_score: int, map_name: str, played: int) -> list[str]:
    return [
        *(f"MatchStatus: {line}" for line in teams_playing(ct, t)),
        f'MatchStatus: Score: {ct_score}:{t_score} on map "{map_name}" RoundsPlayed: {played}',
    ]


def cvar(name: str, value: str) -> str:
    return f'server_cvar: "{name}" "{value}"'


def scored(side: Side, score: int) -> str:
    return f'Team "{TEAM[side]}" scored "{score}" with "5" players'


def won(side: Side, reason: Reason, ct_score: int, t_score: int) -> str:
    return f'Team "{TEAM[side]}" triggered "{NOTICE[side, reason]}" (CT "{ct_score}") (T "{t_score}")'


def money(owner: str, before: int, change: int, after: int, what: str = "") -> str:
    sign = "+" if change >= 0 else "-"
    note = f" (purchase: {what})" if what else ""
    return f"{owner} money change {before}{sign}{abs(change)} = ${after} (tracked){note}"


def attacked(
    killer: str, at: Position, victim: str, there: Position, weapon: str, hit: tuple[int, int, int, int, str]
) -> str:
    """`hit` is damage, damage to armour, health left, armour left, hit group."""
    damage, dent, health, armour, group = hit
    return (
        f'{killer} {position(at)} attacked {victim} {position(there)} with "{weapon}" (damage "{damage}") '
        f'(damage_armor "{dent}") (health "{health}") (armor "{armour}") (hitgroup "{group}")'
    )


def killed(
    killer: str, at: Position, victim: str, there: Position, weapon: Weapon, flags: Sequence[str]
) -> str:
    note = f" ({' '.join(flags)})" if flags else ""
    return f'{killer} {position(at)} killed {victim} {position(there)} with "{weapon.name}"{note}'


def left_buyzone(who: str, carried: Sequence[str]) -> str:
    return f"{who} left buyzone with [ {' '.join(carried)} ]"


def threw(who: str, grenade: str, place: Position) -> str:
    note = " flashbang entindex 247)" if grenade == "flashbang" else ""
    return f"{who} threw {grenade} {position(place)}{note}"


def pause(on: bool, reason: str) -> str:
    return f"Match pause is {'enabled' if on else 'disabled'} - {reason}"


def restore(played: int) -> str:
    """The command that restores the match as it was after so many rounds."""
    return f'rcon from "127.0.0.1:27015": command "mp_backup_restore_load_file backup_round{played:02d}.txt"'


def disconnected(who: str) -> str:
    return f'{who} disconnected (reason "NETWORK_DISCONNECT_TIMEDOUT")'


def connected(nobody: str) -> list[str]:
    """A player connects who is on no side yet."""
    steps = ('connected, address ""', "STEAM USERID validated", "entered the game")
    return [f"{nobody} {words}" for words in steps]


def joined(name: str, slot: int, account: int, side: Side) -> str:
    return f'"{name}<{slot}><[U:1:{account}]>" switched from team <Unassigned> to <{TEAM[side]}>'


def game_over(map_name: str, ct_score: int, t_score: int, minutes: int) -> str:
    return f"Game Over: competitive  {map_name} score {ct_score}:{t_score} after {minutes} min"


def round_stats(number: int, ct_score: int, t_score: int, map_name: str, rows: Iterable[str]) -> list[str]:
    """The block that the server writes at each freeze; `rows` are the players' columns."""
    return [
        "JSON_BEGIN{",
        '"name": "round_stats",',
        f'"round_number" : "{number}",',
        f'"score_t" : "{t_score}",',
        f'"score_ct" : "{ct_score}",',
        f'"map" : "{map_name}",',
        '"server" : "matchfeed simulator",',
        f'"fields" : "{FIELDS}"',
        '"players" : {',
        *(f'"player_{index}" : "{row}"' for index, row in enumerate(rows)),
        "}}JSON_END",
    ]


@dataclass
class LogWriter:
    """`now` is in game seconds since the log's start; `drain` yields the pending lines and forgets them.

    `run` counts how often the server has restarted.
    """

    now: float = 0.0
    run: int = 0
    pending: list[tuple[float, str, int]] = field(default_factory=list)

    def write(self, *texts: str) -> None:
        for text in texts:
            self.pending.append((self.now, text, self.run))

    def wait(self, seconds: float) -> None:
        self.now += seconds

    def until(self, at: float) -> None:
        self.now = max(self.now, at)

    def drain(self) -> Lines:
        yield from self.pending
        self.pending.clear()


def somewhere(rng: Random, side: Side) -> Position:
    """A random position where a player of this side could stand."""
    (x, y, z), reach = _PLACES[side]
    return x + rng.randint(-reach, reach), y + rng.randint(-reach, reach), z + rng.randint(-50, 60)

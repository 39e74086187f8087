"""How the server spells things: one function a line, without the time stamp.

Sides are `CT` and `T` here and in the whole simulator; only the lines say `TERRORIST`.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Literal

from app.sandbox.simulator.arms import Arm
from app.sandbox.simulator.truth import Reason, Side

Dress = Literal["plain", "bare", "millis"]
Spot = tuple[int, int, int]

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


def stamped(at_ms: int, text: str, dress: Dress) -> str:
    """The line as it leaves the server at `at_ms` (Unix ms), in one of the three dresses."""
    when = datetime.fromtimestamp(at_ms // 1000, UTC)
    if dress == "millis":
        return f"{when:%m/%d/%Y - %H:%M:%S}.{at_ms % 1000:03d} - {text}"
    return f"{'L ' if dress == 'plain' else ''}{when:%m/%d/%Y - %H:%M:%S}: {text}"


def player(name: str, slot: int, account: int, side: Side | None) -> str:
    return f'"{name}<{slot}><[U:1:{account}]><{TEAM[side] if side else ""}>"'


def spot(place: Spot) -> str:
    return f"[{place[0]} {place[1]} {place[2]}]"


def world(trigger: str) -> str:
    return f'World triggered "{trigger}"'


def match_start(arena: str) -> str:
    return f'World triggered "Match_Start" on "{arena}"'


def teams_playing(ct: str, t: str) -> list[str]:
    return [f'Team playing "CT": {ct}', f'Team playing "TERRORIST": {t}']


def match_status(ct: str, t: str, ct_score: int, t_score: int, arena: str, played: int) -> list[str]:
    return [
        *(f"MatchStatus: {line}" for line in teams_playing(ct, t)),
        f'MatchStatus: Score: {ct_score}:{t_score} on map "{arena}" RoundsPlayed: {played}',
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
    killer: str, at: Spot, victim: str, there: Spot, arm: str, hit: tuple[int, int, int, int, str]
) -> str:
    """`hit` is damage, damage to armour, health left, armour left, hit group."""
    damage, dent, health, armour, group = hit
    return (
        f'{killer} {spot(at)} attacked {victim} {spot(there)} with "{arm}" (damage "{damage}") '
        f'(damage_armor "{dent}") (health "{health}") (armor "{armour}") (hitgroup "{group}")'
    )


def killed(killer: str, at: Spot, victim: str, there: Spot, arm: Arm, flags: Sequence[str]) -> str:
    note = f" ({' '.join(flags)})" if flags else ""
    return f'{killer} {spot(at)} killed {victim} {spot(there)} with "{arm.name}"{note}'


def left_buyzone(who: str, carried: Sequence[str]) -> str:
    return f"{who} left buyzone with [ {' '.join(carried)} ]"


def threw(who: str, grenade: str, place: Spot) -> str:
    note = " flashbang entindex 247)" if grenade == "flashbang" else ""
    return f"{who} threw {grenade} {spot(place)}{note}"


def pause(on: bool, reason: str) -> str:
    return f"Match pause is {'enabled' if on else 'disabled'} - {reason}"


def restore(played: int) -> str:
    """The command that puts the match back to where it stood after so many rounds."""
    return f'rcon from "127.0.0.1:27015": command "mp_backup_restore_load_file backup_round{played:02d}.txt"'


def disconnected(who: str) -> str:
    return f'{who} disconnected (reason "NETWORK_DISCONNECT_TIMEDOUT")'


def connected(nobody: str) -> list[str]:
    """A player who is on no side yet comes in."""
    told = ('connected, address ""', "STEAM USERID validated", "entered the game")
    return [f"{nobody} {words}" for words in told]


def joined(name: str, slot: int, account: int, side: Side) -> str:
    return f'"{name}<{slot}><[U:1:{account}]>" switched from team <Unassigned> to <{TEAM[side]}>'


def game_over(arena: str, ct_score: int, t_score: int, minutes: int) -> str:
    return f"Game Over: competitive  {arena} score {ct_score}:{t_score} after {minutes} min"


def round_stats(number: int, ct_score: int, t_score: int, arena: str, rows: Iterable[str]) -> list[str]:
    """The block that the server writes at each freeze; `rows` are the players' columns."""
    return [
        "JSON_BEGIN{",
        '"name": "round_stats",',
        f'"round_number" : "{number}",',
        f'"score_t" : "{t_score}",',
        f'"score_ct" : "{ct_score}",',
        f'"map" : "{arena}",',
        '"server" : "matchfeed simulator",',
        f'"fields" : "{FIELDS}"',
        '"players" : {',
        *(f'"player_{index}" : "{row}"' for index, row in enumerate(rows)),
        "}}JSON_END",
    ]

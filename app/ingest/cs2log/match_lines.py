"""Lines about the whole match: rounds, score, teams, pauses, the map. One function for each kind."""

import re
from collections.abc import Callable

from app.domain import facts as f
from app.domain.match import Side, WinReason

ParsedLine = f.Fact | bool  #: the fact; True for a known line that holds none; False for an unknown line
_SIDES: dict[str, Side] = {"CT": "CT", "TERRORIST": "T"}

_STATUS_TEAM = re.compile(r'(?:MatchStatus: )?Team playing "(CT|TERRORIST)": ?(.*)\Z', re.ASCII)
_STATUS_SCORE = re.compile(
    r'MatchStatus: Score: (\d{1,4}):(\d{1,4}) on map "([^"]*)" RoundsPlayed: (-?\d{1,4})',
    re.ASCII,
)
_ROUND_WON = re.compile(
    r'Team "(CT|TERRORIST)" triggered "(\w+)" \(CT "(\d{1,4})"\) \(T "(\d{1,4})"\)', re.ASCII
)
_GAME_OVER = re.compile(r"Game Over:\s+(?:\S+\s+)*?(\S+) score (\d{1,4}):(\d{1,4})(?: |\Z)", re.ASCII)
_MATCH_START = re.compile(r'World triggered "Match_Start" on "([^"]*)"', re.ASCII)
_MAP = re.compile(r'(?:Loading|Started) map "([^"]+)"', re.ASCII)
_PAUSE = re.compile(r"Match (?:(un)?paused|(?:un)?pause is (enabled|disabled))(?: - (.*))?\Z", re.ASCII)
#: A change of a setting, or its line in the list of all that a server writes when a log or a map begins.
_CLOCK = re.compile(
    r'(?:server_cvar: )?"(mp_roundtime|mp_roundtime_defuse|mp_freezetime|mp_c4timer)" (?:= )?"([\d.]{1,9})"',
    re.ASCII,
)
_CVAR = re.compile(r'(?:server_cvar: )?"(mp_maxrounds|mp_overtime_maxrounds)" (?:= )?"(\d{1,4})"', re.ASCII)
_RESTORE = re.compile(
    r'rcon from "[^"]*": command "mp_backup_restore_load_file "?\S*?round(\d{1,4})\S*"', re.ASCII
)

#: The limits of what an operator may set, too.
_MAX_ROUNDS, _MAX_OVERTIME_ROUNDS = 100, 20

#: The settings about time: their names in the domain, seconds in a unit, and the most that is plausible.
_CLOCKS = {
    "mp_roundtime": ("round_time", 60.0, 3600.0),
    "mp_roundtime_defuse": ("defuse_round_time", 60.0, 3600.0),
    "mp_freezetime": ("freeze_time", 1.0, 600.0),
    "mp_c4timer": ("fuse_time", 1.0, 600.0),
}

_REASONS: dict[str, WinReason] = {
    "SFUI_Notice_CTs_Win": "kills",
    "SFUI_Notice_Terrorists_Win": "kills",
    "SFUI_Notice_Target_Bombed": "bomb",
    "SFUI_Notice_Bomb_Defused": "defuse",
    "SFUI_Notice_Target_Saved": "time",
}
#: The side that gave up; the line names the one that won.
_SURRENDERS: dict[str, Side] = {"SFUI_Notice_CTs_Surrender": "CT", "SFUI_Notice_Terrorists_Surrender": "T"}


#: A drawn round has no winner: it is played again, and what happened in it does not count.
_WORLD_NO_FACT = ("Game_Commencing", "SFUI_Notice_Round_Draw", "Match_Reloaded")


def side_named(name: str) -> Side | None:
    return _SIDES.get(name)


def world_triggered(message: str, at: int) -> ParsedLine:
    what = message[len('World triggered "') :]
    if what.startswith("Round_Start"):
        return f.RoundStarted(at=at)
    if what.startswith("Round_End"):
        return f.RoundEnded(at=at)
    if what.startswith("Match_Start"):
        found = _MATCH_START.match(message)
        return f.PlayStarted(at=at, map_name=found[1] if found else "")
    if what.startswith("Restart_Round_"):
        return f.RestartAnnounced(at=at)
    if what.startswith("Warmup_Start"):
        return f.WarmupStarted(at=at)
    if what.startswith("Warmup_End"):
        return f.WarmupEnded(at=at)
    return what.startswith(_WORLD_NO_FACT)


def freeze(message: str, at: int) -> ParsedLine:
    return f.FreezeStarted(at=at)


def team(message: str, at: int) -> ParsedLine:
    """``Team "CT" triggered …`` ends a round; ``scored`` repeats its score."""
    found = _ROUND_WON.match(message)
    if found is None:
        return '" scored "' in message
    side, reason = side_named(found[1]), _REASONS.get(found[2])
    if side and (loser := _SURRENDERS.get(found[2])):
        return f.Surrendered(at=at, winner=side) if side != loser else False
    if side is None or reason is None:
        return False
    return f.RoundWon(at=at, side=side, reason=reason, ct_score=int(found[3]), t_score=int(found[4]))


def team_playing(message: str, at: int) -> ParsedLine:
    found = _STATUS_TEAM.match(message)
    side = side_named(found[1]) if found else None
    return f.SideNamed(at=at, side=side, team=found[2].strip()) if found and side else False


def match_status(message: str, at: int) -> ParsedLine:
    found = _STATUS_SCORE.match(message)
    if found is None:
        return team_playing(message, at)
    ct_score, t_score, played = int(found[1]), int(found[2]), int(found[4])
    return f.ScoreReported(at=at, ct_score=ct_score, t_score=t_score, rounds_played=played, map_name=found[3])


def pause(message: str, at: int) -> ParsedLine:
    found = _PAUSE.match(message)
    if found is None:
        return False
    reason = found[3] or "paused"
    ends = found[1] is not None or found[2] == "disabled"
    return f.Resumed(at=at, reason=reason) if ends else f.Paused(at=at, reason=reason)


def map_loaded(message: str, at: int) -> ParsedLine:
    found = _MAP.match(message)
    return f.MapLoaded(at=at, name=found[1]) if found else False


def game_over(message: str, at: int) -> ParsedLine:
    found = _GAME_OVER.match(message)
    if found is None:
        return False
    return f.MapEnded(at=at, map_name=found[1], ct_score=int(found[2]), t_score=int(found[3]))


def cvar(message: str, at: int) -> ParsedLine:
    """An implausible format is ignored: prices are computed from the format."""
    if clock := _CLOCK.match(message):
        return _clock_set(clock[1], clock[2], at)
    found = _CVAR.match(message)
    rounds = int(found[2]) if found else 0
    if found is None or not rounds or rounds % 2:
        return True
    if found[1] == "mp_maxrounds":
        return f.FormatSet(at=at, max_rounds=rounds) if rounds <= _MAX_ROUNDS else True
    return f.FormatSet(at=at, overtime_rounds=rounds) if rounds <= _MAX_OVERTIME_ROUNDS else True


def _clock_set(setting: str, value: str, at: int) -> ParsedLine:
    name, unit, most = _CLOCKS[setting]
    try:
        seconds = round(float(value) * unit, 3)
    except ValueError:
        return True
    return f.ClockSet(at=at, name=name, seconds=seconds) if seconds <= most else True


def list_begun(message: str, at: int) -> ParsedLine:
    return f.ListBegun(at=at)


def list_ended(message: str, at: int) -> ParsedLine:
    return f.ListEnded(at=at)


def rcon(message: str, at: int) -> ParsedLine:
    found = _RESTORE.match(message)
    return f.RestoreAnnounced(at=at, round=int(found[1])) if found else True


def known(message: str, at: int) -> ParsedLine:
    return True


#: Parsers by the beginning of the message. Several entries may begin with the same letter.
OPENINGS: tuple[tuple[str, Callable[[str, int], ParsedLine]], ...] = (
    ('World triggered "', world_triggered),
    ('Team "', team),
    ('Team playing "', team_playing),
    ("MatchStatus: ", match_status),
    ("Starting Freeze period", freeze),
    ("server_cvar: ", cvar),
    ("Match pause", pause),
    ("Match unpause", pause),
    ("Game Over: ", game_over),
    ("Loading map ", map_loaded),
    ("Started map ", map_loaded),
    ("Started: ", known),
    ("rcon from ", rcon),
    ("ACCOLADE, ", known),
    ("Molotov projectile ", known),
    ("JSON_BEGIN{", list_begun),
    ("}}JSON_END", list_ended),
    ("Log file ", known),
)

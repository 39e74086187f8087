"""Parsing of a log body into facts. Every line begins with a timestamp, in one of three formats."""

import re
from calendar import timegm
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

import msgspec

from app.domain.facts import Fact, LineNotUnderstood
from app.domain.match import EventDoubt
from app.ingest.cs2log.match_lines import OPENINGS, ParsedLine
from app.ingest.cs2log.player_lines import parse_player_line
from app.kit.control_characters import strip_control_characters

_STAMP = len("01/19/2026 - 18:59:42")
_MAX_DISORDER_MILLIS = 2_000  #: ms by which lines may be out of order
_MAX_LINE = 2_000  #: characters of a line, several times what a server writes
_SAMPLE = 200  #: characters of an unknown line that are kept
_OF_KILLS = "killed|assisted killing|flash-assisted killing|committed suicide|was killed by"
_OF_THE_BOMB = r'triggered "\w*(?i:bomb|defus|plant)\w*"'
_OF_ROUNDS = r'World triggered "\w*(?i:sfui|round|match|score|restart|half|overtime)'
_VERBS = f"{_OF_KILLS}|{_OF_THE_BOMB}"
_PLAY = re.compile(rf'(?:: | - )(?:Team "|MatchStatus: |Game Over|{_OF_ROUNDS}|".*(?:{_VERBS}))')
_NAMES_PLAY = re.compile(
    rf'<-?\d+><[^<>]*><\w*>" (?:\[[^]]*\] )?(?:{_VERBS}) ?'
    r'|Team "(?:CT|TERRORIST)" triggered "|MatchStatus: Score: |Game Over: '
)
_DATE_AND_TIME = re.compile(r"(\d\d/\d\d/\d{4}) - (\d\d):(\d\d):(\d\d)", re.ASCII)
_STAMPED = re.compile(r"\d\d/\d\d/\d{4} - \d\d:\d\d:\d\d(?:: |\.\d{3} - )", re.ASCII)
_MAX_SPREAD_MILLIS = 3_600_000  #: ms: a larger step within one body means that the clock was set


def split_timestamp(line: str) -> tuple[int, str] | None:
    """Source time (ms, zone unknown) and message, or None when `line` has no timestamp."""
    start = 2 if line[:2] == "L " else 0
    end = start + _STAMP
    if line[end : end + 2] == ": ":
        time = source_time(line[start:end])
        return None if time is None else (time, line[end + 2 :])
    if (
        line[end : end + 1] == "."
        and line[end + 4 : end + 7] == " - "
        and _is_number(line[end + 1 : end + 4])
    ):
        time = source_time(line[start:end])
        return None if time is None else (time + int(line[end + 1 : end + 4]), line[end + 7 :])
    return None


@lru_cache(maxsize=256)
def source_time(stamp: str) -> int | None:
    """``01/19/2026 - 18:59:42`` as if it were UTC, in ms; None for another format."""
    found = _DATE_AND_TIME.fullmatch(stamp)
    midnight = _midnight(found[1]) if found else None
    if found is None or midnight is None:
        return None
    return midnight + (int(found[2]) * 3600 + int(found[3]) * 60 + int(found[4])) * 1000


@lru_cache(maxsize=8)
def _midnight(date: str) -> int | None:
    month, day, year = int(date[0:2]), int(date[3:5]), int(date[6:10])
    if not (year and 1 <= month <= 12 and 1 <= day <= 31):
        return None
    return timegm((year, month, day, 0, 0, 0)) * 1000


_RCON = re.compile(r'rcon from "[^"]*"')  #: the address from which the server is administered


def _is_number(text: str) -> bool:
    """Whether `int` reads it: `isdigit` alone is true of superscripts, too."""
    return text.isascii() and text.isdigit()


class Reading(msgspec.Struct, frozen=True):
    """The facts of one body in order, the number of its known and unknown lines, and those of the unknown
    ones that look like play, shortened; the first line of a body that is no log at all. `said`: the lines
    that led to facts, without the address of an operator's command, and of the others their times: to read
    them gives the same facts."""

    facts: tuple[Fact, ...]
    known: int
    unknown: int
    unread: tuple[str, ...] = ()
    said: tuple[str, ...] = ()


def read(body: bytes | str, arrived_at: int) -> Reading:
    """The facts in a log body that arrived at `arrived_at` (Unix ms).

    A fact's `at` is the arrival minus the difference, by the source's clock, between the body's newest line
    and its own. Lines at most two seconds out of order are sorted; after a larger step back, which is a clock
    that was set, the order of arrival stays. A body in which no line has a timestamp is of another program,
    or of a log that has changed its form: what happened meanwhile is not known.
    """
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
    text = strip_control_characters(text)  # players choose their names; PostgreSQL stores no NUL in text
    lines = [line for raw in text.removeprefix("\ufeff").split("\n") if (line := raw.rstrip("\r"))]
    timed = [split_timestamp(line) if len(line) <= _MAX_LINE else None for line in lines]
    newest = max([each[0] for each in timed if each is not None], default=0)
    found: list[tuple[int, Fact]] = []
    said: list[str] = []
    unread: list[str] = []
    unknown, time, at = 0, newest, arrived_at
    for line, each in zip(lines, timed, strict=True):
        read_line: ParsedLine
        if each is None:
            read_line, message = False, ""
        else:
            time, message = each
            early = newest - time
            at = arrived_at - (early if early < _MAX_SPREAD_MILLIS else _MAX_SPREAD_MILLIS)
            read_line = parse(message, at)
        if not isinstance(read_line, bool):
            found.append((time, read_line))
            said.append(_without_address(line, message) if message[0] == "r" else line)
        elif read_line and not _is_joined_to_another(message):
            _add_time(said, line, message)
        else:
            unknown += 1
            if looks_like_play(line, timed=each is not None):
                unread.append(line[:_SAMPLE])
                found.append((time, LineNotUnderstood(at=at, about=_about(line))))
                said.append(line)
            elif each is not None:
                _add_time(said, line, message)
    if not any(timed):
        said = lines
        if first := _first_of_no_log(lines):
            found = [(newest, LineNotUnderstood(at=arrived_at, about="bomb_line", of_no_log=True))]
            unread, said = [first[:_SAMPLE]], [first]
    return Reading(_in_order(found), len(lines) - unknown, unknown, tuple(unread), tuple(said))


def _without_address(line: str, message: str) -> str:
    if (found := _RCON.match(message)) is None:
        return line
    return f'{line[: len(line) - len(message)]}rcon from ""{message[found.end() :]}'


def _add_time(said: list[str], line: str, message: str) -> None:
    """Add the time of a line that says nothing, unless the one before begins with it."""
    time = line[: len(line) - len(message)]
    if not said or not said[-1].startswith(time):
        said.append(time)


def _first_of_no_log(lines: list[str]) -> str | None:
    """The first line that says something, where none has a timestamp; None where one has."""
    if any(split_timestamp(line) for line in lines):  # too long to be parsed, and a log's all the same
        return None
    return next((line for line in lines if line.strip()), None)


def looks_like_play(line: str, *, timed: bool) -> bool:
    """Whether a line that cannot be parsed seems to be about what results rest on: kills and other deaths,
    the bomb, the end of a round or a map, the score. One without a timestamp may be of another program: it
    must name a player, a side or a score as a log does."""
    return (_PLAY if timed else _NAMES_PLAY).search(line) is not None


def _about(line: str) -> EventDoubt:
    """Which events of a round a line that cannot be parsed may be about."""
    if re.search(_OF_THE_BOMB, line):
        return "bomb_line"
    return "kill_line" if re.search(_OF_KILLS, line) else ""


def _is_joined_to_another(message: str) -> bool:
    """Whether a line that says nothing is cut off by one that does, written into it. Anybody may write a
    whole line into the chat."""
    if " - " not in message or '>" say' in message:
        return False
    return any(not isinstance(parse(message[found.end() :], 0), bool) for found in _STAMPED.finditer(message))


def parse(message: str, at: int) -> ParsedLine:
    """Parse a message without its timestamp: a fact, True (known, no fact) or False (unknown)."""
    if message[:1] == '"':
        return parse_player_line(message, at)
    for opening, handler in _BY_FIRST_LETTER.get(message[:1], ()):
        if message.startswith(opening):
            return handler(message, at)
    return False


def _in_order(found: list[tuple[int, Fact]]) -> tuple[Fact, ...]:
    ordered = sorted(found, key=lambda pair: pair[0]) if _slightly_disordered(found) else found
    return tuple([fact for _, fact in ordered])


def _slightly_disordered(found: list[tuple[int, Fact]]) -> bool:
    steps = [later[0] - earlier[0] for earlier, later in pairwise(found)]
    return bool(steps) and -_MAX_DISORDER_MILLIS <= min(steps) < 0


def _by_first_letter() -> dict[str, tuple[tuple[str, Callable[[str, int], ParsedLine]], ...]]:
    letters = {opening[0] for opening, _ in OPENINGS}
    return {letter: tuple(entry for entry in OPENINGS if entry[0][0] == letter) for letter in letters}


_BY_FIRST_LETTER = _by_first_letter()

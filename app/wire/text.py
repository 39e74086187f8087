"""Single values as documents show them: as XML text, which every generated writer and the mechanical
rendering share; teams and times as the interface spells them; external values as far as a document can
represent them, what it cannot represent is left out."""

import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Literal

from app.domain.match import Team
from app.kit.clock import LAST_MILLIS, iso_millis, iso_seconds
from app.kit.metrics import xml_dropped_characters

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SPECIAL = re.compile('[&<>"\t\n\r\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]')
_REFERENCES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
)
_MEMO_ENTRIES = 16_384
_MEMO_LENGTH = 128


def permitted(value: str) -> str:
    """`value` without the characters that XML 1.0 forbids; each one left out is counted."""
    cleaned, dropped = _FORBIDDEN.subn("", value)
    if dropped:
        xml_dropped_characters.inc(dropped)
    return cleaned


def escape(value: str) -> str:
    """`value`, escaped for an attribute or for text; a parser returns it unchanged.

    White space other than the blank becomes a character reference, for parsers turn it into blanks
    in attributes. Forbidden characters are dropped and counted.
    """
    return permitted(value).translate(_REFERENCES) if _SPECIAL.search(value) else value


class _Escaped(dict[str, str]):
    """A cache of escaped text by raw text, for values that recur: names, specifiers, ids.

    A lookup costs a tenth of an escape. Long values are not cached, to bound memory; nor are values that lose
    characters, so that each loss is counted.
    """

    def __missing__(self, value: str) -> str:
        text = escape(value)
        if len(value) <= _MEMO_LENGTH and (text is value or permitted(value) == value):
            if len(self) >= _MEMO_ENTRIES:
                self.clear()
            self[value] = text
        return text


escaped = _Escaped()


def plain(value: Decimal) -> str:
    """`value` with its digits as they are and never an exponent, which xs:decimal does not know."""
    text = str(value)
    return text if "E" not in text else f"{value:f}"


def utc(ms: int) -> str:
    """Unix milliseconds as ``2031-04-02T18:00:00Z``: UTC, whole seconds."""
    return f"{datetime.fromtimestamp(ms // 1000, UTC):%Y-%m-%dT%H:%M:%S}Z"


_URL = re.compile(r"https?://[^\s\x00-\x1f\ud800-\udfff\ufffe\uffff]\S*")
_LARGEST = 2**31 - 1


def web_url(text: str) -> str | None:
    """`text` if it is an absolute HTTP URL, else None."""
    return text if _URL.fullmatch(text) else None


def valid_time(ms: int | None) -> int | None:
    """`ms` (Unix ms) if it lies in the years 1970 to 9999, else None."""
    return ms if ms is not None and 0 <= ms <= LAST_MILLIS else None


def non_negative(value: int) -> int:
    """`value`, limited to what xs:int holds from 0 on."""
    return min(max(value, 0), _LARGEST)


TeamName = Literal["team_a", "team_b"]
_TEAM_NAMES: dict[Team, TeamName] = {"home": "team_a", "away": "team_b"}


def team_name(team: Team | None) -> TeamName | None:
    return _TEAM_NAMES[team] if team else None


def iso_time(at: int | None) -> str | None:
    """Unix ms as ISO 8601 in whole seconds; None stays None."""
    return None if at is None else iso_seconds(at)


def iso_time_millis(at: int | None) -> str | None:
    """The same with milliseconds."""
    return None if at is None else iso_millis(at)

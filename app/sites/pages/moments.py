"""Times as forms send them."""

import re
from datetime import UTC, datetime

from app.kit.errors import Field, Invalid

_MILLIS = re.compile(r"\d{1,15}\Z", re.ASCII)
#: What a control `datetime-local` sends, and the same with a space.
_LOCAL = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,3})?)?\Z", re.ASCII)


def millis(name: str, text: str) -> int | None:
    """A time as Unix ms: a date and a time in UTC (`2031-04-02T18:30:05.250`), or Unix ms; None if it is
    empty. Raises `Invalid`, naming the field."""
    if not text:
        return None
    if _MILLIS.match(text):
        return int(text)
    if _LOCAL.match(text):
        try:
            at = datetime.fromisoformat(text).replace(tzinfo=UTC)
        except ValueError:  # there is no such day, or no such hour
            pass
        else:
            return round(at.timestamp() * 1000)
    what = "Enter a date and a time in UTC, as 2031-04-02T18:30, or Unix milliseconds."
    raise Invalid(Field((name,), what, "moment", text[:100]))


def local(at: int | None) -> str:
    """Unix ms as a control `datetime-local` shows it, in UTC; empty for None."""
    if at is None:
        return ""
    return datetime.fromtimestamp(at / 1000, UTC).replace(tzinfo=None).isoformat(timespec="milliseconds")

"""Which entries of the settlement ledger a page or a file shows: its query parameters."""

from collections.abc import Mapping
from datetime import UTC, datetime
from urllib.parse import urlencode

import msgspec

from app.kit.errors import Field, Invalid
from app.store.settlements import NEWEST, LedgerFilter, LedgerResult

PARAMETERS = ("match", "type", "result", "since", "until")


class LedgerQuery(msgspec.Struct, frozen=True):
    """The parameters as they were sent, the filter that they make but for the match, and the id that the
    page begins below."""

    sent: dict[str, str]
    wanted: LedgerFilter
    before: int

    @property
    def match(self) -> str:
        """How the match is named, empty for all."""
        return self.sent["match"]

    def link(self, path: str, **more: object) -> str:
        """`path` with these parameters and others."""
        given = {name: value for name, value in self.sent.items() if value}
        return f"{path}?{urlencode(given | more)}" if given or more else path


def parse(query: Mapping[str, str]) -> LedgerQuery:
    """The query of a page; raises `Invalid`."""
    sent = {name: query.get(name, "").strip() for name in PARAMETERS}
    wanted = LedgerFilter(
        type_id=_number("type", sent["type"], 2**31 - 1),
        result=_result(sent["result"]),
        since=_time("since", sent["since"]),
        until=_time("until", sent["until"]),
    )
    return LedgerQuery(sent, wanted, _number("before", query.get("before", ""), NEWEST) or NEWEST)


def unfiltered(query: Mapping[str, str]) -> LedgerQuery:
    """What was sent, and a filter of nothing: for the form that shows what was wrong."""
    sent = {name: query.get(name, "").strip()[:100] for name in PARAMETERS}
    return LedgerQuery(sent, LedgerFilter(), NEWEST)


def _number(name: str, value: str, highest: int) -> int | None:
    if not value:
        return None
    if not (value.isascii() and value.isdecimal() and len(value) < 20 and 1 <= int(value) <= highest):
        raise Invalid(Field(("query", name), f"{name}: a whole number from 1.", "whole_number", value[:100]))
    return int(value)


def _result(value: str) -> LedgerResult | None:
    if not value:
        return None
    if value not in set(LedgerResult):
        known = ", ".join(LedgerResult)
        raise Invalid(Field(("query", "result"), f"result: one of {known}.", "choice", value[:100]))
    return LedgerResult(value)


def _time(name: str, value: str) -> int | None:
    """A moment as browsers send it, `2026-11-23T14:30`, in UTC; or with an offset."""
    if not value:
        return None
    try:
        at = datetime.fromisoformat(value)
        return round((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError) as error:
        what = f"{name}: a time as 2026-11-23T14:30, in UTC."
        raise Invalid(Field(("query", name), what, "time", value[:100])) from error

"""The list of matches: buckets by status, each with its own order, in pages.

A cursor holds where a page ended, ``finished.1900000000000.42``: the bucket, when the last match of the page
began (Unix ms), its number. The next page begins after it, whatever was inserted or removed in between.
"""

from collections.abc import Hashable
from datetime import datetime
from typing import Annotated, Any, Literal, NamedTuple

from litestar.params import QueryParameter
from msgspec import UNSET

from app.channels.rest.dependencies import NEXT_CURSOR, Rest, options, unix_millis, visible_sport_events
from app.domain import scopes
from app.domain.match import Match, Status
from app.domain.tenant import Grant
from app.http import response
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get, siblings
from app.http.representation import Format, response_format
from app.http.response import MATCH_LISTS, RenderedResponse
from app.kit.errors import Field, Invalid
from app.store import listings, match_entrants
from app.store.listings import UNKNOWN_START, ListPosition, Window
from app.store.transaction import Tx
from app.wire.fields import Group
from app.wire.views.match import MatchView, basic_view
from app.wire.views.meta import Many, many
from app.wire.xml import sport_events

Filter = Literal["upcoming", "live", "finished", "cancelled"]
_BUCKETS: dict[str, tuple[Status, ...]] = {
    "live": (Status.LIVE,),
    "upcoming": (Status.UPCOMING, Status.DISCOVERED),
    "finished": (Status.FINISHED,),
    "cancelled": (Status.CANCELLED,),
}
_UNFILTERED = ("live", "upcoming", "finished")
_NEWEST_FIRST = ("finished", "cancelled")
_BASIC = frozenset({Group.BASIC})  #: the fields of rows, whatever the key's scopes
_CURSOR = r"^(live|upcoming|finished|cancelled)\.[0-9]{1,19}\.[0-9]{1,18}$"


class Cursor(NamedTuple):
    bucket: str
    place: ListPosition

    @classmethod
    def read(cls, text: str) -> "Cursor":
        bucket, at, number = text.split(".")
        return cls(bucket, ListPosition(min(int(at), UNKNOWN_START), int(number)))

    def __str__(self) -> str:
        return f"{self.bucket}.{self.place.at}.{self.place.number}"


class Found(NamedTuple):
    """A page: its matches, and the cursor of the next one, if there is any."""

    matches: list[Match]
    following: Cursor | None


def _cached_per(grant: Grant, form: Format) -> Hashable:
    return grant.finished_only, grant.tenant.id if form is Format.XML else None


_LISTING: dict[str, Any] = {"sibling": True, "cached_per": _cached_per}


@get(
    siblings("/cs2/v1/matches"),
    opt=options(scopes.LIST) | _LISTING,
)
async def list_matches(
    request: AuthenticatedRequest,
    rest: Rest,
    status: Annotated[Filter | None, QueryParameter(description="Matches in this state only.")] = None,
    limit: Annotated[int, QueryParameter(ge=1, le=200, description="Rows at most.")] = 50,
    cursor: Annotated[
        str | None,
        QueryParameter(pattern=_CURSOR, description=f"{NEXT_CURSOR[:-1]}; `status` must be that page's."),
    ] = None,
    begins_from: Annotated[
        datetime | None,
        QueryParameter(name="from", description="Matches that begin or began then or later; UTC."),
    ] = None,
    begins_to: Annotated[
        datetime | None,
        QueryParameter(name="to", description="Matches that begin or began before then; UTC."),
    ] = None,
) -> RenderedResponse[Many[MatchView]]:
    """Matches in their basic shape: live ones, then upcoming ones, each by when they begin, then finished
    ones, the newest first; or one state only. What was called off or ended without having been played is
    left out. `total` counts all pages; `next_cursor` leads to the next one and is absent on the last. In XML
    both are attributes of the root."""
    buckets: tuple[str, ...] = _UNFILTERED if status is None else (status,)
    if request.auth.finished_only:
        buckets = tuple(one for one in buckets if one == "finished")
    window, place = _window(begins_from, begins_to), Cursor.read(cursor) if cursor else None
    if place and place.bucket not in buckets:
        what = (
            f"This is the cursor of another list: the one requested has no matches that are {place.bucket}."
        )
        raise Invalid(Field(("query", "cursor"), what, "other_list", cursor))
    async with rest.store.snapshot() as tx:
        found = await _page(tx, buckets, window, place, limit)
        total = await listings.total(tx, [one for bucket in buckets for one in _BUCKETS[bucket]], window)
        following = str(found.following) if found.following else None
        if response_format(request.scope) is Format.XML:
            events = await visible_sport_events(tx, request.auth, found.matches, _BASIC)
            schedule = sport_events.schedule(events, total=total, next_cursor=following)
            return response.as_xml(schedule, invalidated_by=MATCH_LISTS)
        logos = await match_entrants.logos_of(tx, found.matches)
    rows = (basic_view(match, logos[match.id]) for match in found.matches)
    listed = many(rows, limit, total, next_cursor=following or UNSET)
    return response.as_json(listed, invalidated_by=MATCH_LISTS)


def _window(first: datetime | None, end: datetime | None) -> Window:
    """Matches without a known start are in no window."""
    if first is None and end is None:
        return Window()
    return Window(unix_millis(first) if first else 0, unix_millis(end) - 1 if end else UNKNOWN_START - 1)


async def _page(tx: Tx, buckets: tuple[str, ...], window: Window, cursor: Cursor | None, limit: int) -> Found:
    """The page after the cursor, whose bucket is one of these. Reads one match more than `limit`, to see
    whether a page follows."""
    rows: list[tuple[str, Match, ListPosition]] = []
    for bucket in buckets[buckets.index(cursor.bucket) :] if cursor else buckets:
        found = await listings.page(
            tx,
            _BUCKETS[bucket],
            limit=limit + 1 - len(rows),
            window=window,
            after=cursor.place if cursor and cursor.bucket == bucket else None,
            newest_first=bucket in _NEWEST_FIRST,
        )
        rows += [(bucket, match, place) for match, place in found]
        if len(rows) > limit:
            break
    shown = rows[:limit]
    following = Cursor(shown[-1][0], shown[-1][2]) if len(rows) > limit else None
    return Found([match for _, match, _ in shown], following)

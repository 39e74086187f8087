"""The self-check of a client's book: the client posts its open markets and receives the differences."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from uuid import UUID

from litestar import post
from litestar.di import NamedDependency
from litestar.params import JSONBody
from msgspec import UNSET, UnsetType

from app.channels.rest.dependencies import RestDependencies
from app.domain import scopes
from app.domain.ids import match_number, match_urn, match_uuid
from app.domain.selfcheck import QuoteDifference, Quotes, differences
from app.domain.tenant import Grant
from app.http.auth import AuthenticatedRequest
from app.kit.errors import Field, Invalid
from app.kit.threads import run_in_thread
from app.store import selfcheck_queries
from app.store.matches import MatchPosition
from app.store.transaction import Tx
from app.wire.views.meta import Single
from app.wire.views.selfcheck import (
    LISTED,
    ClientMatch,
    Digest,
    SelfCheckView,
    difference_view,
    problems,
)
from app.wire.views.selfcheck import quotes as client_quotes

#: The largest book, 50,000 markets of 5,000 matches, is 2.2 MB; with a space after each comma, 2.4 MB.
_BODY_BYTES = 2_621_440
_PAGE = 100  #: matches read at a time: other requests are served between two pages
_SHOWN_PROBLEMS = 20
_CHECK = {"sport": "cs2", "scopes": (scopes.MARKETS,), "concurrency_limited": True}
Named = dict[int | UUID, ClientMatch]  #: the client's matches, by number or id
Compared = tuple[str, UnsetType | bool, QuoteDifference]


@post("/cs2/v1/selfcheck", status_code=200, opt=_CHECK, request_max_body_size=_BODY_BYTES)
async def selfcheck(
    request: AuthenticatedRequest, rest: NamedDependency[RestDependencies], data: JSONBody[Digest]
) -> Single[SelfCheckView]:
    """Compare a digest of the client's open markets with what is on offer to it at this moment.

    Only booked matches count; what the client has open on any other is `extra`. Equal books give count 0.
    """
    named = await run_in_thread(_checked, data)
    async with rest.store.snapshot() as tx:
        places = await _places(tx, request.auth, named, data.complete)
        _refuse_twice(places, named)
        markets, found = await _compared(tx, places, named)
    found += await run_in_thread(_unknown, places, named)
    shown = tuple(difference_view(match, each, behind) for match, behind, each in found[:LISTED])
    kinds = Counter(each.kind.value for _, _, each in found)
    return Single(SelfCheckView(len(places), markets, len(found), dict(kinds), shown))


def _checked(data: Digest) -> Named:
    """The client's matches by number or id; raises `Invalid`."""
    if wrong := list(islice(problems(data), _SHOWN_PROBLEMS)):
        raise Invalid(*wrong)
    return _by_match(data.matches)


def _by_match(sent: Sequence[ClientMatch]) -> Named:
    """The client's matches by number or id; raises `Invalid` for names that are neither, and for one match
    that is named twice."""
    found: Named = {}
    wrong = []
    for place, each in enumerate(sent):
        name = match_number(each.match) or match_uuid(each.match)
        where = ("body", "matches", place, "match")
        if name is None:
            what = "Name a match as od:match:<number>, or by its UUID."
            wrong.append(Field(where, what, "match_id", each.match))
        elif name in found:
            wrong.append(Field(where, "This match is named twice.", "twice", each.match))
        else:
            found[name] = each
    if wrong:
        raise Invalid(*wrong[:_SHOWN_PROBLEMS])
    return found


async def _places(tx: Tx, grant: Grant, named: Named, everything: bool) -> list[MatchPosition]:
    return await selfcheck_queries.positions(
        tx,
        grant.tenant.id,
        finished_only=grant.finished_only,
        numbers=[ref for ref in named if isinstance(ref, int)],
        ids=[ref for ref in named if isinstance(ref, UUID)],
        everything=everything,
    )


def _refuse_twice(places: Sequence[MatchPosition], named: Named) -> None:
    """Raise `Invalid` for a match that is named by number and by id: it would be compared in halves."""
    for place in places:
        if place.number in named and place.id in named:
            what = "This match is named twice, by its number and by its UUID."
            raise Invalid(Field(("body", "matches"), what, "twice", match_urn(place.number)))


async def _compared(tx: Tx, places: Sequence[MatchPosition], named: Named) -> tuple[int, list[Compared]]:
    """How many markets of the service were compared, and the differences."""
    markets, found = 0, list[Compared]()
    for start in range(0, len(places), _PAGE):
        page = places[start : start + _PAGE]
        ours = await selfcheck_queries.open_quotes(tx, [place.id for place in page])
        markets += sum(len(present) for present in ours.values())
        found += await run_in_thread(_of_page, page, named, ours)
    return markets, found


def _of_page(page: Sequence[MatchPosition], named: Named, ours: dict[UUID, Quotes]) -> list[Compared]:
    found: list[Compared] = []
    for place in page:
        sent = named.get(place.number) or named.get(place.id)
        found += _of_match(place, sent, ours.get(place.id, {}))
    return found


def _of_match(place: MatchPosition, sent: ClientMatch | None, ours: Quotes) -> Iterator[Compared]:
    behind: bool | UnsetType = UNSET
    if sent is not None and sent.seq is not None:
        behind = sent.seq < place.seq
    yours = client_quotes(sent) if sent else {}
    return ((match_urn(place.number), behind, each) for each in differences(yours, ours))


def _unknown(places: Sequence[MatchPosition], named: Named) -> list[Compared]:
    """Everything that the client has open on matches that it may not see."""
    known = {ref for place in places for ref in (place.number, place.id)}
    unknown = [sent for ref, sent in named.items() if ref not in known]
    return [(sent.match, UNSET, each) for sent in unknown for each in differences(client_quotes(sent), {})]


HANDLERS = (selfcheck,)

"""The self-check of a client's book: its open markets against what is on offer to it at this moment."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from uuid import UUID

import msgspec
from msgspec import UNSET, UnsetType

from app.domain.ids import match_number, match_urn, match_uuid
from app.domain.selfcheck import QuoteDifference, Quotes, differences
from app.domain.tenant_offer import OfferRules
from app.kit.errors import Field, Invalid
from app.kit.heavy_work import run_in_thread
from app.store import selfcheck_queries, tenants
from app.store.connections import Store
from app.store.matches import MatchPosition
from app.store.transaction import Tx
from app.wire.views.selfcheck import (
    LISTED,
    ClientMarket,
    ClientMatch,
    Digest,
    SelfCheckView,
    difference_view,
    problems,
)
from app.wire.views.selfcheck import quotes as client_quotes

#: The largest book, 50,000 markets of 5,000 matches, is 2.2 MB; with a space after each comma, 2.4 MB.
BODY_BYTES = 2_621_440
_PAGE = 100  #: matches read at a time: other requests are served between two pages
_SHOWN_PROBLEMS = 20
Named = dict[int | UUID, ClientMatch]  #: the client's matches, by number or id
Compared = tuple[str, UnsetType | bool, QuoteDifference]
_encode = msgspec.json.Encoder().encode


async def compare(store: Store, tenant_id: UUID, digest: Digest, *, finished_only: bool) -> SelfCheckView:
    """What differs between a client's digest and the tenant's open markets; raises `Invalid` for a digest
    that contradicts itself.

    Of a match that the tenant has unbooked only what the client has active is `extra`: its last message
    suspended everything. What the client has open on any other match is `extra`. Equal books give count 0.
    """
    named = await run_in_thread(_checked, digest)
    async with store.snapshot() as tx:
        places = await _places(tx, tenant_id, named, finished_only=finished_only, everything=digest.complete)
        _refuse_twice(places, named)
        rules = (await tenants.offer_of(tx, tenant_id)).now
        places = await _with_own_messages(tx, tenant_id, places, named)
        unbooked = await _places(tx, tenant_id, named, finished_only=finished_only, unbooked=True)
        markets, found = await _compared(tx, places, named, rules)
    found += await run_in_thread(_not_on_offer, places, unbooked, named)
    shown = tuple(difference_view(match, each, behind) for match, behind, each in found[:LISTED])
    kinds = Counter(each.kind.value for _, _, each in found)
    return SelfCheckView(len(places), markets, len(found), dict(kinds), shown)


async def expected_digest(store: Store, tenant_id: UUID, *, finished_only: bool) -> bytes:
    """The digest, as JSON, of a client whose book equals the tenant's open markets at this moment."""
    parts: list[bytes] = []
    async with store.snapshot() as tx:
        places = await _places(tx, tenant_id, {}, finished_only=finished_only, everything=True)
        rules = (await tenants.offer_of(tx, tenant_id)).now
        for start in range(0, len(places), _PAGE):
            page = places[start : start + _PAGE]
            ours = await selfcheck_queries.open_quotes(tx, [place.id for place in page], rules)
            parts += await run_in_thread(_digest_of_page, page, ours)
    return b'{"complete":true,"matches":[' + b",".join(parts) + b"]}"


def _digest_of_page(page: Sequence[MatchPosition], ours: dict[UUID, Quotes]) -> list[bytes]:
    return [
        _encode(
            ClientMatch(match_urn(each.number), tuple(map(_client_market, ours[each.id].items())), each.seq)
        )
        for each in page
        if each.id in ours
    ]


def _client_market(quoted: tuple[str, int]) -> ClientMarket:
    """The inverse of `client_quotes`."""
    name, quote = quoted
    type_id, _, specifiers = name.partition(":")
    odds = abs(quote) / 1000 if quote else None
    return ClientMarket(int(type_id), specifiers, 1 if quote > 0 else -1, odds)


def _checked(data: Digest) -> Named:
    """The client's matches by number or id; raises `Invalid`, also for names that are neither, and for one
    match that is named twice."""
    if wrong := list(islice(problems(data), _SHOWN_PROBLEMS)):
        raise Invalid(*wrong)
    found: Named = {}
    for place, each in enumerate(data.matches):
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


async def _places(
    tx: Tx,
    tenant_id: UUID,
    named: Named,
    *,
    finished_only: bool,
    everything: bool = False,
    unbooked: bool = False,
) -> list[MatchPosition]:
    return await selfcheck_queries.positions(
        tx,
        tenant_id,
        finished_only=finished_only,
        numbers=[ref for ref in named if isinstance(ref, int)],
        ids=[ref for ref in named if isinstance(ref, UUID)],
        everything=everything,
        unbooked=unbooked,
    )


def _refuse_twice(places: Sequence[MatchPosition], named: Named) -> None:
    """Raise `Invalid` for a match that is named by number and by id: it would be compared in halves."""
    for place in places:
        if place.number in named and place.id in named:
            what = "This match is named twice, by its number and by its UUID."
            raise Invalid(Field(("body", "matches"), what, "twice", match_urn(place.number)))


async def _with_own_messages(
    tx: Tx, tenant_id: UUID, places: Sequence[MatchPosition], named: Named
) -> list[MatchPosition]:
    """The matches, each with the seq of its newest message to this tenant, which may be the tenant's alone;
    such messages are read for the matches that the client named."""
    ids = [place.id for place in places if place.number in named or place.id in named]
    own = await selfcheck_queries.newest_of_tenant(tx, tenant_id, ids)
    return [msgspec.structs.replace(place, seq=max(place.seq, own.get(place.id, 0))) for place in places]


async def _compared(
    tx: Tx, places: Sequence[MatchPosition], named: Named, rules: OfferRules
) -> tuple[int, list[Compared]]:
    """How many markets of the service were compared, and the differences, by these rules."""
    markets, found = 0, list[Compared]()
    for start in range(0, len(places), _PAGE):
        page = places[start : start + _PAGE]
        ours = await selfcheck_queries.open_quotes(tx, [place.id for place in page], rules)
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


def _not_on_offer(
    places: Sequence[MatchPosition], unbooked: Sequence[MatchPosition], named: Named
) -> list[Compared]:
    """What the client has active on matches that the tenant has unbooked, and everything that it has open on
    matches that it may not see."""
    known = {ref for place in places for ref in (place.number, place.id)}
    suspended = {ref for place in unbooked for ref in (place.number, place.id)}
    found: list[Compared] = []
    for ref, sent in named.items():
        if ref in known:
            continue
        yours = client_quotes(sent)
        if ref in suspended:
            yours = {market: quote for market, quote in yours.items() if quote > 0}
        found += ((sent.match, UNSET, each) for each in differences(yours, {}))
    return found

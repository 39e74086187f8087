"""The envelopes of the change log, newest first, as they were published to the tenant; without a vhost there
are none."""

from typing import Annotated
from urllib.parse import urlencode
from uuid import UUID

import msgspec
from litestar import Response
from litestar.params import FromPath, FromQuery, QueryParameter

from app.amqp.envelope import MATCH_MESSAGES, Envelope
from app.amqp.frames import AmqpMessage
from app.domain import catalogue
from app.domain.ids import match_urn
from app.domain.tenant import Tenant
from app.http.handlers import get
from app.kit.errors import Field, Invalid, NotFound, Refusal
from app.sites.pages.forms import parsed_moment, position
from app.sites.pages.rendering import download_headers, page
from app.sites.pages.sessions import SignedInRequest
from app.sites.portal.dependencies import Portal
from app.store import envelopes as stored
from app.store import listings, matches, tenants
from app.store.envelopes import LAST, EnvelopePage, EnvelopeSearch, Neighbours
from app.store.listings import MatchName
from app.store.transaction import Tx

_PATH = "/portal/envelopes"
_ROWS = 50
_FIELDS = ("match", "message", "type", "from", "to")
_SHOWN_CHARACTERS = 20_000  #: of a body; more is a link


class EnvelopeView(msgspec.Struct, frozen=True):
    """An envelope as the tenant receives it. `body` is as much of it as the page shows, `whole` whether that
    is all. `rendered`: it could be published at all. `match` has the teams, or the URN of a match that was
    deleted."""

    seq: int
    urn: str
    match: str
    name: str
    message: AmqpMessage
    body: str
    whole: bool
    rendered: bool
    neighbours: Neighbours


@get("/envelopes", opt={"query": (*_FIELDS, "before")})
async def envelopes(
    request: SignedInRequest,
    portal: Portal,
    match: FromQuery[str] = "",
    message: FromQuery[str] = "",
    market_type: Annotated[str, QueryParameter(name="type")] = "",
    first: Annotated[str, QueryParameter(name="from")] = "",
    last: Annotated[str, QueryParameter(name="to")] = "",
    before: FromQuery[str] = "",
) -> Response[str]:
    """A page of envelopes; the search is repeated in the link to the next one."""
    fields = dict(zip(_FIELDS, (match.strip(), message, market_type, first, last), strict=True))
    tenant = request.auth.tenant
    refusal: Refusal | None = None
    found = EnvelopePage((), None)
    async with portal.store.autocommit() as tx:
        oldest = await stored.oldest_at(tx)
        try:
            search, start = await _search(tx, tenant, fields), position(before)
            if tenant.amqp:
                found = await stored.page(tx, tenant, search, start, limit=_ROWS)
        except (Invalid, NotFound) as error:
            refusal = error
    following = {name: value for name, value in fields.items() if value} | {"before": found.before}
    return page(
        request,
        "envelopes.html",
        refusal,
        fields=fields,
        found=found,
        next=f"{_PATH}?{urlencode(following)}" if found.before else "",
        oldest=oldest,
        names=sorted(MATCH_MESSAGES),
        types=catalogue.load().markets,
        urn=match_urn,
    )


@get("/envelopes/{seq:int}", opt={"query": ()})
async def envelope(request: SignedInRequest, portal: Portal, seq: FromPath[int]) -> Response[str]:
    """One envelope: its body, headers and routing key."""
    found, number, match, neighbours = await _envelope(portal, request.auth.tenant, seq)
    published = _published(found, request.auth.tenant)
    body = published.body.decode()
    view = EnvelopeView(
        seq=found.seq,
        urn=match_urn(number),
        match=f"{match.home} – {match.away}" if match else match_urn(number),
        name=found.name,
        message=published,
        body=body[:_SHOWN_CHARACTERS],
        whole=len(body) <= _SHOWN_CHARACTERS,
        rendered=bool(found.frames),
        neighbours=neighbours,
    )
    return page(request, "envelope.html", envelope=view)


@get("/envelopes/{seq:int}/body", opt={"query": ()})
async def envelope_body(request: SignedInRequest, portal: Portal, seq: FromPath[int]) -> Response[bytes]:
    """The body alone, byte for byte, to be saved: browsers would show it as a document of this site."""
    found, *_ = await _envelope(portal, request.auth.tenant, seq)
    body = _published(found, request.auth.tenant).body
    headers = download_headers(f"envelope-{found.seq}.xml")
    return Response(body, media_type="application/xml", headers=headers)


async def _envelope(
    portal: Portal, tenant: Tenant, seq: int
) -> tuple[Envelope, int, MatchName | None, Neighbours]:
    """The envelope, its match's number and name, and those around it. Raises `NotFound`."""
    async with portal.store.autocommit() as tx:
        rows = await stored.rows(tx, tenant.id, seq) if tenant.amqp and 0 < seq <= LAST else []
        if not rows:
            what = f"The change log has no envelope {seq} for you (any more)."
            raise NotFound(what, code="no_envelope", seq=seq)
        neighbours = await stored.neighbours(tx, tenant.id, rows)
        number = rows[-1].number
        names = await listings.names_by_number(tx, [number])
    [found] = portal.renderer.envelopes(rows)
    return found, number, names.get(number), neighbours


def _published(found: Envelope, tenant: Tenant) -> AmqpMessage:
    """The message as this tenant receives it."""
    return found.rendered_for(tenant.offer, probabilities=tenant.probabilities)[0]


async def _search(tx: Tx, tenant: Tenant, fields: dict[str, str]) -> EnvelopeSearch:
    """The search that the fields describe. Raises `Invalid`, and `NotFound` for a match that the tenant does
    not have."""
    name, kind = fields["message"], fields["type"]
    if name and name not in MATCH_MESSAGES:
        raise Invalid(Field(("message",), "Choose one of the messages.", "choice", name[:100]))
    types = {str(each.id): each.id for each in catalogue.load().markets}
    if kind and kind not in types:
        raise Invalid(Field(("type",), "Choose one of the market types.", "choice", kind[:100]))
    first, last = parsed_moment("from", fields["from"]), parsed_moment("to", fields["to"])
    return EnvelopeSearch(
        match_id=await _match_id(tx, tenant, fields["match"]),
        name=name or None,
        type_id=types.get(kind),
        first=first,
        last=last,
    )


async def _match_id(tx: Tx, tenant: Tenant, ref: str) -> UUID | None:
    if not ref:
        return None
    match = await matches.by_ref(tx, ref)
    booked = await tenants.booked(tx, tenant.id, [match.id])
    if not tenant.amqp or not (booked or await stored.has_any(tx, tenant.id, match.id)):
        raise NotFound(f"There is no match {ref!r}.", code="no_match", match=ref)
    return match.id

"""Claims that a result is wrong: make one about a market that has a result, see what becomes of each,
withdraw one."""

from secrets import token_hex
from typing import Any
from uuid import UUID

import msgspec
from litestar import Response, post
from litestar.params import FromPath, FromQuery

from app.access.reach import match_within, reach_of
from app.claims import steps
from app.claims.request import WantedClaim
from app.domain import scopes
from app.domain.claims import MAX_EVIDENCE, MAX_REASON, Claim, result_of
from app.domain.ids import match_urn
from app.domain.market import MarketKey, Result, key_of_name, market_name
from app.domain.match import Match
from app.http.handlers import get
from app.kit.errors import Conflict, Field, Invalid, NotFound, Refusal
from app.sites.pages.forms import Form
from app.sites.pages.market_names import names_of
from app.sites.pages.rendering import page, redirect, texts_for
from app.sites.pages.sessions import SignedInRequest
from app.sites.pages.settlements import evidence
from app.sites.portal.dependencies import Portal
from app.sites.portal.site import Permission, claim_path, market_path
from app.store import audit, listings
from app.store.claims import ClaimFilter, Place
from app.store.settlements import MatchEntry
from app.store.transaction import Tx

_PATH = "/portal/claims"
_ROWS = 50
_STEPS = 20  #: of a claim that are shown; it has fewer
_MAY_CLAIM: dict[str, Any] = {"permission": Permission.CLAIMS}
_MARKET = {"query": ("match", "market")}


class _Step(msgspec.Struct, frozen=True):
    """A step of a claim, by whom: a person or a key of the tenant; "": an operator."""

    at: int
    name: str
    by: str


@get("/claims", opt={"query": ("done", "before")})
async def claims(request: SignedInRequest, portal: Portal, before: FromQuery[str] = "") -> Response[str]:
    """The tenant's claims, newest first."""
    tenant = request.auth.tenant
    wanted = ClaimFilter(tenant_id=tenant.id)
    found, following = await portal.claims.page(wanted, _ROWS, _place(before))
    async with portal.store.autocommit() as tx:
        names = await names_of(tx, texts_for(request), (each.key for each in found))
        teams = await listings.names_by_id(tx, {each.match_id for each in found})
    rows = [
        {
            "claim": each,
            "match": teams.get(each.match_id),
            "market": names.name(each.key, *_teams(teams.get(each.match_id))),
            "path": claim_path(each.id),
            "late": each.late(portal.clock()),
        }
        for each in found
    ]
    older = ".".join(map(str, following)) if following else ""
    return page(request, "claims.html", rows=rows, older=older)


@get("/claims/new", opt=_MARKET | _MAY_CLAIM)
async def new_claim(
    request: SignedInRequest, portal: Portal, match: FromQuery[str] = "", market: FromQuery[str] = ""
) -> Response[str]:
    """The form of a claim about a market, beside its result and what that rests on."""
    return await _form_page(request, portal, match, market, {})


@post("/claims", opt=_MAY_CLAIM)
async def make_claim(request: SignedInRequest, portal: Portal) -> Response[Any]:
    """Claim that the result of a market is wrong. The form carries an id: sent twice, it makes one claim."""
    form, signed_in = Form(await request.form()), request.auth
    ref, name = form.text("match", longest=60), form.text("market", longest=220)
    fields: dict[str, str] = {}
    try:
        fields = {
            "reason": form.text("reason", longest=MAX_REASON),
            "evidence": form.text("evidence", longest=MAX_EVIDENCE),
            "expected": form.choice("expected", list(Result)),
            "request_id": form.text("request_id", longest=64),
        }
        if not fields["reason"]:
            raise Invalid(Field(("reason",), "Say why the result is wrong.", "claim_reason"))
        wanted = WantedClaim(
            key=_key(ref, name),
            expected=Result(fields["expected"]),
            reason=fields["reason"],
            evidence=fields["evidence"],
            request_id=fields["request_id"] or None,
        )

        async def find_match(tx: Tx) -> Match:
            reach = await reach_of(tx, signed_in.tenant, scopes.SETTLEMENTS)
            return await match_within(tx, signed_in.tenant.id, reach, ref)

        made = await portal.claims.make(signed_in.tenant, find_match, wanted, by=signed_in.actor)
    except (Invalid, Conflict) as refusal:
        return await _form_page(request, portal, ref, name, fields, refusal)
    return redirect(claim_path(made.id), "claim_made")


@get("/claims/{claim_id:uuid}", opt={"query": ("done",)})
async def claim(request: SignedInRequest, portal: Portal, claim_id: FromPath[UUID]) -> Response[str]:
    """A claim with its answer and its steps."""
    found = await portal.claims.get(request.auth.tenant, claim_id)
    return await _claim_page(request, portal, found)


@post("/claims/{claim_id:uuid}/withdraw", opt=_MAY_CLAIM)
async def withdraw_claim(request: SignedInRequest, portal: Portal, claim_id: FromPath[UUID]) -> Response[Any]:
    """Withdraw an open claim."""
    tenant = request.auth.tenant
    try:
        after = await portal.claims.withdraw(tenant, claim_id, by=request.auth.actor)
    except Conflict as refusal:
        return await _claim_page(request, portal, await portal.claims.get(tenant, claim_id), refusal)
    return redirect(claim_path(after.id), "claim_withdrawn")


async def _claim_page(
    request: SignedInRequest, portal: Portal, found: Claim, refusal: Refusal | None = None
) -> Response[str]:
    async with portal.store.autocommit() as tx:
        names = await names_of(tx, texts_for(request), [found.key])
        teams = (await listings.names_by_id(tx, {found.match_id})).get(found.match_id)
        records = await audit.about(tx, str(found.id), limit=_STEPS)
    own = (f"key:{found.tenant}/", "user ")
    done = [
        _Step(each.at, each.action.partition(".")[2], each.actor if each.actor.startswith(own) else "")
        for each in reversed(records)
    ]
    return page(
        request,
        "claim.html",
        refusal,
        claim=found,
        match=teams,
        market=names.name(found.key, *_teams(teams)),
        market_path=market_path(found.number, found.key),
        urn=match_urn(found.number),
        steps=done,
        late=found.late(portal.clock()),
    )


async def _form_page(
    request: SignedInRequest,
    portal: Portal,
    ref: str,
    name: str,
    fields: dict[str, str],
    refusal: Refusal | None = None,
) -> Response[str]:
    """The form; after a `refusal`, which it shows, with what was filled in."""
    tenant, texts, key = request.auth.tenant, texts_for(request), _key(ref, name)
    async with portal.store.snapshot() as tx:
        reach = await reach_of(tx, tenant, scopes.SETTLEMENTS)
        match = await match_within(tx, tenant.id, reach, ref)
        entry = await steps.present_result(tx, match.id, *key, tenant.types_off)
        values: dict[str, Any] = {"entry": entry, "result": None}
        if entry is not None:
            about = MatchEntry(match.id, match.number, match.home, match.away, entry)
            values |= await evidence(tx, texts, about, match, market_path, tenant.types_off)
            values["result"] = result_of(entry)
        names = await names_of(tx, texts, [key])
    return page(
        request,
        "new_claim.html",
        refusal,
        fields={"reason": "", "evidence": "", "expected": "", "request_id": f"portal:{token_hex(12)}"}
        | fields,
        results=[each for each in Result if each is not values["result"]],
        of_match=match,
        urn=match_urn(match.number),
        market=names.name(key, match.home, match.away),
        market_name=market_name(*key),
        market_path=market_path(match.number, key),
        longest={"reason": MAX_REASON, "evidence": MAX_EVIDENCE},
        **values,
    )


def _key(ref: str, name: str) -> MarketKey:
    key = key_of_name(name)
    if key is None:
        raise NotFound(f"There is no market {name!r}.", code="no_market", match=ref, market=name[:100])
    return key


def _teams(found: Any) -> tuple[str, str]:
    return (found.home, found.away) if found else ("home", "away")


def _place(before: str) -> Place | None:
    """Where a page begins, as its address has it."""
    if not before:
        return None
    at, _, claim_id = before.partition(".")
    try:
        if at.isascii() and at.isdigit() and len(at) < 19:
            return int(at), UUID(claim_id)
    except ValueError:
        pass
    raise Invalid(Field(("before",), "Follow the links of this page.", "position", before[:100]))

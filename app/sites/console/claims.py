"""Claims of tenants that results are wrong: what they say beside what the result rests on; take one, answer
it. To uphold one is a command on its match, with preview and consent as every other one (`commands`).
"""

from collections.abc import Callable, Coroutine
from typing import Any
from uuid import UUID

from litestar import Response, post
from litestar.params import FromPath, FromQuery

from app.claims import answer, steps
from app.domain.claims import Claim
from app.domain.ids import match_urn
from app.domain.market import Result
from app.http.handlers import get
from app.kit.errors import Conflict, Field, Invalid, Refusal
from app.sites.console.command_forms import FORMS, CommandForm
from app.sites.console.site import Console, Permission, claim_path, consent_path, market_path, match_path
from app.sites.pages.forms import Form
from app.sites.pages.market_names import names_of
from app.sites.pages.rendering import page, redirect, texts_for
from app.sites.pages.sessions import SignedInRequest
from app.sites.pages.settlements import evidence
from app.store import audit, claims, listings, matches
from app.store.claims import ClaimFilter
from app.store.settlements import MatchEntry

_ROWS = 200
_STEPS = 20  #: of a claim that are shown; it has fewer
_LONGEST = 500  #: characters of an answer
_MAY_DECIDE: dict[str, Any] = {"permission": Permission.SETTLE}


@get("/claims")
async def list_claims(request: SignedInRequest, console: Console) -> Response[str]:
    """Undecided claims, the one that is due first on top; then the newest decided ones."""
    async with console.store.snapshot() as tx:
        waiting = await claims.page(tx, ClaimFilter(undecided=True), limit=_ROWS)
        decided = await claims.page(tx, ClaimFilter(undecided=False), limit=_ROWS)
        found = [*sorted(waiting, key=lambda each: each.deadline_at), *decided]
        teams = await listings.names_by_id(tx, {each.match_id for each in found})
        names = await names_of(tx, texts_for(request), (each.key for each in found))
    rows = [
        {
            "claim": each,
            "match": (match := teams.get(each.match_id)),
            "market": names.name(each.key, match.home, match.away) if match else each.market,
            "path": claim_path(each.id),
            "late": each.late(console.clock()),
        }
        for each in found
    ]
    return page(request, "claims.html", rows=rows)


@get("/claims/{claim_id:uuid}", opt={"query": ("done",)})
async def show_claim(
    request: SignedInRequest, console: Console, claim_id: FromPath[UUID], done: FromQuery[str] = ""
) -> Response[str]:
    """A claim, the settlement that it contests with the kills and rounds that this rests on, its steps, and
    what this operator may do."""
    return await _claim_page(request, console, claim_id)


@post("/claims/{claim_id:uuid}/take", opt=_MAY_DECIDE)
async def take_claim(request: SignedInRequest, console: Console, claim_id: FromPath[UUID]) -> Response[Any]:
    """Take a claim, instead of who has it where the page showed that."""
    form, by = Form(await request.form()), request.auth.actor
    other, now = form.text("instead_of", longest=400), console.clock()

    async def take() -> Claim:
        return await answer.take(console.store, claim_id, by=by, now=now, instead_of=other)

    return await _done(request, console, claim_id, take, "claim_taken")


@post("/claims/{claim_id:uuid}/answer", opt=_MAY_DECIDE)
async def answer_claim(request: SignedInRequest, console: Console, claim_id: FromPath[UUID]) -> Response[Any]:
    """Answer a claim: the result stands."""
    form, by = Form(await request.form()), request.auth.actor

    async def give() -> Claim:
        text = form.text("answer", longest=_LONGEST)
        if not text:
            raise Invalid(Field(("answer",), "Say why the result stands.", "claim_answer"))
        return await answer.answer(console.store, claim_id, text, by=by, now=console.clock())

    return await _done(request, console, claim_id, give, "claim_answered")


async def _done(
    request: SignedInRequest,
    console: Console,
    claim_id: UUID,
    step: Callable[[], Coroutine[Any, Any, Claim]],
    done: str,
) -> Response[Any]:
    """The page after a step, or with why it was refused."""
    try:
        await step()
    except (Conflict, Invalid) as refusal:
        return await _claim_page(request, console, claim_id, refusal)
    await console.show_changes(None)
    return redirect(claim_path(claim_id), done)


async def _claim_page(
    request: SignedInRequest, console: Console, claim_id: UUID, refusal: Refusal | None = None
) -> Response[str]:
    texts = texts_for(request)
    async with console.store.snapshot() as tx:
        shown = await steps.show(tx, claim_id)
        claim = shown.claim
        match = await matches.by_ref(tx, str(claim.match_id))
        entry = next((each for each in shown.ledger if each.id == claim.entry_id), shown.ledger[-1])
        about = MatchEntry(match.id, match.number, match.home, match.away, entry)
        values = await evidence(tx, texts, about, match, market_path)
        names = await names_of(tx, texts, [claim.key])
        records = await audit.about(tx, str(claim_id), limit=_STEPS)
    return page(
        request,
        "claim.html",
        refusal,
        **values,
        claim=claim,
        late=claim.late(console.clock()),
        outdated=shown.outdated,
        market=names.name(claim.key, match.home, match.away),
        market_path=market_path(match.number, claim.key),
        match_page=match_path(match.number),
        urn=match_urn(match.number),
        own_path=claim_path(claim_id),
        consent=consent_path(claim.consent_id) if claim.consent_id is not None else "",
        steps=list(reversed(records)),
        uphold=_uphold(claim),
        fields={
            "claim": str(claim.id),
            "market_id": str(claim.type_id),
            "specifiers": claim.specifiers,
        },
    )


def _uphold(claim: Claim) -> CommandForm:
    """The form of the command, with the results that it may give, what the tenant expects first."""
    others = [each.value for each in Result if each is not claim.result]
    results = sorted(others, key=lambda each: each != claim.expected)
    form = FORMS["uphold_claim"]
    fields = tuple(
        field._replace(choices=tuple(results)) if field.name == "result" else field for field in form.fields
    )
    return form._replace(fields=fields)

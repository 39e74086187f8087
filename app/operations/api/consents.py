"""Commands that wait for the consent of a second person, under /ops/v1/consents."""

from typing import Annotated, Any

import msgspec
from litestar import post
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter
from msgspec import Meta

from app.commands import consent
from app.commands.match_commands import Words
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.operations.api.consent_view import ConsentView, consent_view
from app.operations.api.dependencies import OperatorDependencies
from app.operations.api.preview_view import PreviewView, preview_view
from app.operations.api.shared import MATCH, OPERATOR, many, wrong_match
from app.store import consent_requests, matches
from app.wire.views.meta import Many, Single

_CONSENT = "/ops/v1/consents/{consent_id:int}"
_LISTED: dict[str, Any] = OPERATOR | {"query": ("match", "limit"), "query_rule": wrong_match}


class PreviewedConsent(msgspec.Struct, frozen=True):
    """A request for consent, and while it waits what its command would do now (`preview`), or why the match
    does not allow it any more (`obstacle`)."""

    consent: ConsentView
    preview: PreviewView | None
    obstacle: str | None


class Consent(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="decision", tag="consent"):
    """`fingerprint` is that of the preview that was seen: what has another effect now is not executed."""

    fingerprint: Annotated[str, Meta(min_length=1, max_length=64)]


class Refusal(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="decision", tag="refuse"):
    """Whoever sent the command withdraws it. `reason` is recorded."""

    reason: Words = ""


@get("/ops/v1/consents", opt=_LISTED)
async def show_consents(
    ops: NamedDependency[OperatorDependencies],
    match: FromQuery[str | None] = None,
    limit: Annotated[int, QueryParameter(ge=1, le=1000)] = 100,
) -> Many[ConsentView]:
    """Requests for the consent of a second person, newest first: those that wait, and those before them."""
    async with ops.store.autocommit() as tx:
        about = None if match is None else await matches.by_ref(tx, match, parameter=MATCH)
        found = await consent_requests.listing(tx, match_id=about.id if about else None, limit=limit)
    now = ops.clock()
    return many([consent_view(one, now) for one in found])


@get(f"{_CONSENT}/preview", opt=OPERATOR)
async def preview_consent(
    ops: NamedDependency[OperatorDependencies], consent_id: FromPath[int]
) -> Single[PreviewedConsent]:
    """A request, and while it waits what its command would do now."""
    now = ops.clock()
    shown = await consent.show(ops.store, consent_id, now=now, pricing=ops.pricing)
    preview = preview_view(shown.preview) if shown.preview else None
    obstacle = shown.obstacle.detail if shown.obstacle else None
    return Single(PreviewedConsent(consent_view(shown.request, now), preview, obstacle))


@post(f"{_CONSENT}/decision", opt=OPERATOR, status_code=200)
async def decide(
    request: AuthenticatedRequest,
    ops: NamedDependency[OperatorDependencies],
    consent_id: FromPath[int],
    data: JSONBody[Consent | Refusal],
) -> Single[ConsentView]:
    """Consent to a command that another person sent, which is executed then; or refuse, and it never is."""
    now = ops.clock()
    caller: dict[str, Any] = {"by": request.auth.actor, "person": request.auth.owner, "now": now}
    if isinstance(data, Consent):
        found = await consent.give(ops.store, consent_id, data.fingerprint, pricing=ops.pricing, **caller)
    else:
        found = await consent.refuse(ops.store, consent_id, data.reason, **caller)
    return Single(consent_view(found, now))


HANDLERS = (show_consents, preview_consent, decide)

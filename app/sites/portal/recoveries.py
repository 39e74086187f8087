"""Recoveries: request one, watch its progress, see what was recovered before."""

from typing import Any, NamedTuple

from litestar import Response, post
from litestar.params import FromPath, FromQuery

from app.domain.ids import match_urn
from app.domain.recovery import RecoveryJob, RecoveryKind, RecoveryState
from app.http.handlers import get
from app.kit.errors import Field, Invalid, NotFound, Refusal
from app.recovery.request import RecoveryParameters
from app.sites.pages.forms import NEWEST, Form, local_moment, parsed_moment, position
from app.sites.pages.rendering import page, redirect
from app.sites.pages.sessions import SignedInRequest
from app.sites.portal.dependencies import Portal
from app.sites.portal.site import Permission
from app.store import recovery_jobs
from app.store.recovery_jobs import ListedRecovery

_PATH = "/portal/recoveries"
_ROWS = 50
_MAY_RECOVER: dict[str, Any] = {"permission": Permission.RECOVERY}


class _Choice(NamedTuple):
    """What may be recovered: the kind of request, whether it has a time, whether it names a match."""

    kind: RecoveryKind
    since: bool
    of_match: bool


#: The facade's full request, because it replays most.
CHOICES = {
    "full": _Choice(RecoveryKind.FACADE_FULL, since=False, of_match=False),
    "since": _Choice(RecoveryKind.FACADE_FULL, since=True, of_match=False),
    "odds": _Choice(RecoveryKind.EVENT_ODDS, since=False, of_match=True),
    "results": _Choice(RecoveryKind.EVENT_STATEFUL, since=False, of_match=True),
}


@get("/recoveries", opt={"query": ("done", "before", "since", "match")})
async def recoveries(
    request: SignedInRequest,
    portal: Portal,
    before: FromQuery[str] = "",
    since: FromQuery[str] = "",
    match: FromQuery[str] = "",
) -> Response[str]:
    """The form, filled in with a time or a match, and the tenant's recoveries, newest first."""
    chosen = "since" if since else "odds" if match else "full"
    at = parsed_moment("since", since)
    fields = {"what": chosen, "since": local_moment(at), "match": match, "node_id": ""}
    return await _recoveries_page(request, portal, fields, before=position(before))


@post("/recoveries", opt=_MAY_RECOVER)
async def request_recovery(request: SignedInRequest, portal: Portal) -> Response[Any]:
    """Request a recovery, as the API does; the request id is generated."""
    form = Form(await request.form())
    fields: dict[str, str] = {}
    try:
        fields = {name: form.text(name, longest=100) for name in ("what", "since", "match", "node_id")}
        job = await _accepted(request, portal, form.choice("what", CHOICES), fields)
    except Refusal as refusal:
        return await _recoveries_page(request, portal, fields, refusal)
    return redirect(f"{_PATH}/{job.id}", "recovery_requested")


@get("/recoveries/{job_id:int}")
async def recovery(request: SignedInRequest, portal: Portal, job_id: FromPath[int]) -> Response[str]:
    """One recovery and its progress."""
    found = await _recovery(request, portal, job_id)
    return page(request, "recovery.html", listed=found, open=_is_open(found.job), urn=match_urn)


@get("/recoveries/{job_id:int}/progress", opt={"query": ()})
async def recovery_progress(request: SignedInRequest, portal: Portal, job_id: FromPath[int]) -> Response[str]:
    """The part of that page that moves, until the recovery has ended."""
    found = await _recovery(request, portal, job_id)
    return page(request, "recovery_progress.html", listed=found, open=_is_open(found.job), urn=match_urn)


async def _accepted(
    request: SignedInRequest, portal: Portal, what: str, fields: dict[str, str]
) -> RecoveryJob:
    choice, ref = CHOICES[what], fields["match"]
    if choice.of_match and not ref:
        raise Invalid(Field(("match",), "Name the match.", "match_needed"))
    if ref and not choice.of_match:
        what = "All matches are recovered; leave the match empty, or recover it alone."
        raise Invalid(Field(("match",), what, "match_unused"))
    after = None if choice.of_match else "0"
    if choice.since:
        at = parsed_moment("since", fields["since"])
        if at is None:
            raise Invalid(Field(("since",), "Enter the time from which on to recover.", "since_needed"))
        after = str(at)
    parameters = RecoveryParameters(after, str(portal.clock()), fields["node_id"] or None)
    signed_in = request.auth
    return await portal.recoveries.accept(
        signed_in.tenant, choice.kind, parameters, ref or None, by=signed_in.actor
    )


async def _recovery(request: SignedInRequest, portal: Portal, job_id: int) -> ListedRecovery:
    """The tenant's recovery of that number; raises `NotFound`."""
    async with portal.store.autocommit() as tx:
        tenant_id = request.auth.tenant.id
        found = await recovery_jobs.by_id(tx, tenant_id, job_id) if 0 < job_id < NEWEST else None
    if found is None:
        raise NotFound(f"There is no recovery {job_id}.", code="no_recovery", recovery=job_id)
    return found


async def _recoveries_page(
    request: SignedInRequest,
    portal: Portal,
    fields: dict[str, str],
    refusal: Refusal | None = None,
    *,
    before: int = NEWEST,
) -> Response[str]:
    async with portal.store.autocommit() as tx:
        found = await recovery_jobs.listing(tx, request.auth.tenant.id, before, _ROWS + 1)
    shown = found[:_ROWS]
    return page(
        request,
        "recoveries.html",
        refusal,
        fields={"what": "full", "since": "", "match": "", "node_id": ""} | fields,
        choices=tuple(CHOICES),
        rows=shown,
        before=shown[-1].job.id if len(found) > _ROWS else None,
        urn=match_urn,
    )


def _is_open(job: RecoveryJob) -> bool:
    return job.state in (RecoveryState.SCHEDULED, RecoveryState.RUNNING)

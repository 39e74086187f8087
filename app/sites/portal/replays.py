"""Replays: choose matches that are over, have them published once more, watch and stop that."""

from typing import Any

from litestar import Response, post
from litestar.params import FromQuery

from app.domain.ids import match_urn
from app.domain.replay import MAX_LISTED, ReplayOptions
from app.http.handlers import get
from app.kit.errors import Field, Invalid, Refusal
from app.sites.pages.forms import Form
from app.sites.pages.rendering import page, redirect
from app.sites.pages.sessions import SignedInRequest
from app.sites.portal.dependencies import Portal
from app.sites.portal.site import Permission
from app.store import tenants

_PATH = "/portal/replays"
_ROWS, _HISTORY = 25, 20
_PACES = {"1": 1.0, "2": 2.0, "10": 10.0, "50": 50.0, "fastest": 1.0}
_LONGEST_SECONDS = 3_600
_MAY_REPLAY: dict[str, Any] = {"permission": Permission.RECOVERY}


@get("/replays", opt={"query": ("done", "before")})
async def replays(request: SignedInRequest, portal: Portal, before: FromQuery[str] = "") -> Response[str]:
    """The matches that can be replayed, the form that starts it, and the replays of the last week."""
    return await _replays_page(request, portal, {}, before=before)


@get("/replays/running", opt={"query": ()})
async def running_replays(request: SignedInRequest, portal: Portal) -> Response[str]:
    """The part of that page that moves while a replay runs."""
    found = await portal.replays.latest(request.auth.tenant, _HISTORY)
    return page(request, "replays_running.html", jobs=found, open=any(job.open for job in found))


@post("/replays", opt=_MAY_REPLAY)
async def start_replay(request: SignedInRequest, portal: Portal) -> Response[Any]:
    """Replay the chosen matches, one after the other."""
    form = Form(await request.form())
    fields: dict[str, str] = {}
    signed_in = request.auth
    try:
        fields = {name: form.text(name, longest=100) for name in ("pace", "pause", "node_id")}
        chosen = form.many("match")[:MAX_LISTED]
        if not chosen:
            raise Invalid(Field(("match",), "Choose a match at least.", "no_match_chosen"))
        pace = form.choice("pace", _PACES)
        delay = 0 if pace == "fastest" else 1000 * form.number("pause", 1, _LONGEST_SECONDS)
        options = ReplayOptions(_PACES[pace], delay, rewrite_timestamps=form.has("rewrite"))
        await portal.replays.play(
            signed_in.tenant, fields["node_id"] or None, options, by=signed_in.actor, refs=chosen
        )
    except Refusal as refusal:
        return await _replays_page(request, portal, fields, refusal)
    return redirect(_PATH, "replay_started")


@post("/replays/stop", opt=_MAY_REPLAY)
async def stop_replay(request: SignedInRequest, portal: Portal) -> Response[Any]:
    """Stop the replay of a node."""
    form = Form(await request.form())
    try:
        await portal.replays.stop(request.auth.tenant, form.text("node_id", longest=64) or None)
    except Refusal as refusal:
        return await _replays_page(request, portal, {}, refusal)
    return redirect(_PATH, "replay_stopped")


async def _replays_page(
    request: SignedInRequest,
    portal: Portal,
    fields: dict[str, str],
    refusal: Refusal | None = None,
    *,
    before: str = "",
) -> Response[str]:
    tenant = request.auth.tenant
    async with portal.store.autocommit() as tx:
        present = await tenants.get(tx, tenant.id)
    found = await portal.replays.replayable(tenant, _ROWS, _place(before), finished_only=False)
    jobs = await portal.replays.latest(tenant, _HISTORY)
    return page(
        request,
        "replays.html",
        refusal,
        fields={"pace": "10", "pause": "10", "node_id": ""} | fields,
        paces=tuple(_PACES),
        published=present is not None and present.amqp,
        rows=found.rows,
        before=".".join(map(str, found.following)) if found.following else None,
        jobs=jobs,
        open=any(job.open for job in jobs),
        urn=match_urn,
    )


def _place(before: str) -> tuple[int, int] | None:
    """Where a page of matches begins, as its address has it."""
    if not before:
        return None
    at, _, number = before.partition(".")
    if not all(part.isascii() and part.isdigit() and len(part) < 19 for part in (at, number)):
        raise Invalid(Field(("before",), "Follow the links of this page.", "position", before[:100]))
    return int(at), int(number)

"""What comes in over HTTP under /ops/v1: server logs, and operators' commands."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID, uuid4

import msgspec
from litestar import MediaType, Request, Response, get, post, put
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, QueryParameter
from msgspec import Meta
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from app.access import admin
from app.domain.match import Match
from app.http.auth import Caller, address_of
from app.ingest import operator, operator_routes, tokens
from app.ingest.batch import Batch, told_range
from app.ingest.commands import Cancel, Number, Overtime, Rounds, Strength
from app.ingest.intake import Intake
from app.kit.errors import Field, Forbidden, Invalid
from app.store import audit, matches
from app.wire.views.match import MatchView, basic_view
from app.wire.views.meta import Single

_OPERATOR: dict[str, Any] = {"operator": True}
_LOG: dict[str, Any] = {"open": True, "query": ("token",), "takes": "text/plain"}
_METRICS: dict[str, Any] = {"operator": True, "format": CONTENT_TYPE_LATEST}
_INSTANCE, _UNIQUE = "x-server-instance-token", "x-server-unique-token"
_ADDRESS, _MAP = "x-server-addr", "x-game-map"
_BEGIN, _END = "x-logbytes-beginoffset", "x-logbytes-endoffset"
Name = Annotated[str, Meta(min_length=1, max_length=120)]
_Stamp = Annotated[str, Meta(max_length=40, extra_json_schema={"format": "date-time"})]
Moment = Annotated[int, Meta(ge=0, le=253_402_300_799_999)] | _Stamp


class NewMatchBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`scheduled_at`: Unix ms, or ISO 8601 with an offset. `request_id` is the operator's own: asking again
    with it answers the match that it made. Strengths are on the scale of the public ranking (about 400 to
    2000); nothing is offered while a team has none, given here or imported, unless `allow_unrated`. Numbers
    of the teams and the tournament are needed where more than one is called so. `max_rounds`,
    `overtime_rounds` (0: no overtime): of a map; left out, 24 and 6 until the log says otherwise."""

    team_a: Name
    team_b: Name
    event: Name
    bo_type: Literal["bo1", "bo3", "bo5"] | Literal[1, 3, 5] = "bo1"
    scheduled_at: Moment | None = None
    home_strength: Strength = 0.0
    away_strength: Strength = 0.0
    id_a: Number | None = None
    id_b: Number | None = None
    tournament_id: Number | None = None
    allow_unrated: bool = False
    max_rounds: Rounds | None = None
    overtime_rounds: Overtime | None = None
    request_id: Annotated[str, Meta(min_length=1, max_length=120)] | None = None


class Trim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many of the newest finished matches stay."""

    keep_finished: Annotated[int, Meta(ge=0, le=100_000)]


class Created(msgspec.Struct, frozen=True):
    """A match as its operator sees it; `log_sink_url` goes into the game server's `logaddress_add_http`."""

    id: str
    urn: str
    number: int
    match: MatchView
    log_sink_url: str


class Trimmed(msgspec.Struct, frozen=True):
    """How many matches went."""

    matches: int


class Booking(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    booked: bool


@post("/ops/v1/matches/{match_id:uuid}/log", opt=_LOG, status_code=200, media_type=MediaType.TEXT)
async def log_sink(
    request: Request[Any, Any, Any],
    intake: NamedDependency[Intake],
    match_id: FromPath[UUID],
    token: Annotated[str, QueryParameter(description="The token from the match's log sink address.")],
) -> str:
    """Take lines of a game server's log; answered once they are safe on a durable queue."""
    number = tokens.check(intake.secret, match_id, token)
    body = await request.body()
    told = _offset(request.headers.get(_BEGIN)), _offset(request.headers.get(_END))
    begin, end = told_range(*told, len(body))
    batch = Batch(
        id=uuid4().hex,
        match_id=match_id,
        number=number,
        arrived_at=intake.clock(),
        body=body,
        instance=request.headers.get(_INSTANCE, ""),
        address=request.headers.get(_ADDRESS, ""),
        unique=request.headers.get(_UNIQUE, ""),
        peer=address_of(request.scope),
        map=request.headers.get(_MAP, ""),
        begin=begin,
        end=end,
    )
    await intake.queues.publish(batch)
    return "OK"


@post("/ops/v1/matches", opt=_OPERATOR)
async def create_match(
    request: Caller, intake: NamedDependency[Intake], data: JSONBody[NewMatchBody]
) -> Single[Created]:
    """Create a match; with a `request_id` of the operator's own, only once."""
    if data.team_a == data.team_b:
        what = "A team does not play against itself."
        raise Invalid(Field(("body", "team_b"), what, "same_team", data.team_b))
    asked = operator.NewMatch(
        home=data.team_a,
        away=data.team_b,
        event=data.event,
        best_of=int(str(data.bo_type).removeprefix("bo")),
        scheduled_at=_millis(data.scheduled_at),
        home_strength=data.home_strength,
        away_strength=data.away_strength,
        home_id=data.id_a,
        away_id=data.id_b,
        tournament_id=data.tournament_id,
        allow_unrated=data.allow_unrated,
        max_rounds=data.max_rounds,
        overtime_rounds=data.overtime_rounds,
        reference=data.request_id,
    )
    by = request.auth.actor
    match = await operator.create(intake.store, asked, intake.clock(), intake.terms, by=by)
    return Single(_created(intake, match))


@get("/ops/v1/matches/{match_id:str}", opt=_OPERATOR)
async def show_match(intake: NamedDependency[Intake], match_id: FromPath[str]) -> Single[Created]:
    """A match and the address for its game server's log."""
    async with intake.store.reading() as tx:
        match = await matches.by_ref(tx, match_id)
    return Single(_created(intake, match))


@post("/ops/v1/matches/{match_id:str}/cancel", opt=_OPERATOR, status_code=200)
async def cancel_match(
    request: Caller, intake: NamedDependency[Intake], match_id: FromPath[str]
) -> Single[MatchView]:
    """Call a match off; whatever is undecided is voided. The same as the command `cancel`."""
    return await operator_routes.carry_out(request, intake, match_id, Cancel())


@put("/ops/v1/tenants/{slug:str}/bookings/{match_id:str}", opt=_OPERATOR)
async def set_booking(
    request: Caller,
    intake: NamedDependency[Intake],
    slug: FromPath[str],
    match_id: FromPath[str],
    data: JSONBody[Booking],
) -> Single[Booking]:
    """Keep a match from a tenant, or let it have the match again."""
    async with intake.store.transaction() as tx:
        by = request.auth.actor
        await admin.set_booked(tx, slug, match_id, data.booked, by=by, now=intake.clock())
    return Single(data)


@post("/ops/v1/trim", opt=_OPERATOR, status_code=200)
async def trim(request: Caller, intake: NamedDependency[Intake], data: JSONBody[Trim]) -> Single[Trimmed]:
    """Remove all but the newest finished matches, 20 at a time, with everything that hangs on them; in a
    sandbox only."""
    if not intake.sandbox:
        raise Forbidden("Matches are removed by number in a sandbox only: use `matchfeed match forget`.")
    async with intake.store.transaction() as tx:
        gone = await matches.trim_to(tx, data.keep_finished)
        details = msgspec.to_builtins(data)
        await audit.add_removed(tx, gone, "match.trim", details, request.auth.actor, intake.clock())
    return Single(Trimmed(len(gone)))


@get("/ops/v1/metrics", opt=_METRICS)
async def show_metrics() -> Response[bytes]:
    """Counters and gauges of this process, as Prometheus reads them."""
    return Response(generate_latest(), headers={"Content-Type": CONTENT_TYPE_LATEST})


def _created(intake: Intake, match: Match) -> Created:
    view = basic_view(match)
    return Created(str(match.id), str(view.urn), match.number, view, intake.sink_url(match))


def _offset(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 19 else None


def _millis(given: int | str | None) -> int | None:
    if given is None or isinstance(given, int):
        return given
    try:
        return int(msgspec.convert(given, Annotated[datetime, Meta(tz=True)]).timestamp() * 1000)
    except msgspec.ValidationError as error:
        what = "A time is Unix milliseconds, or ISO 8601 with an offset."
        raise Invalid(Field(("body", "scheduled_at"), what, "time", given)) from error


ROUTES: Sequence[Any] = (
    *(log_sink, create_match, show_match, cancel_match, set_booking, trim, show_metrics),
    *operator_routes.ROUTES,
)

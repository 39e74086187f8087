"""Operators' requests about matches: create, show, audit, sources, trim; under /ops/v1."""

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from litestar import post
from litestar.params import FromPath, JSONBody
from msgspec import Meta

from app.commands import creation
from app.commands.match_commands import Number, Overtime, Rounds, Strength
from app.domain.match import Match
from app.domain.trading_controls import TradingControls
from app.http.auth import AuthenticatedRequest
from app.http.handlers import get
from app.kit.clock import LAST_MILLIS, iso_millis
from app.kit.errors import Field, Forbidden, Invalid
from app.kit.names import Name
from app.operations.api.dependencies import LIMITED, OPERATOR, Limit, Operators
from app.operations.api.reference_views import in_words
from app.operations.api.views import SourceView, source_view
from app.store import audit, log_state, matches
from app.wire.views.match import MatchView, basic_view
from app.wire.views.meta import Single

_Stamp = Annotated[str, Meta(max_length=40, extra_json_schema={"format": "date-time"})]
Moment = Annotated[int, Meta(ge=0, le=LAST_MILLIS)] | _Stamp


class NewMatchBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`scheduled_at`: Unix ms, or ISO 8601 with an offset. `request_id` is the operator's own: a repeated
    request with it returns the match that the first one created. Strengths are on the scale of the public
    ranking (about 400 to 2000); while a team has none, here or imported, nothing is offered unless
    `allow_unrated`. Ids of the teams and the tournament are needed where a name is ambiguous. `max_rounds`
    and `overtime_rounds` (0: no overtime) are those of a map; if omitted, 24 and 6 until the log says
    otherwise."""

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
    request_id: Name | None = None


class Trim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many of the newest finished matches remain."""

    keep_finished: Annotated[int, Meta(ge=0, le=100_000)]


class PriceInputs(msgspec.Struct, frozen=True):
    """What prices before play rest on: the teams' strengths in points with their standard deviation, which of
    them follow ratings (`by_ratings`: team_a, team_b), and whether reference prices count, in words."""

    strength_a: float
    strength_b: float
    spread_a: float
    spread_b: float
    by_ratings: tuple[str, ...]
    references: str


class Created(msgspec.Struct, frozen=True):
    """A match as its operator sees it; `log_sink_url` goes into the game server's `logaddress_add_http`.
    `revision` counts the commands that changed it; `controls` are what traders have set on it;
    `price_inputs` are what prices rest on; `assumed_ends` are the numbers of the maps whose end the log did
    not report: they ended by the rules."""

    id: str
    urn: str
    number: int
    match: MatchView
    log_sink_url: str
    revision: int
    controls: TradingControls
    price_inputs: PriceInputs
    assumed_ends: tuple[int, ...]


class Trimmed(msgspec.Struct, frozen=True):
    """The number of removed matches."""

    matches: int


class Recorded(msgspec.Struct, frozen=True):
    """Who did what to the match, and when; `details` are the fields of the request."""

    at: str
    actor: str
    action: str
    details: dict[str, Any]


@post("/ops/v1/matches", opt=OPERATOR)
async def create_match(
    request: AuthenticatedRequest, ops: Operators, data: JSONBody[NewMatchBody]
) -> Single[Created]:
    """Create a match; with a `request_id` of the operator's own, only once."""
    if data.team_a == data.team_b:
        what = "A team does not play against itself."
        raise Invalid(Field(("body", "team_b"), what, "same_team", data.team_b))
    new = creation.NewMatch(
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
    match = await creation.create_match(ops.store, new, ops.clock(), ops.pricing, by=by)
    return Single(_created(ops, match))


@get("/ops/v1/matches/{match_id:str}", opt=OPERATOR)
async def show_match(ops: Operators, match_id: FromPath[str]) -> Single[Created]:
    """A match and the address for its game server's log."""
    async with ops.store.autocommit() as tx:
        match = await matches.by_ref(tx, match_id)
    return Single(_created(ops, match))


@get("/ops/v1/matches/{match_id:str}/audit", opt=LIMITED)
async def show_record(ops: Operators, match_id: FromPath[str], limit: Limit = 100) -> Single[list[Recorded]]:
    """What operators did to the match, newest first."""
    async with ops.store.autocommit() as tx:
        match = await matches.by_ref(tx, match_id)
        records = await audit.about(tx, str(match.id), limit=limit)
    return Single([Recorded(iso_millis(each.at), each.actor, each.action, each.details) for each in records])


@get("/ops/v1/matches/{match_id:str}/sources", opt=OPERATOR)
async def show_sources(ops: Operators, match_id: FromPath[str]) -> Single[list[SourceView]]:
    """The senders of the match's log, in order of their first request; at most one is followed."""
    async with ops.store.autocommit() as tx:
        match = await matches.by_ref(tx, match_id)
        known = await log_state.senders(tx, match.id)
    return Single([source_view(match, each) for each in known])


@post("/ops/v1/trim", opt=OPERATOR, status_code=200)
async def trim(request: AuthenticatedRequest, ops: Operators, data: JSONBody[Trim]) -> Single[Trimmed]:
    """Remove all but the newest finished matches, 20 at a time, with everything that belongs to them; in
    a sandbox only."""
    if not ops.sandbox:
        raise Forbidden("Matches are removed by number in a sandbox only: use `matchfeed match forget`.")
    async with ops.store.transaction() as tx:
        removed = await matches.trim_to(tx, data.keep_finished)
        details = msgspec.to_builtins(data)
        await audit.add_removed(tx, removed, "match.trim", details, request.auth.actor, ops.clock())
    return Single(Trimmed(len(removed)))


def _created(ops: Operators, match: Match) -> Created:
    view = basic_view(match)
    return Created(
        id=str(match.id),
        urn=str(view.urn),
        number=match.number,
        match=view,
        log_sink_url=ops.sink_url(match),
        revision=match.revision,
        controls=match.controls,
        price_inputs=_price_inputs(match),
        assumed_ends=tuple(play.number for play in match.maps if play.end_assumed),
    )


def _price_inputs(match: Match) -> PriceInputs:
    names = {"home": "team_a", "away": "team_b"}
    return PriceInputs(
        strength_a=match.home_strength,
        strength_b=match.away_strength,
        spread_a=match.home_strength_sd,
        spread_b=match.away_strength_sd,
        by_ratings=tuple(names[team] for team in ("home", "away") if team in match.follows_ratings),
        references=in_words(match.references),
    )


def _millis(time: int | str | None) -> int | None:
    if time is None or isinstance(time, int):
        return time
    try:
        return int(msgspec.convert(time, Annotated[datetime, Meta(tz=True)]).timestamp() * 1000)
    except msgspec.ValidationError as error:
        what = "A time is Unix milliseconds, or ISO 8601 with an offset."
        raise Invalid(Field(("body", "scheduled_at"), what, "time", time)) from error

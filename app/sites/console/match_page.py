"""A match: its state, what the model knows of it, its markets, its log sources and what operators did."""

from typing import Any, NamedTuple

from litestar import Response
from litestar.params import FromPath, FromQuery
from litestar.response import Stream

from app.commands import match_references
from app.commands.match_references import Looked
from app.commands.undo import is_undoable
from app.domain.ids import match_urn
from app.domain.match import Match
from app.domain.references import ReferenceState
from app.domain.tenant import OperatorRole
from app.http.handlers import get
from app.sites.console.command_forms import FORMS, forms_for
from app.sites.console.commands import undo_offered
from app.sites.console.match_tables import CLOSED, closed_rows
from app.sites.console.moving_pages import changes_response, moving_page, render, variant_of
from app.sites.console.reports import with_market_names
from app.sites.console.site import Console, Permission, allowed, match_path
from app.sites.pages.market_names import players_of
from app.sites.pages.rendering import page, texts_for
from app.sites.pages.sessions import SignedInRequest
from app.store import audit, log_state, markets, matches, operator_commands
from app.store.operator_commands import ExecutedCommand
from app.trading.divergence import blended_chance, own_chance
from app.trading.reference_prices import Reading

_RECORDS = 50


@get("/matches/{ref:str}", opt={"query": ("done", "undo")})
async def match_page(request: SignedInRequest, console: Console, ref: FromPath[str]) -> Response[str]:
    """The match as it stands; scripts keep it current."""
    async with console.store.snapshot() as tx:
        match = await matches.by_ref(tx, ref)
        senders = await log_state.senders(tx, match.id)
        about = await audit.about(tx, str(match.id), limit=_RECORDS)
        records = await with_market_names(tx, texts_for(request), about)
        executed = await operator_commands.listing(tx, match.id, limit=_RECORDS)
        undo = await undo_offered(tx, request, match)
        looked = await match_references.look(tx, match, console.clock(), console.pricing)
    return await moving_page(
        request,
        console.matches.of(match.id),
        "match.html",
        match=match,
        path=match_path(match.number),
        urn=match_urn(match.number),
        forms=forms_for(request.auth.user.operator_role, "match") if not match.over else (),
        may_follow=Permission.TRADE in allowed(request.auth.user.operator_role),
        executed=[_executed(each, request.auth.user.operator_role) for each in executed],
        senders=senders,
        restart=_restart(match),
        undo=undo,
        references=_references(match, looked, console),
        records=records,
    )


@get("/matches/{ref:str}/events", opt={"stream": True, "query": ("since",)})
async def match_events(
    request: SignedInRequest, console: Console, ref: FromPath[str], since: FromQuery[str] = ""
) -> Response[Any] | Stream:
    """What has changed since the version that the page has."""
    async with console.store.autocommit() as tx:
        match = await matches.by_ref(tx, ref)
    return changes_response(request, console, console.matches.of(match.id), since, match.id)


@get("/matches/{ref:str}/closed")
async def closed_markets(request: SignedInRequest, console: Console, ref: FromPath[str]) -> Response[str]:
    """The markets that have a result, or were withdrawn."""
    async with console.store.snapshot() as tx:
        match = await matches.by_ref(tx, ref)
        book = await markets.book(tx, match.id)
        players = await players_of(tx, book)
    rows = closed_rows(book, match, players)
    variant = variant_of(request)
    return page(
        request,
        "closed_markets.html",
        match=match,
        path=match_path(match.number),
        rows=[render(variant, CLOSED, row).cells for row in rows],
    )


class Restarted(NamedTuple):
    """The score before a restart at a lower score, and since; home first."""

    before: str
    since: str


def _restart(match: Match) -> Restarted | None:
    """What is in doubt after a restart, until it is known which play counts."""
    if match.restart is None:
        return None
    before, since = match.map, match.restart.play
    was = f"{before.home_score}:{before.away_score}" if before else "–"
    return Restarted(was, f"{since.home_score}:{since.away_score}")


class References(NamedTuple):
    """Home's chance to win before play by our ratings, by the sources, and as prices rest on it; each
    source's price with its age in minutes."""

    state: ReferenceState
    own: float
    theirs: float | None
    blend: float
    weight: float
    sources: list[tuple[Reading, int]]


def _references(match: Match, looked: Looked, console: Console) -> References:
    now = console.clock()
    return References(
        state=match.references.state,
        own=own_chance(match),
        theirs=match.references.home,
        blend=blended_chance(match),
        weight=match.anchor.weight if match.anchor else 0.0,
        sources=[(one, (now - one.quote.at) // 60_000) for one in looked.consensus.readings],
    )


class Executed(NamedTuple):
    """A command that was executed, and whether this operator may take it back."""

    command: ExecutedCommand
    undoable: bool


def _executed(command: ExecutedCommand, role: OperatorRole | None) -> Executed:
    form = FORMS.get(command.name)
    may = form is not None and form.permission in allowed(role)
    return Executed(command, may and is_undoable(command))

"""Pages that move: their first state, the stream of what changes, and their rows as HTML in a language."""

from functools import partial
from typing import Any, NamedTuple
from uuid import UUID

import jinja2
from litestar import Response
from litestar.response import Stream

from app.domain.entrants import Player
from app.domain.market import MarketKey
from app.kit.errors import Refusal, Unavailable
from app.sites.console.happened import HAPPENED
from app.sites.console.happened_texts import words_of
from app.sites.console.live_tables import ALERTS, CONSENTS, MATCHES, WATCHED_MILLIS
from app.sites.console.match_tables import CLOSED, INPUTS, MARKETS, STATE, ClosedRow
from app.sites.console.offers import OfferRow
from app.sites.console.row_feed import RenderedRow, RowFeed
from app.sites.console.site import CONSOLE, Console, Permission, allowed
from app.sites.pages.event_streams import SILENT_SECONDS, open_stream
from app.sites.pages.market_names import MarketNames
from app.sites.pages.rendering import page, texts_for
from app.sites.pages.sessions import SignedInRequest
from app.sites.pages.texts import Texts
from app.store import sessions

_TEMPLATES = {
    MATCHES: "live_cells.html",
    ALERTS: "alert_cells.html",
    CONSENTS: "consent_cells.html",
    STATE: "live_cells.html",
    INPUTS: "input_cells.html",
    MARKETS: "offer_cells.html",
    CLOSED: "closed_cells.html",
    HAPPENED: "happened_cells.html",
}


class Variant(NamedTuple):
    """What the text of rows depends on beside themselves: the language, and whether buttons are shown."""

    language: str
    acts: bool


def variant_of(request: SignedInRequest) -> Variant:
    """The variant of moving rows that this user is shown."""
    acts = Permission.ALERTS in allowed(request.auth.user.operator_role)
    return Variant(texts_for(request).language, acts)


async def moving_page(
    request: SignedInRequest, feed: RowFeed, template: str, refusal: Refusal | None = None, **values: Any
) -> Response[str]:
    """A page with the tables of a feed as they are; the template has `board` and `version`."""
    version, board = await feed.board(variant_of(request))
    return page(request, template, refusal, board=board, version=version, silent=SILENT_SECONDS, **values)


def changes_response(
    request: SignedInRequest, console: Console, feed: RowFeed, since: str, watched: UUID | None = None
) -> Response[bytes] | Stream:
    """The stream of what has changed since that version of the page; of a match that is `watched`, recorded
    as long as the page is open."""
    variant, recorded_at = variant_of(request), 0

    async def record(match_id: UUID, now: int) -> None:
        nonlocal recorded_at
        if now - recorded_at >= WATCHED_MILLIS // 2:
            recorded_at = now
            async with console.store.autocommit() as tx:
                await sessions.record_watched(tx, request.auth.session_id, match_id, now)

    async def latest() -> bytes | None:
        nonlocal since
        try:
            if watched is not None:
                await record(watched, console.clock())
            since, data = await feed.changes(variant, since)
        except Unavailable:
            return None
        return None if data is None else b"data: " + data + b"\n\n"

    return open_stream(request, console.streams, feed.seconds, latest)


def render(variant: Variant, table: str, row: Any) -> RenderedRow:
    """A row of one of these tables: each block of its template but the first is a cell; of a row of offers
    the last block is a cell for each line."""
    texts = CONSOLE.texts.texts_in(variant.language)
    template = CONSOLE.templates.get_template(_TEMPLATES[table])
    values = {"t": texts, "row": row, "site": CONSOLE.path, "acts": variant.acts}
    if isinstance(row, OfferRow):
        values |= {"short_name": partial(_short_name, MarketNames(texts, {}))}
        css, label, _ = blocks(template, values | {"line": None})
        line = template.blocks["line"]
        lines = ["".join(line(template.new_context(values | {"line": each}))) for each in row.lines]
        return RenderedRow(css, [label, *lines])
    css, *cells = blocks(template, values | _names(table, texts, row))
    return RenderedRow(css, cells)


def _short_name(names: MarketNames, key: MarketKey) -> str:
    """The catalogue's name of a market that is about no team, without the map and the round that its section
    names."""
    return names.name(key, "", "").rpartition(": ")[2]


def blocks(template: jinja2.Template, values: dict[str, Any]) -> list[str]:
    """The text of each block of a template, in order."""
    context = template.new_context(values)
    return ["".join(block(context)) for block in template.blocks.values()]


def _names(table: str, texts: Texts, row: Any) -> dict[str, str]:
    if table == HAPPENED:
        return words_of(texts, row)
    return {"name": _market_name(texts, row)} if table == CLOSED else {}


def _market_name(texts: Texts, row: ClosedRow) -> str:
    players: dict[int | None, Player] = {row.player.account: row.player} if row.player else {}
    return MarketNames(texts, players).name(row.market.key, row.home, row.away)

"""The rows of pages that move, as HTML in a language: what feeds of the live page and of matches render."""

from typing import Any, NamedTuple

import jinja2

from app.domain.entrants import Player
from app.sites.console.live_reader import ALERTS, CONSENTS, MATCHES
from app.sites.console.market_rows import MarketRow
from app.sites.console.match_reader import INPUTS, MARKETS, STATE
from app.sites.console.row_feed import RenderedRow
from app.sites.console.site import CONSOLE
from app.sites.pages.market_names import MarketNames
from app.sites.pages.texts import Texts

CLOSED = "closed"  #: the table of closed markets, which does not move
_TEMPLATES = {
    MATCHES: "live_cells.html",
    ALERTS: "alert_cells.html",
    CONSENTS: "consent_cells.html",
    STATE: "live_cells.html",
    INPUTS: "input_cells.html",
    MARKETS: "market_cells.html",
    CLOSED: "closed_cells.html",
}


class Variant(NamedTuple):
    """What the text of rows depends on beside themselves: the language, and whether buttons are shown."""

    language: str
    acts: bool


def render(variant: Variant, table: str, row: Any) -> RenderedRow:
    """A row of one of these tables: each block of its template but the first is a cell."""
    texts = CONSOLE.texts.texts_in(variant.language)
    template = CONSOLE.templates.get_template(_TEMPLATES[table])
    values = {"t": texts, "row": row, "site": CONSOLE.path, "acts": variant.acts}
    css, *cells = blocks(template, values | _names(table, texts, row))
    return RenderedRow(css, cells)


def blocks(template: jinja2.Template, values: dict[str, Any]) -> list[str]:
    """The text of each block of a template, in order."""
    context = template.new_context(values)
    return ["".join(block(context)) for block in template.blocks.values()]


def _names(table: str, texts: Texts, row: Any) -> dict[str, str]:
    return {"name": _market_name(texts, row)} if table in (MARKETS, CLOSED) else {}


def _market_name(texts: Texts, row: MarketRow) -> str:
    players: dict[int | None, Player] = {row.player.account: row.player} if row.player else {}
    return MarketNames(texts, players).name(row.market.key, row.home, row.away)

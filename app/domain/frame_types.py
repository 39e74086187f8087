"""The frames of the WebSocket stream, and the scope that each needs (spec, "WebSocket frame types")."""

from app.domain import scopes
from app.domain.claims import ClaimStep

ALIVE = "alive"
CREATED = "match.created"
UPDATED = "match.updated"
FINISHED = "match.finished"
MARKET_CREATED = "market.created"
MARKET_UPDATED = "market.updated"
MARKET_SUSPENDED = "market.suspended"
SCOREBOARD = "scoreboard.frame"
SETTLEMENT = "bet_settlement"

#: The scope that lets a frame through; `alive` needs none.
REQUIRED_SCOPES: dict[str, str] = {
    **dict.fromkeys((CREATED, UPDATED, FINISHED), scopes.STREAM_MATCHES),
    **dict.fromkeys(("round.started", "round.finished"), scopes.STREAM_MATCHES),
    **dict.fromkeys(
        ("event.kill", "event.bomb_planted", "event.bomb_defused", "event.bomb_exploded"),
        scopes.STREAM_MATCHES,
    ),
    **dict.fromkeys(
        (MARKET_CREATED, MARKET_UPDATED, MARKET_SUSPENDED, "market.unsuspended"), scopes.STREAM_MARKETS
    ),
    SETTLEMENT: scopes.STREAM_MARKETS,
    **{step.frame: scopes.STREAM_MARKETS for step in ClaimStep},
    SCOREBOARD: scopes.STREAM_SCOREBOARD,
}

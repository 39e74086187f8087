"""The tags of operations: the parts of the service, each with what it is for."""

from collections.abc import Iterable

from app.http.openapi.route_table import Route
from app.http.openapi.schemas import Json

_PREFIXES = {"cs2": "Counter-Strike 2", "soccer": "Soccer", "ops": "Operators"}
_SERVICE, _FACADE = "Service", "Compatibility facade"
#: By name; a test checks that each tag has one.
_DESCRIPTIONS = {
    _SERVICE: "The service itself: its state, this documentation, the sports, what a key may do.",
    "Counter-Strike 2: maps": "Maps of the game, and the pool that is played.",
    "Counter-Strike 2: markets": "The catalogue: market types, reasons of suspensions, how prices are meant.",
    "Counter-Strike 2: matches": "Matches, live and past: score, rounds, events, markets, settlements.",
    "Counter-Strike 2: players": "Players and their teams.",
    "Counter-Strike 2: recovery": "Replays of the present state and of missed results over AMQP.",
    "Counter-Strike 2: search": "Matches, teams, players and tournaments by a part of their name.",
    "Counter-Strike 2: selfcheck": "Compares your book with ours.",
    "Counter-Strike 2: settlements": "The ledger of results, voids and rollbacks, in order.",
    "Counter-Strike 2: teams": "Teams, their rosters and results.",
    "Counter-Strike 2: tournaments": "Tournaments and their matches.",
    "Soccer: competitors": "Soccer teams: reference data.",
    "Soccer: tournaments": "Soccer tournaments: reference data.",
    _FACADE: "The paths and XML that clients of the established odds feed use.",
    "Operators: alerts": "What needs an operator: list, take, end.",
    "Operators: consents": "Commands that wait for a second operator.",
    "Operators: feed": "Delivery to tenants, as it stands.",
    "Operators: matches": "Matches: announce, correct, suspend, settle, trade; their log sinks.",
    "Operators: metrics": "Metrics for Prometheus.",
    "Operators: openapi.json": "This document.",
    "Operators: ratings": "The strength of teams.",
    "Operators: tenants": "Tenants: their keys, bookings, market types and audit log.",
    "Operators: trim": "Removes finished matches of a sandbox.",
}


def tag(route: Route) -> str:
    """The tag of a route: the part of the service that it belongs to."""
    first, _, rest = route.path.strip("/").partition("/")
    if first in _PREFIXES:
        noun = rest.partition("/")[2].partition("/")[0].removesuffix(".xml")
        return f"{_PREFIXES[first]}: {noun}"
    return _FACADE if route.opt.get("any_query") else _SERVICE


def tags(routes: Iterable[Route]) -> list[Json]:
    """The tags that these routes have: what concerns every key first, the facade last."""
    names = sorted({tag(route) for route in routes}, key=_rank)
    return [{"name": name, "description": _DESCRIPTIONS[name]} for name in names]


def _rank(name: str) -> tuple[int, str]:
    return (0 if name == _SERVICE else 2 if name == _FACADE else 1), name

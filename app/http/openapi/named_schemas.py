"""Schemas that have a name without a class of their own: sets of values, and bodies that are no JSON.

Generated clients make a type of each named schema. Without a name they make one of each place.
"""

from typing import Any

from app.domain.catalogue import LOCALES
from app.http.openapi.schemas import Json, ref

VALUES: dict[str, tuple[str | int, ...]] = {
    "HeldStatus": (-1, 1),
    "Locale": LOCALES,
    "MatchState": ("upcoming", "live", "finished", "cancelled"),
    "MatchTeam": ("team_a", "team_b"),
    "NamedKind": ("match", "player", "team", "tournament"),
    "PastResult": ("draw", "lost", "won"),
    "SettledBy": ("admin", "engine", "system"),
    "Side": ("CT", "T"),
    "SpecifierType": ("decimal", "integer", "variable_text"),
    "TimeFilter": ("1month", "3months", "6months", "12months", "all"),
    "VetoAction": ("ban", "decider", "pick"),
}
_NAMES = {frozenset(map(str, values)): name for name, values in VALUES.items()}
_ANY_FIELDS: Json = {"type": "object", "additionalProperties": True}
_XML_SHAPES = "`/v1/schemas/feed.xsd` and `/v1/schemas/facade.xsd`"
BODIES: dict[str, Json] = {
    "AsyncApiDocument": {"description": "An AsyncAPI document."} | _ANY_FIELDS,
    "FeedXml": {"type": "string", "description": f"A document of the shapes in {_XML_SHAPES}."},
    "MirroredXml": {
        "type": "string",
        "description": "The JSON, rendered mechanically; the root is `<response>`.",
    },
    "OpenApiDocument": {"description": "An OpenAPI document."} | _ANY_FIELDS,
    "Page": {"type": "string", "description": "A page for people."},
    "Picture": {"type": "string", "description": "A picture."},
    "Text": {"type": "string", "description": "Plain text."},
}


def with_names(node: Any) -> Any:
    """`node`, with references in the place of sets of values that have a name."""
    if isinstance(node, list):
        return [with_names(item) for item in node]
    if not isinstance(node, dict):
        return node
    values = node.get("enum")
    name = _NAMES.get(frozenset(map(str, values))) if isinstance(values, list) else None
    if name is None:
        return {key: value if key == "example" else with_names(value) for key, value in node.items()}
    rest = {key: value for key, value in node.items() if key not in ("enum", "type")}
    return {"allOf": [{"$ref": ref(name)}]} | rest if rest else {"$ref": ref(name)}


def used(schemas: dict[str, Json], paths: Json) -> dict[str, Json]:
    """The schemas of `schemas`, and those named here to which they or `paths` refer."""
    ours = {name: {"enum": list(values)} for name, values in VALUES.items()} | BODIES
    found = set(_referred([schemas, paths]))
    return dict(sorted((schemas | {name: ours[name] for name in ours.keys() & found}).items()))


def _referred(node: Any) -> list[str]:
    """The names of schemas to which `node` refers."""
    if isinstance(node, list):
        return [name for item in node for name in _referred(item)]
    if not isinstance(node, dict):
        return []
    own = [node["$ref"].rpartition("/")[2]] if isinstance(node.get("$ref"), str) else []
    return own + [name for key, value in node.items() if key != "example" for name in _referred(value)]

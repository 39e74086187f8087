"""The schemas of bodies, and their names in a document.

msgspec makes the schemas, because it also decodes and encodes the bodies. Sets of values, and bodies that are
no JSON, have a name here without a class of their own: generated clients make a type of each named schema,
and one of each place where there is no name.
"""

import re
from collections.abc import Iterable
from inspect import cleandoc
from typing import Any, get_args

import msgspec

from app.domain.catalogue import LOCALES
from app.domain.soccer import SoccerStatus

Json = dict[str, Any]
_REF = "#/components/schemas/"
_TAIL = re.compile(r"_+\Z")
#: Generated clients name their classes after these schemas: a schema keeps its name when its class is
#: renamed.
_PUBLISHED_NAMES = {
    "app.wire.views.entrants.PlayerView": "PlayerView",
    "app.wire.views.history.PlayerView": "PlayerStatsView",
    "ClientMarket": "HeldMarket",
    "ClientMatch": "HeldMatch",
    "RecoveryKind": "Kind",
    "RecoveryState": "State",
    "TenantStatus": "Told",
    "Many_TenantStatus": "Many_Told",
    "Single_list_app.operations.api.alerts.AlertView": "Single_list_app.ingest.operator_routes.AlertView",
    "Single_list_app.operations.api.matches.Recorded": "Single_list_app.ingest.operator_routes.Recorded",
    "Single_list_app.operations.api.views.SourceView": "Single_list_app.ingest.source_view.SourceView",
}
NAMED_VALUES: dict[str, tuple[str | int, ...]] = {
    "FileColumnType": ("boolean", "decimal", "double", "integer", "string", "timestamp"),
    "HeldStatus": (-1, 1),
    "Locale": LOCALES,
    "MarketMessage": (
        "bet_cancel",
        "bet_settlement",
        "odds_change",
        "rollback_bet_cancel",
        "rollback_bet_settlement",
    ),
    "MatchState": ("upcoming", "live", "finished", "cancelled"),
    "MatchTeam": ("team_a", "team_b"),
    "NamedKind": ("match", "player", "team", "tournament"),
    "PastResult": ("draw", "lost", "won"),
    "SettledBy": ("admin", "engine", "system"),
    "Side": ("CT", "T"),
    "SoccerStatus": get_args(SoccerStatus),
    "SpecifierType": ("decimal", "integer", "variable_text"),
    "TimeFilter": ("1month", "3months", "6months", "12months", "all"),
    "VetoAction": ("ban", "decider", "pick"),
}
_NAMES = {frozenset(map(str, values)): name for name, values in NAMED_VALUES.items()}
_ANY_FIELDS: Json = {"type": "object", "additionalProperties": True}
_XML_SHAPES = "`/v1/schemas/feed.xsd` and `/v1/schemas/facade.xsd`"
NAMED_BODIES: dict[str, Json] = {
    "AsyncApiDocument": {"description": "An AsyncAPI document."} | _ANY_FIELDS,
    "Csv": {
        "type": "string",
        "description": "A line with the names of the JSON's fields, and one for each row; what a row leaves "
        "out is empty.",
    },
    "EventStream": {
        "type": "string",
        "description": "Server-sent events: `event` is a frame's type, `data` the frame in JSON, `id` its "
        "`seq`; the frames of a snapshot have no `id`, and the response no `ETag`.",
    },
    "FeedXml": {"type": "string", "description": f"A document of the shapes in {_XML_SHAPES}."},
    "MirroredXml": {
        "type": "string",
        "description": "The JSON, rendered mechanically; the root is `<response>`.",
    },
    "OpenApiDocument": {"description": "An OpenAPI document."} | _ANY_FIELDS,
    "Page": {"type": "string", "description": "A page for people."},
    "File": {"type": "string", "format": "binary", "description": "The bytes of a file."},
    "Picture": {"type": "string", "description": "A picture."},
    "Text": {"type": "string", "description": "Plain text."},
}


def ref(name: str) -> str:
    """The reference to a named schema."""
    return _REF + name


def described(types: Iterable[Any]) -> tuple[dict[Any, Json], dict[str, Json]]:
    """The schema of each type, and the named schemas that these refer to."""
    wanted = list(types)
    found, named = msgspec.json.schema_components(wanted, ref_template=_REF + "{name}")
    schemas = dict(zip(wanted, map(tidy, found), strict=True))
    return schemas, {_component_name(name): tidy(schema) for name, schema in sorted(named.items())}


def tidy(node: Any) -> Any:
    """A schema without the generator's artefacts: trailing underscores of names, indented descriptions,
    titles of objects. A list whose places differ gets the `items` that many tools require."""
    if isinstance(node, list):
        return [tidy(item) for item in node]
    if not isinstance(node, dict):
        return node
    cleaned = {key: tidy(value) for key, value in node.items()}
    if isinstance(cleaned.get("$ref"), str):
        cleaned["$ref"] = _REF + _component_name(cleaned["$ref"].removeprefix(_REF))
    if isinstance(cleaned.get("mapping"), dict):
        cleaned["mapping"] = {
            tag: _REF + _component_name(ref.removeprefix(_REF)) for tag, ref in cleaned["mapping"].items()
        }
    if isinstance(cleaned.get("description"), str):
        cleaned["description"] = cleandoc(cleaned["description"])
    if cleaned == {"type": "object"}:
        cleaned["additionalProperties"] = True  # as it is by default: generators take it for an empty one
    if "prefixItems" in cleaned:
        cleaned.setdefault("items", {"anyOf": cleaned["prefixItems"]})
    if cleaned.get("type") == "object" and isinstance(cleaned.get("title"), str):
        del cleaned["title"]
    elif isinstance(cleaned.get("title"), str):
        cleaned["title"] = _component_name(cleaned["title"])
    return cleaned


def _component_name(generated: str) -> str:
    name = _TAIL.sub("", generated)
    return _PUBLISHED_NAMES.get(name, name)


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


def used_schemas(schemas: dict[str, Json], paths: Json) -> dict[str, Json]:
    """The schemas of `schemas`, and those named here to which they or `paths` refer."""
    ours = {name: {"enum": list(values)} for name, values in NAMED_VALUES.items()} | NAMED_BODIES
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

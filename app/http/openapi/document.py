"""A complete OpenAPI document, from its routes.

Sets of values, and bodies that are no JSON, have a name here without a class of their own: generated clients
make a type of each named schema, and one of each place where there is no name.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from app.domain.catalogue import LOCALES
from app.http.openapi import components, operation, problems
from app.http.openapi.components import Values
from app.http.openapi.operation import DocumentContext, Examples
from app.http.openapi.route_table import Route
from app.http.openapi.schemas import Json, described, ref
from app.http.openapi.tags import tags
from app.http.publisher import CONTACT, LICENCE

NAMED_VALUES: dict[str, tuple[str | int, ...]] = {
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
_NAMES = {frozenset(map(str, values)): name for name, values in NAMED_VALUES.items()}
_ANY_FIELDS: Json = {"type": "object", "additionalProperties": True}
_XML_SHAPES = "`/v1/schemas/feed.xsd` and `/v1/schemas/facade.xsd`"
NAMED_BODIES: dict[str, Json] = {
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


class DocumentInfo(msgspec.Struct, frozen=True):
    """Title, version and introduction of a document."""

    title: str
    version: str
    introduction: str


def document(
    info: DocumentInfo, routes: Sequence[Route], values: Values, examples: Mapping[str, Examples]
) -> Json:
    """The OpenAPI document of `routes`; see `operation.DocumentContext` for `values` and `examples`."""
    types = {each for route in routes for each in route.shapes if each is not None}
    shapes, named = described([*sorted(types, key=str), *problems.SHAPES])
    context = DocumentContext(shapes, values, examples)
    paths: Json = {}
    for route in routes:
        described_route = operation.described(route, context)
        paths.setdefault(route.path, {})[route.method] = with_names(described_route)
    schemas = used_schemas(with_names(named), paths)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": info.title,
            "version": info.version,
            "description": info.introduction,
            "contact": CONTACT,
            "license": LICENCE | {"identifier": "LicenseRef-none-granted-yet"},
        },
        "servers": [{"url": "/"}],
        "tags": tags(routes),
        "paths": paths,
        "components": _components(schemas, paths),
    }


def _components(schemas: dict[str, Any], paths: Json) -> Json:
    """What the paths refer to, and nothing else."""
    responses = _used("responses", problems.components(), paths)
    return {
        "schemas": schemas,
        "parameters": _used("parameters", components.REQUEST_HEADERS, paths),
        "headers": _used("headers", components.RESPONSE_HEADERS, [paths, responses]),
        "responses": responses,
        "securitySchemes": components.SECURITY_SCHEMES,
    }


def _used(section: str, known: dict[str, Json], within: Any) -> dict[str, Json]:
    text = msgspec.json.encode(within).decode()
    return {name: each for name, each in known.items() if f'"#/components/{section}/{name}"' in text}

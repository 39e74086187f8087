"""A complete OpenAPI document, from its routes."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from app.http.openapi import components, named_schemas, operation, problems
from app.http.openapi.components import Values
from app.http.openapi.operation import DocumentContext, Examples
from app.http.openapi.route_table import Route
from app.http.openapi.schemas import Json, described
from app.http.openapi.tags import tags
from app.http.publisher import CONTACT, LICENCE


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
        paths.setdefault(route.path, {})[route.method] = named_schemas.with_names(described_route)
    schemas = named_schemas.used(named_schemas.with_names(named), paths)
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

"""A complete OpenAPI document, from its routes."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from app.http.openapi import components, named_schemas, operation, problems
from app.http.openapi.components import Values
from app.http.openapi.operation import DocumentContext, Examples
from app.http.openapi.route_table import Route
from app.http.openapi.schemas import Json, described


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
        "info": {"title": info.title, "version": info.version, "description": info.introduction},
        "servers": [{"url": "/"}],
        "tags": [
            {"name": name} for name in sorted({operation.tag(route) for route in routes}, key=operation.rank)
        ],
        "paths": paths,
        "components": _components(schemas),
    }


def _components(schemas: dict[str, Any]) -> Json:
    return {
        "schemas": schemas,
        "parameters": components.REQUEST_HEADERS,
        "headers": components.RESPONSE_HEADERS,
        "responses": problems.components(),
        "securitySchemes": components.SECURITY_SCHEMES,
    }

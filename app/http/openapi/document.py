"""A whole document, from the routes that it is about."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from app.http.openapi import components, operation, problems
from app.http.openapi.components import Values
from app.http.openapi.operation import Examples, Known
from app.http.openapi.route_table import Route
from app.http.openapi.schemas import Json, described


class About(msgspec.Struct, frozen=True):
    """What stands at the head of a document."""

    title: str
    version: str
    introduction: str


def document(about: About, routes: Sequence[Route], values: Values, examples: Mapping[str, Examples]) -> Json:
    """The OpenAPI document of `routes`; see `operation.Known` for `values` and `examples`."""
    types = {each for route in routes for each in (route.body, route.answer) if each is not None}
    shapes, named = described([*sorted(types, key=str), *problems.SHAPES])
    known = Known(shapes, values, examples)
    paths: Json = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method] = operation.described(route, known)
    return {
        "openapi": "3.1.0",
        "info": {"title": about.title, "version": about.version, "description": about.introduction},
        "servers": [{"url": "/"}],
        "tags": [
            {"name": name} for name in sorted({operation.tag(route) for route in routes}, key=operation.rank)
        ],
        "paths": paths,
        "components": _components(named),
    }


def _components(schemas: dict[str, Any]) -> Json:
    return {
        "schemas": schemas,
        "parameters": components.REQUEST_HEADERS,
        "headers": components.ANSWER_HEADERS,
        "responses": problems.components(),
        "securitySchemes": components.KEYS,
    }

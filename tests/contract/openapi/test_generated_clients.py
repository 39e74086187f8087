"""What generated clients make of the public document: methods with readable names, no type without a name."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.contract.openapi.present import Json, followed, made, operations

_METHOD = re.compile(r"(get|list|search|request|compare)(_[a-z0-9]+){1,4}")
_TYPE = re.compile(r"[A-Z][A-Za-z0-9]*(_[A-Z][A-Za-z0-9]*)?")
_REFUSALS = {"#/components/schemas/Refused", "#/components/schemas/Problem"}
#: Schemas of any JSON, by place, and why.
UNTYPED = {"components/schemas/Field/properties/input": "the value that was sent"}


@pytest.fixture(scope="module")
def document() -> Json:
    return made()["public"]


def schemas(node: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[str, Json]]:
    """Every schema below `node`, with its place."""
    if isinstance(node, list):
        for number, item in enumerate(node):
            yield from schemas(item, (*place, str(number)))
    elif isinstance(node, dict):
        holders = ("schema", "items", "schemas", "properties", "anyOf", "allOf", "prefixItems")
        if place and (place[-1] in holders[:2] or (len(place) > 1 and place[-2] in holders[2:])):
            yield "/".join(place), node
        for key, value in node.items():
            if key != "example":
                yield from schemas(value, (*place, key))


def test_every_operation_has_a_readable_name_of_its_own(document: Json) -> None:
    names = [operation["operationId"] for _, _, operation in operations(document)]
    assert len(names) == len(set(names)) > 70
    assert [name for name in names if not _METHOD.fullmatch(name.removesuffix("_xml"))] == []


def test_every_success_has_a_named_schema(document: Json) -> None:
    for path, method, operation in operations(document):
        contents = operation["responses"][min(operation["responses"])]["content"]
        unnamed = [kind for kind, content in contents.items() if set(content["schema"]) != {"$ref"}]
        assert contents and unnamed == [], (path, method)


def test_every_error_is_typed(document: Json) -> None:
    for path, method, operation in operations(document):
        errors = {
            code: followed(document, one) for code, one in operation["responses"].items() if code >= "4"
        }
        assert errors
        for status, error in errors.items():
            assert error["content"]["application/json"]["schema"]["$ref"] in _REFUSALS, (path, method, status)


def test_every_schema_says_what_it_holds(document: Json) -> None:
    untyped = {
        place
        for place, schema in schemas(document)
        if not schema.keys() & {"$ref", "anyOf", "allOf", "enum", "items", "prefixItems", "properties"}
        and not isinstance(schema.get("additionalProperties"), dict | bool)
        and schema.get("type") in (None, "object", "array")
    }
    assert untyped == set(UNTYPED)


def test_sets_of_values_and_schemas_have_names(document: Json) -> None:
    named = document["components"]["schemas"]
    assert [name for name in named if not _TYPE.fullmatch(name)] == []
    inline = [place for place, schema in schemas(document) if len(schema.get("enum", ())) > 1]
    assert [place for place in inline if place.removeprefix("components/schemas/") not in named] == [
        place for place in inline if "{product}" in place or "/v1/replay/play" in place
    ]

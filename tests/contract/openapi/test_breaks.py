"""The differ that guards the recorded documents sees what breaks a client, and nothing else."""

import re
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import msgspec
import pytest

from tests.contract.openapi.breaks import breaks
from tests.contract.openapi.present import made

Json = dict[str, Any]
_REFERENCE = re.compile(r'"#/components/schemas/([^"]+)"')
MATCHES, SELFCHECK = "/cs2/v1/matches", "/cs2/v1/selfcheck"


@pytest.fixture(scope="module")
def present() -> Json:
    """The document, with no more of its paths and shapes than are changed here: the differ is not fast."""
    document = made()["public"]
    paths = {path: document["paths"][path] for path in (MATCHES, SELFCHECK, "/v1/sports", "/v1/docs")}
    shapes = document["components"]["schemas"]
    used = {name: shapes[name] for name in shapes_of(paths, shapes)}
    return document | {"paths": paths, "components": document["components"] | {"schemas": used}}


def shapes_of(node: Any, shapes: Json) -> set[str]:
    """The names of the shapes to which `node` refers, and of those to which these refer."""
    found: set[str] = set()
    waiting = [node]
    while waiting:
        names = set(_REFERENCE.findall(msgspec.json.encode(waiting.pop()).decode())) - found
        found |= names
        waiting.extend(shapes[name] for name in names)
    return found


def get(document: Json) -> Json:
    return document["paths"][MATCHES]["get"]


def limit(document: Json) -> Json:
    return next(one for one in get(document)["parameters"] if one.get("name") == "limit")


def ok(document: Json) -> Json:
    return get(document)["responses"]["200"]


def shape(document: Json, name: str) -> Json:
    return document["components"]["schemas"][name]


BREAKING: dict[str, Callable[[Json], Any]] = {
    "a path is gone": lambda d: d["paths"].pop(MATCHES),
    "a parameter is gone": lambda d: get(d)["parameters"].remove(limit(d)),
    "a parameter takes less": lambda d: limit(d)["schema"].update(maximum=100),
    "a parameter must be sent": lambda d: limit(d).update(required=True),
    "another parameter must be sent": lambda d: get(d)["parameters"].append(
        {"name": "z", "in": "query", "required": True, "schema": {"type": "string"}}
    ),
    "a field is gone": lambda d: shape(d, "MatchView")["properties"].pop("score_a"),
    "a field has another type": lambda d: shape(d, "MatchView")["properties"].update(
        score_a={"type": "string"}
    ),
    "a field may be absent": lambda d: shape(d, "MapView")["required"].remove("score_a"),
    "a field must be sent": lambda d: shape(d, "HeldMatch")["required"].append("seq"),
    "a format is gone": lambda d: ok(d)["content"].pop("application/xml"),
    "a header is gone": lambda d: ok(d)["headers"].pop("ETag"),
    "another scope is needed": lambda d: get(d).update({"x-required-scopes": ["cs2:matches:detail"]}),
    "a sport is needed": lambda d: d["paths"]["/v1/sports"]["get"].update({"x-sport": "cs2"}),
    "a key is needed": lambda d: d["paths"]["/v1/docs"]["get"].update(security=[{"key": []}]),
}
HARMLESS: dict[str, Callable[[Json], Any]] = {
    "nothing": lambda d: None,
    "a path more": lambda d: d["paths"].update({"/cs2/v1/new": d["paths"][MATCHES]}),
    "a field more": lambda d: shape(d, "MatchView")["properties"].update(z={"type": "string"}),
    "a field more that is always there": lambda d: (
        shape(d, "MapView")["properties"].update(z={"type": "string"}),
        shape(d, "MapView")["required"].append("z"),
    ),
    "a parameter more": lambda d: get(d)["parameters"].append(
        {"name": "z", "in": "query", "required": False, "schema": {"type": "string"}}
    ),
    "a refusal more": lambda d: get(d)["responses"].update({"410": {"description": "Gone."}}),
    "other words": lambda d: get(d).update(description="Other words.", summary="Other"),
    "another example": lambda d: ok(d)["content"]["application/json"].update(example={}),
}


def broken(present: Json, changes: dict[str, Callable[[Json], Any]]) -> dict[str, list[str]]:
    """What breaks clients of `present`, by the change that was made to it."""
    changed = [deepcopy(present) for _ in changes]
    for document, change in zip(changed, changes.values(), strict=True):
        change(document)
    return dict(zip(changes, breaks(present, *changed), strict=True))


def test_breaking_changes_are_refused(present: Json) -> None:
    assert [change for change, found in broken(present, BREAKING).items() if not found] == []


def test_compatible_changes_pass(present: Json) -> None:
    assert {change: found for change, found in broken(present, HARMLESS).items() if found} == {}

"""JSON schemas of bodies, from msgspec, which decodes and encodes them."""

import re
from collections.abc import Iterable
from inspect import cleandoc
from typing import Any

import msgspec

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

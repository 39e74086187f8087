"""The stream's half of the AsyncAPI document: both channels, and every frame with its JSON Schema.

The schemas are those of the structs that frames are encoded from, so that both always agree.
"""

from inspect import cleandoc
from typing import Any

import msgspec

from app.domain import frame_types
from app.wire.views.changes import FRAMES
from app.wire.views.frames import FrameMeta
from app.wire.views.match import MatchView

Json = dict[str, Any]
_REF = "#/components/schemas/{name}"
#: What each frame carries as `data`.
DATA: dict[str, type[msgspec.Struct]] = {
    kind: next(field.type for field in msgspec.structs.fields(frame) if field.name == "data")
    for kind, frame in FRAMES.items()
}
_SUMMARIES = {kind: cleandoc(frame.__doc__ or "") for kind, frame in FRAMES.items()} | {
    frame_types.ALIVE: "Every 10 seconds: all that was committed up to `meta.seq` has been sent. After 30 "
    "seconds without one, connect again: after 1 second, then after twice as long each time, 30 seconds at "
    "most.",
}
_KEY = {
    "type": "object",
    "required": ["api_key"],
    "properties": {
        "api_key": {"type": "string", "description": "The tenant's key."},
        "since": {
            "type": "integer",
            "minimum": 0,
            "description": "Resume after this `meta.seq`; when that is too long ago, a snapshot is sent.",
        },
    },
}
_CHANNELS = {
    "everyMatch": ("/cs2/v1/stream", "All matches: polled every 5 seconds."),
    "oneMatch": ("/cs2/v1/stream/{match_id}", "One match: polled every 2 seconds."),
}


def stream_document() -> Json:
    """`channels`, `operations` and `components` (messages, schemas, security) of an AsyncAPI 3.0 document;
    the server they belong to is named `stream`."""
    refs = {name: {"$ref": f"#/components/messages/{name}"} for name in map(_name, DATA)}
    schemas, named = _schemas()
    return {
        "channels": {name: _channel(*one, refs) for name, one in _CHANNELS.items()},
        "operations": {
            f"send.{name}": {
                "action": "send",
                "description": f"We send frames. {description}",
                "channel": {"$ref": f"#/channels/{name}"},
                "messages": [{"$ref": f"#/channels/{name}/messages/{message}"} for message in refs],
            }
            for name, (_, description) in _CHANNELS.items()
        },
        "components": {
            "messages": {_name(kind): _message(kind, schemas[kind]) for kind in DATA},
            "schemas": named,
            "securitySchemes": {"streamKey": {"type": "httpApiKey", "name": "api_key", "in": "query"}},
        },
    }


def _channel(address: str, description: str, refs: Json) -> Json:
    channel: Json = {
        "address": address,
        "description": description,
        "servers": [{"$ref": "#/servers/stream"}],
        "messages": refs,
        "bindings": {"ws": {"method": "GET", "query": _KEY}},
    }
    if "{match_id}" in address:
        channel["parameters"] = {"match_id": {"description": "The match's UUID, or `od:match:<number>`."}}
    return channel


def _message(kind: str, schema: Json) -> Json:
    message: Json = {
        "name": kind,
        "summary": _SUMMARIES[kind],
        "contentType": "application/json",
        "payload": schema,
    }
    return message | (
        {"x-scope": frame_types.REQUIRED_SCOPES[kind]} if kind in frame_types.REQUIRED_SCOPES else {}
    )


def _schemas() -> tuple[dict[str, Json], dict[str, Json]]:
    """The schema of each frame, and those of the structs that they refer to."""
    types = [*DATA.values(), FrameMeta]
    found, named = msgspec.json.schema_components(types, ref_template=_REF)
    *data, meta = found
    return {
        kind: {
            "type": "object",
            "required": ["type", "data", "meta"],
            "properties": {"type": {"const": kind}, "data": _data(kind, schema), "meta": meta},
        }
        for kind, schema in zip(DATA, data, strict=True)
    }, {name: _tidy(schema) for name, schema in sorted(named.items())}


def _data(kind: str, schema: Json) -> Json:
    """A match always has its id, whatever else a key may see of it."""
    return {"allOf": [schema, {"required": ["id"]}]} if DATA[kind] is MatchView else schema


def _tidy(schema: Json) -> Json:
    description = schema.get("description")
    return schema | ({"description": cleandoc(description)} if isinstance(description, str) else {})


def _name(kind: str) -> str:
    return kind.replace(".", "_")

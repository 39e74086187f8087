"""A complete OpenAPI document, from its routes.

An operation is the framework's draft, what the route's `opt` adds to it, an example of its request body, by
the name of the body's type, and recorded responses of a running service.
"""

import re
from collections.abc import Mapping, Sequence
from inspect import cleandoc
from pathlib import Path
from typing import Any

import msgspec

from app.http.openapi import components
from app.http.openapi.components import Values, header_refs
from app.http.openapi.routes import EVENTS, JSON, XML, Route, tag, tags
from app.http.openapi.schemas import Json, described, ref, used_schemas, with_names
from app.kit.csv_rows import CSV, rows_as_csv

#: Who publishes the API, and under which licence.
CONTACT = {"name": "Your account manager"}
LICENCE = {"name": "None is granted yet: the owner of matchfeed chooses it"}
EXAMPLES = Path(__file__).with_name("examples.json")  #: recorded by `nox -s documents`
_SENTENCE = re.compile(r"(.+?[.;:])(?:\s|\Z)", re.DOTALL)
_ANY_OBJECT: Json = {"type": "object", "additionalProperties": True}
_PROBABILITIES = " For tenants that receive probabilities."
_TEXTS = {"text/html": "Page", "image/svg+xml": "Picture", CSV: "Csv", EVENTS: "EventStream"}
_PART = "The requested part of the file."
Examples = Mapping[str, Any]  #: recorded responses by content type
_ALIVE = (
    '{"type":"alive","data":{"status":"ok","timestamp":"2031-04-02T18:00:00.125Z"},'
    '"meta":{"ts":"2031-04-02T18:00:00.125Z","seq":48223,"hash":"5547d521351b82bb"}}'
)
#: Examples of what is not recorded, because it does not end.
_WRITTEN: Examples = {EVENTS: f"id: 48223\nevent: alive\ndata: {_ALIVE}\n\n"}
_BODY_EXAMPLES: dict[str, Any] = {
    "NewMaintenance": {
        "begins_at": "2031-04-02T03:00:00+00:00",
        "ends_at": "2031-04-02T05:00:00+00:00",
        "parts": ["feed", "recoveries"],
        "text": "The message broker is replaced; clients recover afterwards.",
    },
    "NewWords": {"text": "A disk of the message broker was full; it has more room now."},
    "Assignment": {"profile": "tight"},
    "Booking": {"booked": False},
    "ClaimAnswer": {"answer": "team_a won the round by elimination: VOD at 00:14:30"},
    "Consent": {"decision": "consent", "fingerprint": "8e41e8490e304f58"},
    "Digest": {
        "matches": [
            {
                "match": "od:match:1",
                "markets": [[1, "team=home", 1, 1.93], [13, "map=1|round=3|team=home", -1]],
                "seq": 48_223,
            }
        ],
        "complete": True,
    },
    "ReferenceDocument": {
        "source": "acme",
        "rows": [
            {"kind": "team", "name": "Copper Owls", "strength": 1610},
            {
                "kind": "fixture",
                "id": "masters-17",
                "team_a": "Copper Owls",
                "team_b": "Dune Larks",
                "event": "Norland Masters",
                "bo_type": "bo3",
                "scheduled_at": "2031-04-02T18:00:00+02:00",
            },
            {"kind": "line_up", "team": "Dune Larcs", "players": ["quill", "marsh"]},
        ],
    },
    "ImportedPrice": [
        {
            "source": "Alder Sports",
            "match": "od:match:1",
            "market_id": 1,
            "specifiers": f"team={team}",
            "odds": odds,
            "at": 1_767_978_000_000,
        }
        for team, odds in (("home", 1.62), ("away", 2.31))
    ],
    "KeyChange": {"rate_limit_rpm": 1200, "networks": ["203.0.113.0/24"]},
    "NewClaim": {
        "match": "od:match:1",
        "market_offer_id": "13:map=1|round=3|team=home",
        "expected": "void",
        "reason": "the round was played again",
        "evidence": "VOD at 00:14:32",
        "request_id": "bet-4711",
    },
    "NewCombination": {
        "legs": [
            {"match_urn": "od:match:1", "market_offer_id": "1:team=home"},
            {"match_urn": "od:match:1", "market_offer_id": "8:map=1|threshold=21.5"},
        ],
        "request_id": "bet-4711",
    },
    "NewKey": {
        "bundles": ["cs2.odds.basic", "cs2.odds.scoreboard-addon"],
        "sports": ["cs2", "soccer"],
        "label": "trading desk",
        "request_id": "acme-2031-1",
    },
    "NewMatchBody": {
        "team_a": "Copper Herons",
        "team_b": "Night Ferry",
        "event": "Norland Masters",
        "bo_type": "bo3",
        "scheduled_at": "2031-04-02T18:00:00+00:00",
        "request_id": "norland-final",
    },
    "NewReplay": {
        "node_id": "7",
        "speed": 20,
        "max_delay": 2000,
        "accidents": [{"kind": "outage", "after": 200, "messages": 50}],
    },
    "NewTenant": {"slug": "acme", "name": "Acme"},
    "Probabilities": {"probabilities": True},
    "ProfileContent": {
        "margins": [
            {"margin": 0.05},
            {"margin": 0.08, "phase": "in_play", "long_shots": 0.2},
            {"margin": 0.06, "family": "match_winner", "phase": "in_play"},
        ],
        "min_odds": 1.04,
        "max_odds": 34,
        "min_move": 0.01,
        "stakes": [{"factor": 0.5, "delay_seconds": 2, "phase": "last_rounds"}],
    },
    "Queues": {"max_queues": 20},
    "BetStop": {"bet_stop": True},
    "RatingImport": {
        "results": [
            {
                "id": "cup-17/1",
                "at": 1_767_978_000_000,
                "match": "cup-17",
                "map": "de_nuke",
                "team_a": "Copper Herons",
                "team_b": "Night Ferry",
                "score_a": 13,
                "score_b": 9,
            }
        ],
        "strengths": [{"id": "2026-01", "at": 1_767_225_600_000, "team": "Copper Herons", "strength": 1610}],
    },
    "Suspend": {"command": "suspend", "reason": "the server cannot be reached", "request_id": "shift-1"},
    "Switch": {"on": False},
    "Take": {"command": "take"},
    "TakeClaim": {"instead_of": "operator ann@ops.example"},
    "Trim": {"keep_finished": 100},
    "Uphold": {"reason": "the round was played again", "answer": "You are right."},
}


def recorded_examples() -> dict[str, Examples]:
    """The recorded responses, by operation and content type."""
    return msgspec.json.decode(EXAMPLES.read_bytes(), type=dict[str, Examples]) if EXAMPLES.exists() else {}


class DocumentInfo(msgspec.Struct, frozen=True):
    """Title, version and introduction of a document."""

    title: str
    version: str
    introduction: str


class DocumentContext(msgspec.Struct, frozen=True):
    """What a document needs beside the routes: the schemas of types, the permitted values of parameters by
    name, and recorded responses by operation."""

    shapes: Mapping[Any, Json]
    values: components.Values
    examples: Mapping[str, Examples]


def document(
    info: DocumentInfo, routes: Sequence[Route], values: Values, examples: Mapping[str, Examples]
) -> Json:
    """The OpenAPI document of `routes`; see `DocumentContext` for `values` and `examples`."""
    types = {each for route in routes for each in route.shapes if each is not None}
    shapes, named = described([*sorted(types, key=str), *components.REFUSALS])
    context = DocumentContext(shapes, values, examples)
    paths: Json = {}
    for route in routes:
        described_route = operation(route, context)
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
    responses = _used("responses", components.refusals(), paths)
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


def operation(route: Route, context: DocumentContext) -> Json:
    """The operation object of a route."""
    text = cleandoc(route.handler.fn.__doc__ or route.name.replace("_", " "))
    made: Json = {
        "operationId": route.name,
        "tags": [tag(route)],
        "summary": _summary(text),
        "description": f"{text}\n\n{access(route)}",
        "parameters": _parameters(route, context.values),
    }
    if body := _body(route, context.shapes):
        made["requestBody"] = body
    made["responses"] = _responses(route, context)
    made["security"] = [] if route.opt.get("open") else [{name: []} for name in components.SECURITY_SCHEMES]
    made |= _extensions(route)
    return made


def access(route: Route) -> str:
    """Who may call the route, in a sentence."""
    opt = route.opt
    if opt.get("open"):
        return "Needs no key."
    if opt.get("operator"):
        return "Needs an operator key."
    scopes = " or ".join(f"`{scope}`" for scope in opt.get("scopes", ()))
    needs = f"a key with the scope {scopes}" if scopes else "any valid key"
    return f"Needs {needs}{_sport(opt)}.{_PROBABILITIES if opt.get('probabilities') else ''}"


def _sport(opt: Mapping[str, Any]) -> str:
    return f", and the sport `{opt['sport']}` in its allowlist" if opt.get("sport") else ""


def _summary(text: str) -> str:
    found = _SENTENCE.match(text)
    return " ".join((found[1] if found else text).split()).rstrip(".;:")


def _extensions(route: Route) -> Json:
    """`x-required-scopes`: one of them is enough."""
    opt = route.opt
    made: Json = {"x-required-scopes": list(opt.get("scopes", ()))}
    if opt.get("sport"):
        made["x-sport"] = opt["sport"]
    if opt.get("operator"):
        made["x-operator-key"] = True
    return made


def _parameters(route: Route, values: components.Values) -> list[Json]:
    drafted = sorted(route.draft.get("parameters", ()), key=lambda one: one["in"] != "path")
    required = route.opt.get("required", ())
    made = [components.parameter(one, values, required) for one in drafted if one["in"] != "header"]
    headers = ["RequestId"] + (["IfNoneMatch"] if route.tagged else [])
    headers += ["Range", "IfRange"] if route.sends_files else []
    headers += ["LastEventId"] if EVENTS in route.media else []
    return made + [{"$ref": f"#/components/parameters/{name}"} for name in headers]


def _body(route: Route, shapes: Mapping[Any, Json]) -> Json | None:
    if not route.takes:
        return None
    content: Json = {"schema": {"type": "string"} if route.body is None else shapes[route.body]}
    if (example := example_of(route.body) or route.opt.get("example")) is not None:
        content["example"] = example
    taken = {route.takes: content}
    if "csv" in route.opt:
        taken[CSV] = {"schema": {"type": "string"}, "example": rows_as_csv(content["example"])}
    return {"required": True, "content": taken}


def _responses(route: Route, context: DocumentContext) -> Json:
    head = ["X-Request-Id"]
    head += [] if route.opt.get("open") else ["RateLimit", "RateLimit-Policy"]
    head += ["ETag", "Vary", "Cache-Control"] if route.tagged else []
    head += route.opt.get("response_headers", ())
    examples = {**_WRITTEN, **context.examples.get(route.name, {})}
    content = {kind: _content(kind, route, context.shapes, examples.get(kind)) for kind in route.media}
    text = "Done." if route.method != "get" else "The requested data."
    made: Json = {route.status: {"description": text, "headers": header_refs(head), "content": content}}
    if accepted := route.opt.get("accepted"):
        made["202"] = {
            "description": "Accepted: it waits for the consent of a second person.",
            "headers": header_refs(head),
            "content": {JSON: {"schema": context.shapes[accepted]}},
        }
    if route.sends_files:
        part = header_refs([*head, "Content-Range"])
        made["206"] = {"description": _PART, "headers": part, "content": content}
    if route.tagged:
        made["304"] = {
            "description": "Not modified: the client has this version already.",
            "headers": header_refs(head),
        }
    numbers = sorted(set(components.refusal_statuses(route)))
    return made | {str(number): {"$ref": components.refusal_ref(number, route)} for number in numbers}


def _content(kind: str, route: Route, shapes: Mapping[Any, Json], example: Any) -> Json:
    if kind == JSON and shapes[route.response] != _ANY_OBJECT:
        made: Json = {"schema": shapes[route.response]}
    else:
        made = {"schema": {"$ref": ref(_body_name(kind, route))}}
    return made if example is None else made | {"example": example}


def _body_name(kind: str, route: Route) -> str:
    """The name of the schema of a body without a type."""
    if kind == JSON:
        return "AsyncApiDocument" if "asyncapi" in route.path else "OpenApiDocument"
    if kind == XML:
        return "FeedXml" if route.opt.get("sibling") or route.media == (XML,) else "MirroredXml"
    return "File" if route.sends_files else _TEXTS.get(kind, "Text")


def example_of(body_type: Any) -> Any:
    """The example for a type, or for the first member of a union that has one; None without any."""
    names = [getattr(one, "__name__", "") for one in getattr(body_type, "__args__", (body_type,))]
    return next((_BODY_EXAMPLES[name] for name in names if name in _BODY_EXAMPLES), None)

"""The feed's half of the AsyncAPI document.

FastStream writes channels, operations, bindings and payloads from the publishers by which everything is
published. Here they get names, so that live and replayed messages share a shape, and what FastStream does not
know: parameters, headers, security.
"""

from typing import Any

from faststream.specification import AsyncAPI

from app.amqp.envelope import LIVE_MESSAGES, MATCH_MESSAGES
from app.amqp.publishers import MATCH, NODE, FeedPublishers
from app.wire.json_schema import feed_json_schema

Json = dict[str, Any]
SERVER = "feed"
_COMPONENT = "feed.{}"  #: what a message is called among the components, where the stream has some too
_PARAMETERS = {
    MATCH: "The number of the match.",
    NODE: "The `node_id` of the request, or `-`.",
}


def feed(exchange: str, host: str, public_url: str) -> Json:
    """`servers`, `channels`, `operations` and `components` of an AsyncAPI 3.0 document. `host` is the broker
    as tenants connect to it, `host[:port]`; `public_url` is the REST service, which has the XML schemas."""
    publishers = FeedPublishers(exchange, host)
    made: Json = AsyncAPI(publishers.broker, schema_version="3.0.0").to_specification().to_jsonable()
    titles = publishers.titles
    schema_url = f"{public_url.rstrip('/')}/v1/schemas/feed.xsd"
    payloads = {name: publishers.payload(title, made) for title, name in titles.items()}
    return {
        "servers": {SERVER: _server(made, host)},
        "channels": {title: _channel(made["channels"][title], name) for title, name in titles.items()},
        "operations": {f"send.{title}": _operation(made, title, name) for title, name in titles.items()},
        "components": {
            "messages": {
                _COMPONENT.format(name): _message(name, payloads[name], schema_url)
                for name in sorted(payloads)
            },
            "schemas": feed_json_schema().types(),
            "securitySchemes": {
                "tenant": {"type": "userPassword", "description": "The AMQP user that was provisioned."}
            },
        },
    }


def _server(made: Json, host: str) -> Json:
    server: Json = next(iter(made["servers"].values()))
    return server | {
        "host": host,
        "pathname": "/{vhost}",
        "description": "A tenant's own vhost; `GET /v1/users/whoami` has its name.",
        "variables": {"vhost": {"description": "The vhost, the tenant's slug unless agreed otherwise."}},
        "security": [{"$ref": "#/components/securitySchemes/tenant"}],
    }


def _channel(channel: Json, name: str) -> Json:
    address: str = channel["address"]
    channel["bindings"]["amqp"]["exchange"].pop("vhost", None)
    found = {key[1:-1]: {"description": says} for key, says in _PARAMETERS.items() if key in address}
    return channel | {
        "servers": [{"$ref": f"#/servers/{SERVER}"}],
        "messages": {name: {"$ref": f"#/components/messages/{_COMPONENT.format(name)}"}},
        **({"parameters": found} if found else {}),
    }


def _operation(made: Json, title: str, name: str) -> Json:
    says = {
        "description": made["channels"][title]["description"],
        "channel": {"$ref": f"#/channels/{title}"},
        "messages": [{"$ref": f"#/channels/{title}/messages/{name}"}],
    }
    operation: Json = made["operations"][title]
    return operation | says


def _message(name: str, payload: Json, schema_url: str) -> Json:
    return {
        "name": name,
        "summary": payload["description"],
        "contentType": "application/xml",
        "headers": _headers(name),
        "payload": payload,
        "externalDocs": {"url": schema_url, "description": "The same as XML Schema."},
    }


def _headers(name: str) -> Json:
    """The schema of the AMQP headers."""
    replayed = {"recovery": {"const": 1, "description": "Only on replayed messages."}}
    numbered: Json = {
        "x-seq": {
            "type": "integer",
            "description": "Live: the number of the change; the same number again is the same "
            "message. In a recovery: the change up to which the match is replayed; several messages share "
            "it, so drop none for it.",
        },
        "x-prev-seq": {
            "type": "integer",
            "description": "Live only: `x-seq` of the match's live message before it that is not a "
            "`bet_stop`; one never seen is a gap.",
        },
    }
    numbered["x-arrived-at"] = {
        "type": "integer",
        "description": "Live only: when the log lines behind it came to us (Unix ms); not on what an "
        "operator did.",
    }
    numbered["x-replay"] = {
        "type": "integer",
        "description": "Only on messages of a replay: its number. Their other headers are those of then.",
    }
    timed: Json = {
        "timestamp_in_ms": {
            "type": "integer",
            "description": "The attribute `timestamp` of the XML (Unix ms).",
        }
    }
    if name in LIVE_MESSAGES:
        also = replayed if name in MATCH_MESSAGES else {}
        return {"type": "object", "properties": timed | numbered | also}
    return {"type": "object", "properties": timed | (replayed if name == "snapshot_complete" else {})}

"""The feed's half of the AsyncAPI document.

FastStream writes channels, operations and bindings from the publishers that stand for ours; the messages'
shapes come from the schemas that the envelopes are generated from. Nothing here connects to a broker.
"""

from typing import Any

from faststream.rabbit import ExchangeType, RabbitBroker, RabbitExchange
from faststream.specification import AsyncAPI

from app.amqp import routing
from app.wire.json_schema import feed_json_schema

Json = dict[str, Any]
SERVER = "feed"
_COMPONENT = "feed.{}"  #: what a message is called among the components, where the stream has some too
_MATCH, _NODE = "{match_num}", "{node_id}"
_LIVE = "Published as it happens."
_REPLAYED = "Replayed by a recovery."
#: What differs between a live message and a replayed one, beside its routing key and headers.
_DIFFERING = {
    routing.live("odds_change", _MATCH): "The markets that changed; what is not listed is as it was.",
    routing.replayed(
        "odds_change", _MATCH, _NODE
    ): "The full list: every market that is active or suspended, "
    "and of a match that is over how every market ended, unless only the odds of one match were requested. "
    "What it leaves out is not on offer.",
}
_PARAMETERS = {
    "match_num": "The number of the match.",
    "node_id": "The `node_id` of the recovery's request, or `-`.",
}
_EVENTS = sorted(routing.MATCH_MESSAGES)


def feed(exchange: str, host: str) -> Json:
    """`servers`, `channels`, `operations` and `components` of an AsyncAPI 3.0 document. `host` is the broker
    as tenants connect to it, `host[:port]`."""
    made = _generated(exchange, host)
    names = {title: name for title, name, _, _ in _channels()}
    shapes = feed_json_schema()
    messages = sorted(set(names.values()))
    return {
        "servers": {SERVER: _server(made, host)},
        "channels": {title: _channel(made["channels"][title], name) for title, name in names.items()},
        "operations": {
            f"send.{title}": _operation(made["operations"][title], title, name)
            for title, name in names.items()
        },
        "components": {
            "messages": {_COMPONENT.format(name): _message(name, shapes.message(name)) for name in messages},
            "schemas": shapes.types(),
            "securitySchemes": {
                "tenant": {"type": "userPassword", "description": "The AMQP user that was provisioned."}
            },
        },
    }


def _channels() -> list[tuple[str, str, str, str]]:
    """Every channel: its title, its message, the routing key and what it is."""
    live = [(f"live.{name}", name, routing.live(name, _MATCH), _LIVE) for name in _EVENTS]
    replay = [
        (f"recovery.{name}", name, routing.replayed(name, _MATCH, _NODE), _REPLAYED) for name in _EVENTS
    ]
    complete = routing.snapshot_complete(_NODE)
    return [
        *live,
        *replay,
        ("snapshot_complete", "snapshot_complete", complete, "The end of a recovery."),
        ("alive", "alive", routing.ALIVE, "Every ten seconds, as long as what happens reaches the tenant."),
    ]


def _generated(exchange: str, host: str) -> Json:
    url = f"amqp://op-slug@{host}/slug"
    broker = RabbitBroker(url, specification_url=url, logger=None)
    topic = RabbitExchange(exchange, ExchangeType.TOPIC, durable=True)
    for title, name, key, description in _channels():
        lasting = name != "alive"
        broker.publisher(
            exchange=topic,
            routing_key=key,
            persist=lasting,
            mandatory=name == "snapshot_complete",
            title=title,
            description=" ".join([description, _DIFFERING.get(key, "")]).rstrip(),
            schema=bytes,
        )
    document: Json = AsyncAPI(broker, schema_version="3.0.0").to_specification().to_jsonable()
    return document


def _server(made: Json, host: str) -> Json:
    server: Json = next(iter(made["servers"].values()))
    return server | {
        "host": host,
        "pathname": "/{slug}",
        "description": "A tenant's own vhost, named by its slug.",
        "variables": {"slug": {"description": "The tenant's slug."}},
        "security": [{"$ref": "#/components/securitySchemes/tenant"}],
    }


def _channel(channel: Json, name: str) -> Json:
    address: str = channel["address"]
    channel["bindings"]["amqp"]["exchange"].pop("vhost", None)
    found = {key: {"description": says} for key, says in _PARAMETERS.items() if f"{{{key}}}" in address}
    return channel | {
        "servers": [{"$ref": f"#/servers/{SERVER}"}],
        "messages": {name: {"$ref": f"#/components/messages/{_COMPONENT.format(name)}"}},
        **({"parameters": found} if found else {}),
    }


def _operation(operation: Json, title: str, name: str) -> Json:
    refs = {
        "channel": {"$ref": f"#/channels/{title}"},
        "messages": [{"$ref": f"#/channels/{title}/messages/{name}"}],
    }
    return operation | refs


def _message(name: str, payload: Json) -> Json:
    return {
        "name": name,
        "summary": payload["description"],
        "contentType": "application/xml",
        "headers": _headers(name),
        "payload": payload,
        "externalDocs": {"url": "/v1/schemas/feed.xsd", "description": "The same as XML Schema."},
    }


def _headers(name: str) -> Json:
    """What stands in the AMQP headers."""
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
            "description": "Live only: `x-seq` of the match's live message before it; one never seen is a "
            "gap.",
        },
    }
    numbered["x-arrived-at"] = {
        "type": "integer",
        "description": "Live only: when the log lines behind it came to us (Unix ms); not on what an "
        "operator did.",
    }
    if name in routing.MATCH_MESSAGES:
        return {"type": "object", "properties": numbered | replayed}
    return {"type": "object", "properties": replayed if name == "snapshot_complete" else {}}

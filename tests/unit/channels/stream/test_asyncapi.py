"""The stream's half of the AsyncAPI document says of every frame what it is."""

from app.channels.stream.asyncapi import DATA, stream_document
from app.domain import frame_types


def test_every_frame_is_described() -> None:
    assert DATA.keys() == {*frame_types.REQUIRED_SCOPES, frame_types.ALIVE}
    document = stream_document()
    messages = document["components"]["messages"]
    assert {message["name"] for message in messages.values()} == DATA.keys()
    assert {message["name"]: message.get("x-scope") for message in messages.values()} == {
        **frame_types.REQUIRED_SCOPES,
        frame_types.ALIVE: None,
    }
    for channel in document["channels"].values():
        assert channel["messages"].keys() == messages.keys()


def test_every_reference_resolves() -> None:
    document = stream_document() | {"servers": {"stream": {}}}

    def check(node: object) -> None:
        if isinstance(node, dict):
            if "$ref" in node:
                place: object = document
                for part in node["$ref"].removeprefix("#/").split("/"):
                    assert isinstance(place, dict) and part in place, node["$ref"]
                    place = place[part]
            for value in node.values():
                check(value)
        elif isinstance(node, list):
            for value in node:
                check(value)

    check(document)
    for message in document["components"]["messages"].values():
        assert message["payload"]["properties"]["type"] == {"const": message["name"]}

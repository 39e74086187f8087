"""What is set in a response as it is sent: no body after HEAD, the id of the request; and how responses are
counted by what was requested."""

import os
from typing import Any

import pytest
from prometheus_client import REGISTRY

from app.http.headers import complete_response, count_response, request_id, requested_api


@pytest.mark.parametrize(("method", "sent"), [("GET", b"all of it"), ("HEAD", b"")])
async def test_the_body_is_dropped_after_head_alone(method: str, sent: bytes) -> None:
    """A server may drop it, too; this does not depend on the server."""
    scope: Any = {"type": "http", "method": method, "headers": []}
    body: Any = {"type": "http.response.body", "body": b"all of it", "more_body": False}
    await complete_response(body, scope)
    assert body["body"] == sent


def new_id() -> str:
    scope: Any = {"headers": []}
    found = request_id(scope)
    assert request_id(scope) == found, "the same at every call"
    return found


def test_a_forked_process_does_not_repeat_the_ids_of_its_parent() -> None:
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.write(write, " ".join(new_id() for _ in range(3)).encode())
        os._exit(0)
    os.close(write)
    own = {new_id() for _ in range(3)}
    with os.fdopen(read) as said:
        theirs = set(said.read().split())
    assert os.waitpid(child, 0)[1] == 0
    assert len(own) == len(theirs) == 3 and not own & theirs


@pytest.mark.parametrize(
    ("path", "api"),
    [
        ("/v1/whoami", "rest"),
        ("/cs2/v1/matches", "rest"),
        ("/soccer/v1/tournaments/1", "rest"),
        ("/v1/2/recovery/initiate_request", "rest"),
        ("/v1/health", "monitoring"),
        ("/v1/ready", "monitoring"),
        ("/v1/alive.xml", "monitoring"),
        ("/v1/ready/more", "rest"),
        ("/ops/v1/matches/1/log", "log_sink"),
        ("/ops/v1/matches/1/logs", "operators"),
        ("/portal/keys", "pages"),
        ("/", "pages"),
    ],
)
def test_a_path_belongs_to_an_api(path: str, api: str) -> None:
    assert requested_api(path) == api


@pytest.mark.parametrize(("status", "counted"), [(200, "2xx"), (304, "3xx"), (404, "4xx"), (503, "5xx")])
def test_a_response_is_counted_by_the_class_of_its_status(status: int, counted: str) -> None:
    labels = {"api": "rest", "status": counted}
    before = REGISTRY.get_sample_value("matchfeed_http_responses_total", labels)
    count_response("/cs2/v1/matches", status)
    assert before is not None
    assert REGISTRY.get_sample_value("matchfeed_http_responses_total", labels) == before + 1

"""Responses are counted by what was requested."""

import pytest
from prometheus_client import REGISTRY

from app.http import headers


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
    assert headers.requested_api(path) == api


@pytest.mark.parametrize(("status", "counted"), [(200, "2xx"), (304, "3xx"), (404, "4xx"), (503, "5xx")])
def test_a_response_is_counted_by_the_class_of_its_status(status: int, counted: str) -> None:
    labels = {"api": "rest", "status": counted}
    before = REGISTRY.get_sample_value("matchfeed_http_responses_total", labels)
    headers.count_response("/cs2/v1/matches", status)
    assert before is not None
    assert REGISTRY.get_sample_value("matchfeed_http_responses_total", labels) == before + 1

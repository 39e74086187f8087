"""What the broker's questions are answered, whatever they contain."""

from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.broker.authorisation import application
from app.broker.permissions import ResourceCheck, is_allowed

pytestmark = pytest.mark.anyio
EXCHANGE = "oddsfeed"
names = st.sampled_from(
    ["oddsfeed", "lost", "amq.gen-1", "amq_1", "acme.q", "acme", "beta.q", "amq.topic", "amq.default", ""]
)


async def request(
    path: str, method: str = "POST", content: str | None = None, **question: str
) -> tuple[int, str]:
    app: Any = application(EXCHANGE)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://broker.test") as client:
        answer = await client.request(method, path, content=content or urlencode(question))
    return answer.status_code, answer.text


@given(
    user=st.sampled_from(["op-acme", "op-beta", "op-", "acme", "guest", ""]),
    resource=st.sampled_from(["queue", "exchange", "topic", "other", ""]),
    name=names,
    permission=st.sampled_from(["configure", "write", "read", "other", ""]),
    key=st.sampled_from(["#", "#.a.#", "#.a.#.b.#", "a.b", ""]),
)
def test_only_what_is_listed_is_allowed(
    user: str, resource: str, name: str, permission: str, key: str
) -> None:
    own_queue = name in ("amq.gen-1", "amq_1", "acme.q") and permission in ("configure", "write", "read")
    reads_feed = name == EXCHANGE and permission == "read"
    listed = user == "op-acme" and (
        (resource == "queue" and own_queue)
        or (resource == "exchange" and reads_feed)
        or (resource == "topic" and reads_feed and key.count("#") <= 2)
    )
    assert is_allowed(ResourceCheck(user, "acme", resource, name, permission, key), EXCHANGE) == listed


@pytest.mark.parametrize("name", ["acme.q\nx", "ACME.q", "xacme.q", "amq.genx\n", "lost\n", "acmexq"])
def test_names_are_matched_whole(name: str) -> None:
    own = name in ("acme.q\nx", "amq.genx\n")
    assert is_allowed(ResourceCheck("op-acme", "acme", "queue", name, "configure"), EXCHANGE) == own


async def test_requests_as_the_broker_sends_them() -> None:
    assert await request("/auth/user", username="op-acme", password="any") == (200, "allow")
    assert await request("/auth/user", username="guest", password="guest") == (200, "deny")
    entering = {"username": "op-acme", "ip": "127.0.0.1", "tags": ""}
    assert await request("/auth/vhost", vhost="acme", **entering) == (200, "allow")
    assert await request("/auth/vhost", vhost="beta", **entering) == (200, "deny")
    queue = {"resource": "queue", "name": "acme.q", "permission": "write"}
    assert await request("/auth/resource", vhost="acme", **entering, **queue) == (200, "allow")
    bind = {"resource": "topic", "name": EXCHANGE, "permission": "read"}
    assert await request("/auth/topic", vhost="acme", routing_key="#", **entering, **bind) == (200, "allow")
    assert await request("/auth/topic", vhost="acme", routing_key="#.#.#", **entering, **bind) == (
        200,
        "deny",
    )


@pytest.mark.parametrize("content", ["", "username", "username=op-acme" * 2000, "%ff", "=&=&;"])
async def test_an_invalid_request_is_denied(content: str) -> None:
    assert await request("/auth/resource", content=content) == (200, "deny")


async def test_other_paths_are_not_found() -> None:
    assert (await request("/"))[0] == (await request("/auth/user", method="GET"))[0] == 404

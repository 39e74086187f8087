"""What the broker's questions are answered, whatever they contain."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.broker.authorisation import application
from app.broker.permissions import ResourceCheck, is_allowed
from app.kit.errors import Unavailable

EXCHANGE, SDK_EXCHANGE, REPLAYS = "oddsfeed", "oddinfeed", "oddinreplay"
KEY = "the key of acme"
OWN_QUEUES = ("amq.gen-1", "amq_1", "acme.q")
names = st.sampled_from(
    [EXCHANGE, SDK_EXCHANGE, REPLAYS, *OWN_QUEUES, "lost", "acme", "beta.q", "amq.topic", "amq.default", ""]
)


class Keys:
    """One key, of `acme`, valid from one address."""

    async def may_log_in(self, user: str) -> bool:
        return user == KEY

    async def may_enter(self, user: str, vhost: str, address: str) -> bool:
        return await self.owns(user, vhost) and address == "10.0.0.1"

    async def owns(self, user: str, vhost: str) -> bool:
        return user == KEY and vhost == "acme"


def no_keys() -> Keys:
    raise Unavailable("The database does not answer.")


async def request(
    path: str,
    method: str = "POST",
    content: str | None = None,
    keys: Callable[[], Keys] = Keys,
    **question: str,
) -> tuple[int, str]:
    app: Any = application(EXCHANGE, keys)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://broker.test") as client:
        answer = await client.request(method, path, content=content or urlencode(question))
    return answer.status_code, answer.text


@given(
    by_key=st.booleans(),
    resource=st.sampled_from(["queue", "exchange", "topic", "other", ""]),
    name=names,
    permission=st.sampled_from(["configure", "write", "read", "other", ""]),
    key=st.sampled_from(["#", "#.a.#", "#.a.#.b.#", "a.b", ""]),
)
def test_only_what_is_listed_is_allowed(
    by_key: bool, resource: str, name: str, permission: str, key: str
) -> None:
    own_queue = name in OWN_QUEUES and permission in ("configure", "write", "read")
    reads_feed = name in (EXCHANGE, SDK_EXCHANGE, REPLAYS) and permission == "read"
    declares = by_key and name in (SDK_EXCHANGE, REPLAYS) and permission == "configure"
    listed = (
        (resource == "queue" and own_queue)
        or (resource == "exchange" and (reads_feed or declares))
        or (resource == "topic" and reads_feed and key.count("#") <= 2)
    )
    check = ResourceCheck("acme", resource, name, permission, key, by_key)
    assert is_allowed(check, EXCHANGE) == listed


@pytest.mark.parametrize("user", ["op-beta", "op-", "acme", "guest", "", "another key"])
async def test_nobody_else_may_use_what_the_vhost_has(user: str) -> None:
    queue = {"resource": "queue", "name": "acme.q", "permission": "write", "tags": "tenant"}
    answer = await request("/auth/resource", username=user, vhost="acme", **queue)
    assert answer == (200, "deny")


@pytest.mark.parametrize("name", ["acme.q\nx", "ACME.q", "xacme.q", "amq.genx\n", "lost\n", "acmexq"])
def test_names_are_matched_whole(name: str) -> None:
    own = name in ("acme.q\nx", "amq.genx\n")
    assert is_allowed(ResourceCheck("acme", "queue", name, "configure"), EXCHANGE) == own


async def test_requests_as_the_broker_sends_them() -> None:
    assert await request("/auth/user", username="op-acme", password="any") == (200, "allow")
    assert await request("/auth/user", username="guest", password="guest") == (200, "deny")
    entering = {"username": "op-acme", "ip": "127.0.0.1", "tags": "tenant"}
    assert await request("/auth/vhost", vhost="acme", **entering) == (200, "allow")
    assert await request("/auth/vhost", vhost="beta", **entering) == (200, "deny")
    queue = {"resource": "queue", "name": "acme.q", "permission": "write"}
    assert await request("/auth/resource", vhost="acme", **entering, **queue) == (200, "allow")
    bind = {"vhost": "acme", "resource": "topic", "name": EXCHANGE, "permission": "read", **entering}
    assert await request("/auth/topic", routing_key="#", **bind) == (200, "allow")
    assert await request("/auth/topic", routing_key="#.#.#", **bind) == (200, "deny")


async def test_who_did_not_pass_the_broker_s_own_authentication_enters_no_vhost() -> None:
    """The broker requests the authentication of everybody whom it refused, a tenant's user with a wrong
    password too, by the message by which it requests the authorisation of those whom it accepted."""
    assert await request("/auth/user", username="op-acme", password="wrong") == (200, "allow")
    entering = {"username": "op-acme", "vhost": "acme", "ip": "127.0.0.1"}
    assert await request("/auth/vhost", **entering, tags="") == (200, "deny")
    assert await request("/auth/vhost", **entering, tags="tenants") == (200, "deny")


async def test_requests_about_a_key() -> None:
    assert await request("/auth/user", username=KEY, password="") == (200, "allow")
    assert await request("/auth/user", username=KEY, password="any") == (200, "deny")
    assert await request("/auth/user", username=KEY) == (200, "deny")
    assert await request("/auth/user", username="another key", password="") == (200, "deny")
    entering = {"username": KEY, "tags": ""}
    assert await request("/auth/vhost", vhost="acme", ip="10.0.0.1", **entering) == (200, "allow")
    assert await request("/auth/vhost", vhost="acme", ip="10.0.0.2", **entering) == (200, "deny")
    assert await request("/auth/vhost", vhost="beta", ip="10.0.0.1", **entering) == (200, "deny")
    declare = {"resource": "exchange", "name": SDK_EXCHANGE, "permission": "configure"}
    assert await request("/auth/resource", vhost="acme", **entering, **declare) == (200, "allow")
    assert await request("/auth/resource", vhost="beta", **entering, **declare) == (200, "deny")


async def test_without_a_database_keys_wait_and_tenants_users_do_not() -> None:
    assert (await request("/auth/user", keys=no_keys, username=KEY, password=""))[0] == 503
    assert (await request("/auth/vhost", keys=no_keys, username=KEY, vhost="acme", ip="::1"))[0] == 503
    ours = {"username": "matchfeed", "password": "secret"}
    assert await request("/auth/user", keys=no_keys, **ours) == (200, "deny")
    tenant = {"username": "op-acme", "vhost": "acme", "tags": "tenant"}
    assert await request("/auth/vhost", keys=no_keys, **tenant) == (200, "allow")


@pytest.mark.parametrize("content", ["", "username", "username=op-acme" * 2000, "%ff", "=&=&;"])
async def test_an_invalid_request_is_denied(content: str) -> None:
    assert await request("/auth/resource", content=content) == (200, "deny")


async def test_other_paths_are_not_found() -> None:
    assert (await request("/"))[0] == (await request("/auth/user", method="GET"))[0] == 404

"""The addresses of a broker: ours, and those that tenants are given."""

import pytest

from app.broker.address import Address, Node, parse, tenant_scheme


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("amqp://a:b@mq:5673", Address((Node("mq", 5673),), "a", "b")),
        ("amqp://mq", Address((Node("mq", 5672),), "guest", "guest")),
        ("amqps://a:b@mq", Address((Node("mq", 5671),), "a", "b", tls=True)),
        ("amqp://a:b@mq1:5673,mq2/", Address((Node("mq1", 5673), Node("mq2", 5672)), "a", "b")),
        ("amqp://a%40:%3A@[::1]:1,mq2:2", Address((Node("::1", 1), Node("mq2", 2)), "a@", ":")),
    ],
)
def test_an_address_lists_the_nodes_of_a_broker(url: str, address: Address) -> None:
    assert parse(url) == address


@pytest.mark.parametrize("url", ["http://mq", "amqp://", "amqp://a:b@", "amqp://mq,", "amqp://mq1,:5", "mq"])
def test_an_address_without_a_host_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="host"):
        parse(url)


def test_each_node_has_a_url_with_the_login_and_the_vhost() -> None:
    address = parse("amqp://a%40:b%2F@mq1:1,mq2:2")
    assert address.urls("/") == ["amqp://a%40:b%2F@mq1:1/%2F", "amqp://a%40:b%2F@mq2:2/%2F"]
    assert address.url("v") == "amqp://a%40:b%2F@mq1:1/v"


def test_the_url_of_a_node_is_an_address_again() -> None:
    address = parse("amqp://a:b@[::1]:1")
    assert parse(address.url("v")) == address


@pytest.mark.parametrize(
    ("public_host", "ours", "expected"),
    [
        ("mq.example.com:5672", "amqp://127.0.0.1", "amqp"),
        ("mq.example.com:5671", "amqp://127.0.0.1:5672", "amqps"),
        ("mq.example.com:5673", "amqps://mq.example.com", "amqps"),
        ("mq.example.com", "amqp://127.0.0.1", "amqp"),
    ],
)
def test_tenants_use_tls_where_their_port_has_it(public_host: str, ours: str, expected: str) -> None:
    """Our own connection, on loopback beside the broker, needs no TLS for that."""
    assert tenant_scheme(public_host, parse(ours)) == expected

"""The addresses of a broker: ours, and those that tenants are given."""

import pytest

from app.broker.address import parse, tenant_scheme


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

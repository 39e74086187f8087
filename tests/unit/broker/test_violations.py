"""Which of what tenants have at the broker is too much."""

from typing import Any

import pytest

from app.broker.management_api import Inventory, ListedBinding, ListedConnection, ListedExchange, ListedQueue
from app.broker.violations import TenantLimits, Violation, find_violations

LIMITS = TenantLimits(
    bindings=3,
    consumers=2,
    unacknowledged=10,
    unacknowledged_bytes=1000,
    received=100,
    key_connections=2,
    channels=4,
)
EXCHANGE = "oddsfeed"


def found(now: Inventory, before: Inventory = Inventory()) -> list[Violation]:  # noqa: B008
    return find_violations(now, before, {"acme"}, EXCHANGE, "matchfeed", LIMITS)


def queue(**fields: Any) -> Inventory:
    return Inventory(queues=(ListedQueue("acme", "acme.q", **fields),))


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"type": "quorum"}, "queue_type"),
        ({"type": "stream"}, "queue_type"),
        ({"arguments": {"x-overflow": "reject-publish"}}, "queue_arguments"),
        ({"arguments": {"x-max-priority": 255}}, "queue_arguments"),
        ({"arguments": {"x-dead-letter-exchange": "acme.x"}}, "queue_arguments"),
        ({"messages_unacknowledged": 11}, "unacknowledged"),
        ({"message_bytes_unacknowledged": 1001}, "unacknowledged"),
        ({"consumers": 3}, "consumers"),
    ],
)
def test_a_queue_that_is_not_allowed(fields: dict[str, Any], rule: str) -> None:
    assert [(each.vhost, each.rule) for each in found(queue(**fields))] == [("acme", rule)]


@pytest.mark.parametrize(
    "fields",
    [
        {"messages_unacknowledged": 10, "message_bytes_unacknowledged": 1000, "consumers": 2},
        {"arguments": {"x-queue-type": "classic", "x-overflow": "drop-head", "x-max-priority": 10}},
        {"arguments": {"x-max-length": 5, "x-message-ttl": 5, "x-expires": 5, "x-queue-mode": "lazy"}},
    ],
)
def test_a_queue_as_clients_declare_it(fields: dict[str, Any]) -> None:
    assert found(queue(**fields)) == []


def test_our_own_resources_are_no_violation() -> None:
    names = ("", EXCHANGE, "oddinfeed", "oddinreplay", "lost", "amq.topic", "amq.direct")
    lost = ListedQueue("acme", "lost", arguments={"x-dead-letter-exchange": "any"}, consumers=9)
    bound = (
        *(ListedBinding("acme", source, "lost") for source in "abcdef"),
        *(ListedBinding("acme", EXCHANGE, "oddinfeed", "exchange") for _ in range(9)),
    )
    assert found(Inventory((lost,), tuple(ListedExchange("acme", name) for name in names), bound)) == []


def test_an_exchange_of_a_tenants_own() -> None:
    [offence] = found(
        Inventory(exchanges=(ListedExchange("acme", "acme.x"), ListedExchange("beta", "beta.x")))
    )
    assert (offence.vhost, offence.rule, offence.exchange) == ("acme", "exchange", "acme.x")


def test_of_too_many_bindings_the_queue_with_most_is_named() -> None:
    def bound(count: int) -> tuple[ListedBinding, ...]:
        most = tuple(ListedBinding("acme", EXCHANGE, "acme.most") for _ in range(count))
        return (
            *most,
            ListedBinding("acme", EXCHANGE, "acme.q"),
            *(ListedBinding("acme", "", "acme.q") for _ in range(9)),
        )

    assert found(Inventory(bindings=bound(2))) == [], "each queue is bound to the default exchange by itself"
    [offence] = found(Inventory(bindings=bound(3)))
    assert (offence.rule, offence.queue) == ("bindings", "acme.most")


def test_received_bytes_count_between_two_inventories() -> None:
    def received(user: str, size: int) -> Inventory:
        return Inventory(connections=(ListedConnection("a -> b", user, "acme", size),))

    before = received("op-acme", 1_000_000)
    assert found(received("op-acme", 1_000_100), before) == []
    assert [each.rule for each in found(received("op-acme", 1_000_101), before)] == ["sends"]
    assert [each.rule for each in found(received("a key", 9_000_000), before)] == ["sends"]
    for ours in ("matchfeed", "matchfeed-feed-1"):
        assert found(received(ours, 9_000_000), before) == []


def test_clients_that_log_in_with_a_key_have_as_many_connections_and_channels_as_others() -> None:
    def connected(*users: str, channels: int = 1) -> Inventory:
        rows = [ListedConnection(str(n), user, "acme", 0, channels) for n, user in enumerate(users)]
        return Inventory(connections=tuple(rows))

    assert found(connected("key", "key", "op-acme", "op-acme", "matchfeed", "matchfeed-feed-1")) == []
    assert [each.rule for each in found(connected("key", "key", "other key"))] == ["connections"]
    assert found(connected("key", channels=4)) == []
    assert [each.rule for each in found(connected("key", channels=5))] == ["channels"]


def test_only_the_requested_tenants_are_checked() -> None:
    assert find_violations(queue(type="quorum"), Inventory(), {"beta"}, EXCHANGE, "matchfeed", LIMITS) == []

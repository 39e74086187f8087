"""Which of what tenants have at the broker is too much."""

from typing import Any

import pytest

from app.broker.inspection import Limits, Offence, offences
from app.broker.survey import Binding, Connection, Exchange, Queue, Survey

LIMITS = Limits(bindings=3, consumers=2, unacknowledged=10, unacknowledged_bytes=1000, received=100)
EXCHANGE = "oddsfeed"


def found(now: Survey, before: Survey = Survey()) -> list[Offence]:  # noqa: B008
    return offences(now, before, {"acme"}, EXCHANGE, LIMITS)


def queue(**fields: Any) -> Survey:
    return Survey(queues=(Queue("acme", "acme.q", **fields),))


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
def test_a_queue_that_may_not_be(fields: dict[str, Any], rule: str) -> None:
    assert [(each.tenant, each.rule) for each in found(queue(**fields))] == [("acme", rule)]


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


def test_what_is_ours_is_no_offence() -> None:
    names = ("", EXCHANGE, "lost", "amq.topic", "amq.direct")
    lost = Queue("acme", "lost", arguments={"x-dead-letter-exchange": "any"}, consumers=9)
    bound = tuple(Binding("acme", source, "lost") for source in "abcdef")
    assert found(Survey((lost,), tuple(Exchange("acme", name) for name in names), bound)) == []


def test_an_exchange_of_a_tenants() -> None:
    [offence] = found(Survey(exchanges=(Exchange("acme", "acme.x"), Exchange("beta", "beta.x"))))
    assert (offence.tenant, offence.rule, offence.exchange) == ("acme", "exchange", "acme.x")


def test_of_too_many_bindings_the_queue_with_most_goes() -> None:
    def bound(count: int) -> tuple[Binding, ...]:
        most = tuple(Binding("acme", EXCHANGE, "acme.most") for _ in range(count))
        return (
            *most,
            Binding("acme", EXCHANGE, "acme.q"),
            *(Binding("acme", "", "acme.q") for _ in range(9)),
        )

    assert found(Survey(bindings=bound(2))) == [], "each queue is bound to the default exchange by itself"
    [offence] = found(Survey(bindings=bound(3)))
    assert (offence.rule, offence.queue) == ("bindings", "acme.most")


def test_what_a_connection_sends_counts_from_look_to_look() -> None:
    def received(user: str, size: int) -> Survey:
        return Survey(connections=(Connection("a -> b", user, size),))

    before = received("op-acme", 1_000_000)
    assert found(received("op-acme", 1_000_100), before) == []
    assert [each.rule for each in found(received("op-acme", 1_000_101), before)] == ["sends"]
    assert found(received("matchfeed", 9_000_000), before) == []


def test_only_the_tenants_that_are_asked_about() -> None:
    assert offences(queue(type="quorum"), Survey(), {"beta"}, EXCHANGE, LIMITS) == []

"""Labels have few values, and the gauges of tenants lose those that are gone."""

from prometheus_client.metrics import MetricWrapperBase

from app.kit import metrics

#: Labels whose values the code, or a standard of RabbitMQ or HTTP, bounds: none is a name of somebody or
#: something outside.
BOUNDED = {
    *("about", "answer", "api", "code", "component", "kind", "message", "outcome", "process", "result"),
    *("rule", "source", "state", "status", "version", "why"),
}


def test_a_new_label_is_considered() -> None:
    ours = [each for each in vars(metrics).values() if isinstance(each, MetricWrapperBase)]
    labels = {label for each in ours for label in each._labelnames}
    assert len(ours) > 30 and labels == BOUNDED | {"tenant"}


def shown() -> dict[str, float]:
    [family] = metrics.feed_behind.collect()
    return {sample.labels["tenant"]: sample.value for sample in family.samples}


def test_tenants_that_are_gone_are_not_shown() -> None:
    metrics.set_tenants(metrics.feed_behind, {"acme": 1, "beta": 2})
    assert shown() == {"acme": 1, "beta": 2}
    metrics.set_tenants(metrics.feed_behind, {"beta": 3})
    assert shown() == {"beta": 3}
    metrics.set_tenants(metrics.feed_behind, {})
    assert shown() == {}
